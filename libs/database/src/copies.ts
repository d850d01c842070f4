import type { DataSource } from 'typeorm';
import { asOwner } from './migrate.js';

/** A row of a read copy, or a column, that differs from what it is derived from. */
export interface WrongCopy {
  copy: 'users.seen_by' | 'organization_results' | 'organization_conversations';
  /** Of the login, the result or the conversation. */
  id: string;
}

/** Compares what pages read with what it is derived from. @param most how many differences to tell */
export function wrongCopies(owner: DataSource, most: number): Promise<WrongCopy[]> {
  return owner.query('SELECT * FROM wrong_copies($1)', [most]);
}

/** Copies anew what differs. @returns how many it was */
export function correctCopies(ownerUrl: string): Promise<number> {
  return asOwner(ownerUrl, async (owner) => {
    const [row] = await owner.query<{ corrected: number }[]>('SELECT correct_copies()::int AS corrected');
    return row!.corrected;
  });
}
