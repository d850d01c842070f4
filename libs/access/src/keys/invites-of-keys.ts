import sql, { type Sql } from 'sql-template-tag';

/**
 * Revokes the open invites that keys have made: whoever had such a key could have invited themselves. Links to accounts
 * stay, because these people are listed as members already.
 *
 * @param keys a query for ids
 */
export function revokeInvitesOf(organizationId: string, keys: Sql): Sql {
  return sql`
    WITH revoked AS (
      UPDATE invites SET revoked_at = now() WHERE organization_id = ${organizationId} AND api_key_id IN (${keys})
        AND accepted_at IS NULL AND revoked_at IS NULL AND scope <> 'account' RETURNING 1)
    SELECT FROM revoked`;
}
