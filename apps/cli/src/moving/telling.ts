import sql from 'sql-template-tag';
import type { Env } from '@app/config';
import { Database } from '@app/database';
import type { EmailSender } from '@app/jobs';
import { type AccountMail, AccountMails } from '@app/people';
import { withRules } from '../rules.js';

/** Mails those who have to set a password in the new installation, or to accept the organization there. Once. @returns how many of how many */
export function tellPeople(to: Env, organizationId: string): Promise<{ mailed: number; toTell: number }> {
  return withRules(to, 'owner', (rules) => {
    const db = rules.get(Database);
    return db.transaction({ organizationId }, async () => {
      const [organization] = await db.query<EmailSender>(
        sql`SELECT name, time_zone AS "timeZone" FROM organizations WHERE id = ${organizationId}`,
      );
      const mails = await db.query<AccountMail>(sql`
        WITH told AS (UPDATE moves m SET to_tell = '{}' FROM moves b WHERE m.organization_id = ${organizationId} AND b.organization_id = m.organization_id
            RETURNING b.to_tell AS ids)
        SELECT DISTINCT ON (t.user_id) CASE t.status WHEN 'pending' THEN 'membership_invite' ELSE 'account_created' END AS kind, CASE t.role WHEN 'owner' THEN 'admin' ELSE t.role END AS role,
          t.user_id AS id, coalesce(t.supplied_email, u.email) AS to, coalesce(t.supplied_first_name, u.first_name) AS "firstName"
        FROM (SELECT user_id, role, status, supplied_email, supplied_first_name FROM members WHERE organization_id = ${organizationId}
          UNION ALL SELECT user_id, 'parent', status, supplied_email, supplied_first_name FROM parents WHERE organization_id = ${organizationId}) t
        LEFT JOIN users u ON u.id = t.user_id
        WHERE t.user_id = ANY (ARRAY(SELECT unnest(ids) FROM told)) AND coalesce(t.supplied_email, u.email) IS NOT NULL ORDER BY t.user_id, t.role`);
      const mailed = await rules
        .get(AccountMails)
        .queue({ organizationId, organization: organization!, keyId: null }, mails);
      return { mailed: mailed.size, toTell: mails.length };
    });
  });
}
