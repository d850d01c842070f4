import type { Client } from 'pg';
import type { Env } from '@app/config';
import { inLongTransaction, lockNumber } from '@app/database';
import { dropOrganizations, withIndexes } from '../dropping.js';
import { Failure } from '../output.js';
import { withClient } from '../postgres/client.js';

/** An organization on its way: where from, and where to. */
export interface Move {
  organizationId: string;
  from: Env;
  to: Env;
  onProgress: (what: string) => void;
}

/** Where an organization is, as one of the two databases says. */
export type Home = 'nowhere' | 'here' | 'paused' | 'moved' | 'arriving' | 'live';

/** The organization lives there from now on. Repeated, it changes nothing. */
export async function live(to: Env, organizationId: string): Promise<void> {
  await asOwner(to, async (client) => {
    await client.query('BEGIN');
    const { rowCount } = await client.query(
      `UPDATE moves SET state = 'live', since = now() WHERE organization_id = $1 AND state = 'arriving'`,
      [organizationId],
    );
    if (rowCount === 1) {
      await client.query(
        'UPDATE webhook_endpoints SET look_at = now() WHERE organization_id = $1 AND disabled_at IS NULL',
        [organizationId],
      );
      await client.query('SELECT mend_turns()');
    }
    await client.query('COMMIT');
  });
}

/** Nothing is written here from now on. @throws Failure if it does not live here */
export async function pause({ organizationId, from, to }: Move): Promise<void> {
  await asOwner(from, (client) =>
    client.query(
      `INSERT INTO moves (organization_id, state, moved_to) VALUES ($1, 'paused', $2)
        ON CONFLICT (organization_id) DO UPDATE SET state = 'paused', moved_to = excluded.moved_to, to_tell = '{}', since = now()`,
      [organizationId, to.apiUrl],
    ),
  );
}

/** The organization lives here again. @throws Failure once it has moved, because it may have been written there */
export async function abort({ organizationId, from, to }: Move): Promise<null> {
  const here = await homeIn(from, organizationId);
  if (here !== 'paused')
    throw new Failure(
      here === 'moved'
        ? 'The organization has moved. Go on with --resume, then move it back.'
        : 'No move of it was interrupted.',
    );
  if ((await homeIn(to, organizationId)) === 'arriving') await drop(to, organizationId);
  await asOwner(from, async (client) => {
    await client.query(`DELETE FROM moves WHERE organization_id = $1 AND state = 'paused'`, [organizationId]);
    await client.query('SELECT mend_turns()');
  });
  return null;
}

/** Where an organization is, as this database says. */
export function homeIn(env: Env, organizationId: string): Promise<Home> {
  return asOwner(env, async (client) => {
    const { rows } = await client.query<{ state: Home | null }>(
      'SELECT m.state FROM organizations o LEFT JOIN moves m ON m.organization_id = o.id WHERE o.id = $1',
      [organizationId],
    );
    return rows.length === 0 ? 'nowhere' : (rows[0]!.state ?? 'here');
  });
}

/** Removes an organization with all its rows. */
export async function drop(env: Env, organizationId: string): Promise<void> {
  const work = () =>
    inLongTransaction({ url: env.migrationUrl, applicationName: 'tutoring drop' }, async (client) => {
      await client.query(`SELECT set_config('app.maintenance', 'on', true), set_config('app.untold', 'on', true)`);
      await dropOrganizations(client, [organizationId]);
    });
  await withClient(env.migrationUrl, (client) => withIndexes(client, work));
}

/** Both installations have the same tables, and no command moves the organization beside this one. @throws Failure */
export async function alone<T>({ organizationId, from, to }: Move, work: () => Promise<T>): Promise<T> {
  return asOwner(from, async (client) => {
    const { rows } = await client.query<{ free: boolean }>('SELECT pg_try_advisory_lock($1) AS free', [
      lockNumber(`move of ${organizationId}`),
    ]);
    if (!rows[0]!.free) throw new Failure('Another command is moving this organization.');
    const [here, there] = await Promise.all([from, to].map(versionOf));
    if (here !== there)
      throw new Failure('The two installations have different versions: bring both to the same one first.');
    return work();
  });
}

/** What the schema of a database is: the same for the same version, or one that only functions were changed in. */
function versionOf(env: Env): Promise<string> {
  return asOwner(env, async (client) => {
    const { rows } = await client.query<{ columns: string }>(
      `SELECT md5(string_agg(table_name || '.' || column_name || ' ' || data_type, ',' ORDER BY table_name, column_name)) AS columns
        FROM information_schema.columns WHERE table_schema = 'public'`,
    );
    return rows[0]!.columns;
  });
}

/** The work on a connection of the owner, who sees all rows. */
export function asOwner<T>(env: Env, work: (client: Client) => Promise<T>): Promise<T> {
  return withClient(env.migrationUrl, async (client) => {
    await client.query('SET app.maintenance = on');
    return work(client);
  });
}
