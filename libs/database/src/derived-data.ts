import type { DataSource } from 'typeorm';
import type { COPIED } from './invariants/sight.js';
import { asOwner } from './migrate.js';

/** The counters of the database (list_counts): rows of a table by category. */
export type Counter =
  | `members:${'owner' | 'admin' | 'tutor' | 'student'}`
  | `tutor_profiles:${'published' | 'unpublished'}`
  | 'parents:enrolled';

/** A counter that differs from its rows. */
export interface WrongCount {
  organization_id: string;
  list: Counter;
  counter: string;
  actual: string;
}

/** Compares the counters of all organizations with their rows. @param most how many differences to report */
export function wrongListCounts(owner: DataSource, most: number): Promise<WrongCount[]> {
  return owner.query('SELECT * FROM wrong_list_counts($1)', [most]);
}

/** Corrects wrong counters. @returns the affected organizations */
export function recountLists(ownerUrl: string): Promise<string[]> {
  return asOwner(ownerUrl, async (owner) => {
    const rows = await owner.query<{ id: string }[]>(`SELECT w.id, recount_lists(w.id)
      FROM (SELECT DISTINCT organization_id AS id FROM wrong_list_counts(NULL)) w`);
    return rows.map(({ id }) => id);
  });
}

/** A row or column of a read copy that differs from its source. */
export interface WrongCopy {
  copy: keyof typeof COPIED;
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
