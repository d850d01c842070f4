import type { Factories } from '../data/factories.js';

/** The organizations, people and addresses that a sequence of commands involves. */
export interface Cast {
  addresses: string[];
  organizations: string[];
  logins: string[];
}

/**
 * Describes what the database holds about the cast, without values that differ between equal sequences: ids, addresses,
 * tokens.
 *
 * @param memory what else the model remembers
 */
export async function describeState(make: Factories, { addresses, organizations, logins }: Cast, memory: object): Promise<string> {
  const state = await make.query(
    `SELECT u.email, u.first_name LIKE 'Canary%' AS lived, u.email_verified_at IS NOT NULL AS verified, c.password_hash,
       ARRAY(SELECT (array_position($2::uuid[], t.organization_id), t.role, t.status, t.accepted_at IS NULL, t.child, t.waits)::text
         FROM (SELECT organization_id, user_id, role, status, accepted_at, null AS child, approval_requested_at IS NOT NULL AS waits
             FROM members
           UNION ALL SELECT organization_id, user_id, 'parent', status, accepted_at, enrolled_at IS NULL, false FROM parents) t
         WHERE t.user_id = u.id ORDER BY 1) AS ties,
       ARRAY(SELECT DISTINCT organization_id FROM session_students s WHERE s.student_id = u.id) AS taught
     FROM users u LEFT JOIN credentials c ON c.user_id = u.id WHERE u.email_normalized = ANY ($1) ORDER BY u.email`,
    [addresses, organizations],
  );
  const invites = await make.query(
    `SELECT i.organization_id, scope, i.email, (SELECT email FROM users WHERE id = i.user_id) AS login,
       revoked_at IS NULL AND accepted_at IS NULL AS open, proof_hash IS NULL AS unproven FROM invites i
     WHERE i.organization_id = ANY ($1) AND NOT standing ORDER BY i.created_at, i.id`,
    [organizations],
  );
  const emails = await make.query('SELECT id, email FROM users WHERE id = ANY ($1) ORDER BY email', [logins]);
  let text = JSON.stringify({ state, invites, memory, emails });
  for (const [place, address] of addresses.entries()) text = text.replaceAll(address, `address ${place}`);
  for (const [org, id] of organizations.entries()) text = text.replaceAll(id, `organization ${org}`);
  // Replaces random values with the order of their first appearance.
  const seen = new Map<string, number>();
  return text.replaceAll(/[0-9a-f-]{36}|"token":"[^"]+"/g, (random) => {
    if (!seen.has(random)) seen.set(random, seen.size);
    return `#${seen.get(random)}`;
  });
}
