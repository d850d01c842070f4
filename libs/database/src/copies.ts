import type { DataSource } from 'typeorm';
import { asOwner } from './migrate.js';

/** A row or column of a read copy that differs from its source. */
export interface WrongCopy {
  copy: 'users.seen_by' | 'organization_results' | 'organization_conversations';
  /** The id of the login, the result or the conversation. */
  id: string;
}

/** Compares the read copies with their sources. @param most how many differences to report */
export function wrongCopies(owner: DataSource, most: number): Promise<WrongCopy[]> {
  return owner.query('SELECT * FROM wrong_copies($1)', [most]);
}

/** Corrects copies that differ. @returns the number of corrections */
export function correctCopies(ownerUrl: string): Promise<number> {
  return asOwner(ownerUrl, async (owner) => {
    const [row] = await owner.query<{ corrected: number }[]>('SELECT correct_copies()::int AS corrected');
    return row!.corrected;
  });
}
