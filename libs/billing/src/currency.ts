import sql from 'sql-template-tag';
import type { Database } from '@app/database';

/** The organization's currency. A change of currency waits until the ambient transaction ends, and is then refused because there is money. */
export async function heldCurrency(db: Database, organizationId: string): Promise<string> {
  const [row] = await db.query<{ currency: string }>(sql`
    SELECT currency FROM organizations WHERE id = ${organizationId} FOR KEY SHARE`);
  return row!.currency;
}
