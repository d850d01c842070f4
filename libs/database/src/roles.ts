import pg from 'pg';
import type { DataSource } from 'typeorm';

const { escapeIdentifier, escapeLiteral } = pg;

/** Tables that the database keeps by itself: the application reads them. */
const READ_ONLY = [
  'session_students', 'organization_results', 'organization_conversations', 'organization_logins', 'list_counts', 'migrations',
]; // prettier-ignore

/** What happened stays. */
const APPEND_ONLY = ['audit_log'];

/** The only doors to data that no organization was named for: before one is known, and for the worker. */
const DOORS = [
  'api_key_by_hash',
  'organization_by_slug',
  'organization_of_api_key',
  'logins_by_email',
  'seen_elsewhere',
  'claim_outbox',
  'finish_outbox',
  'release_outbox',
  'closed_invites',
  'due_posts',
  'rebuild_hook',
  'list_rebuild_hooks',
  'organizations_without_codes',
  'purge_expired',
  'list_outbox',
  'outbox_backlog',
  'retry_outbox',
  'suppressed_addresses',
  'suppress_address',
  'unsuppress_address',
  'wrong_list_counts',
];

/**
 * Gives the application's role what it needs and no more: rows, never structure. Run by the owner after the migrations.
 * The role is made if it is missing and the owner may make roles, with the password of the application's URL.
 *
 * @param applicationUrl whose user is the application's role; the owner's own user needs no grant
 */
export async function grantApplication(owner: DataSource, applicationUrl: string): Promise<void> {
  const { username, password } = new URL(applicationUrl);
  const role = decodeURIComponent(username);
  const [current] = await owner.query<{ name: string }[]>('SELECT current_user AS name');
  if (role === '' || role === current?.name) return;
  const name = escapeIdentifier(role);
  const [known] = await owner.query<unknown[]>('SELECT 1 FROM pg_roles WHERE rolname = $1', [role]);
  if (!known) {
    const secret = password ? ` PASSWORD ${escapeLiteral(decodeURIComponent(password))}` : '';
    await owner.query(`CREATE ROLE ${name} LOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE${secret}`);
  }
  await owner.query(`
    GRANT USAGE ON SCHEMA public TO ${name};
    GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO ${name};
    REVOKE INSERT, UPDATE, DELETE ON ${READ_ONLY.join(', ')} FROM ${name};
    REVOKE ALL ON suppressions FROM ${name};
    REVOKE UPDATE, DELETE ON ${APPEND_ONLY.join(', ')} FROM ${name};
    GRANT EXECUTE ON FUNCTION ${DOORS.join(', ')} TO ${name};
  `);
}

/** Why this role could get round row-level security, in plain words; empty when it cannot. */
export async function roleFaults(application: DataSource): Promise<string[]> {
  const [role] = await application.query<{ superuser: boolean; bypass: boolean; owned: string }[]>(`
    SELECT r.rolsuper AS superuser, r.rolbypassrls AS bypass, (
      SELECT count(*) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE n.nspname = 'public' AND pg_has_role(r.oid, c.relowner, 'USAGE')) AS owned
    FROM pg_roles r WHERE r.rolname = current_user`);
  if (!role) return ['the role of DATABASE_URL cannot be looked up'];
  return [
    role.superuser && 'the role of DATABASE_URL is a superuser: row-level security does not hold it',
    role.bypass && 'the role of DATABASE_URL has BYPASSRLS: row-level security does not hold it',
    Number(role.owned) > 0 && 'the role of DATABASE_URL owns tables, or belongs to the role that does',
  ].filter((fault) => fault !== false);
}
