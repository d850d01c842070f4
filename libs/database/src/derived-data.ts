import { asOwner } from './migrate.js';

/** The counters of the database (list_counts): rows of a table by category. */
export type Counter =
  | `${'members:owner' | 'members:admin' | 'members:tutor' | 'members:student' | 'parents:enrolled'}:${'accepted' | 'pending' | 'archived'}`
  | `tutor_profiles:${'published' | 'unpublished'}`
  | `members:teaching:${'online' | 'in_person' | 'both' | 'unsaid'}`
  | `${'mileage_trips' | 'expense_claims'}:logged`
  | 'invoices:owed';

/** SQL for the sum of counters of an organization. @param organization SQL for its id */
export const sumOf = (organization: string, ...counters: Counter[]): string =>
  `(SELECT coalesce(sum(c.delta), 0)::bigint FROM list_counts c
    WHERE c.organization_id = ${organization} AND c.list IN (${counters.map((one) => `'${one}'`).join(', ')}))`;

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
