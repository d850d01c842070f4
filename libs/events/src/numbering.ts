import sql from 'sql-template-tag';
import type { Database, Deadline } from '@app/database';

/** No organization: the work is everybody's. */
const NOBODY = '00000000-0000-0000-0000-000000000000';

/** Makes events of what has been committed. Whoever is told of a change can read it from then on, from replicas too. @returns how many */
export function numberEvents(db: Database, deadline?: Deadline): Promise<number> {
  return db.transaction({ organizationId: NOBODY, deadline }, async () => {
    const numbered = sql`SELECT made::integer, organizations FROM number_events()`;
    const [row] = await db.query<{ made: number; organizations: string[] }>(numbered);
    await db.tellOthers(row!.organizations);
    return row!.made;
  });
}
