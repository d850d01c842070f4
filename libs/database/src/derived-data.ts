import { asOwner } from './migrate.js';

/** The counters of the database (list_counts): rows of a table by category. */
export type Counter =
  | `${'members:owner' | 'members:admin' | 'members:tutor' | 'members:student' | 'parents:enrolled'}:${'accepted' | 'pending' | 'archived'}`
  | `tutor_profiles:${'published' | 'unpublished'}`;

/** Corrects wrong counters. @returns the affected organizations */
export function recountLists(ownerUrl: string): Promise<string[]> {
  return asOwner(ownerUrl, async (owner) => {
    const rows = await owner.query<{ id: string }[]>(`SELECT w.id, recount_lists(w.id)
      FROM (SELECT DISTINCT organization_id AS id FROM wrong_list_counts(NULL)) w`);
    return rows.map(({ id }) => id);
  });
}

/** Corrects copies that differ. @returns the number of corrections */
export function correctCopies(ownerUrl: string): Promise<number> {
  return asOwner(ownerUrl, async (owner) => {
    const [row] = await owner.query<{ corrected: number }[]>('SELECT correct_copies()::int AS corrected');
    return row!.corrected;
  });
}
