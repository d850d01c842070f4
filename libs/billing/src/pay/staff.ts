import sql from 'sql-template-tag';
import { type Database, IS_STAFF } from '@app/database';
import { Refused } from '@app/rules';

/** Who has left is still owed what they earned, so the membership may be archived. @throws Refused for anybody else */
export async function needStaff(db: Database, organizationId: string, userId: string): Promise<void> {
  const [found] = await db.query(sql`
    SELECT user_id FROM members WHERE organization_id = ${organizationId} AND user_id = ${userId} AND ${IS_STAFF}`);
  if (!found) throw Refused.notFound();
}
