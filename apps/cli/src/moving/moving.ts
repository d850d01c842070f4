import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';
import { type Env, Vault } from '@app/config';
import { homeLock, inLongTransaction } from '@app/database';
import { exportOrganization, linesOf, type Manifest } from '@app/exports';
import { STORES } from '@app/storage';
import { auditCommand } from '../audit-command.js';
import { importExport } from '../import/exported.js';
import { readLines } from '../import/lines.js';
import { Failure } from '../output.js';
import { caughtUp } from '../rules.js';
import { asOwner, type Move } from './homes.js';
import { Luggage } from './luggage.js';

/** What has moved. */
export interface Moved {
  rows: number;
  files: number;
  luggage: Record<string, number>;
  /** Logins that belong to no other organization, with their passwords. */
  credentials: number;
  /** Seconds in which nothing could be written. */
  seconds: number;
}

/** How long messages in hand, events and transactions may take to end (ms): longer than any lease. */
const PATIENCE = 6 * 60_000;

/** Tables whose rows may differ if somebody has a login there already: they are asked again. */
const ASKED_AGAIN = new Set(['users', 'members', 'parents']);

/**
 * Moves an organization to another installation: pause, copy, compare, `moved`, live. Each step can be repeated, and at every moment
 * one of the two databases at most lets it be written.
 *
 * @throws Failure, and then the organization is paused here: `resume` or `abort`
 */
export async function move({ organizationId, from, to, onProgress }: Move): Promise<Moved> {
  const began = Date.now();
  onProgress('waiting for what is being written');
  const folder = await mkdtemp(join(tmpdir(), 'tutoring-move-'));
  try {
    return await inLongTransaction({ url: from.migrationUrl, applicationName: 'tutoring move' }, async (holder) => {
      // Alone from here to the commit, by which the organization has moved.
      await holder.query(`SELECT pg_advisory_xact_lock(${homeLock('$1')})`, [organizationId]);
      await settle(from, organizationId);
      const manifest = await exportOrganization({
        ...{ env: from, url: from.migrationUrl, as: 'owner', organizationId, folder },
        onProgress: (what, done) => onProgress(`copying ${what}: ${done}`),
      });
      await holder.query(`SELECT set_config('app.maintenance', 'on', true)`);
      const arrived = await arrive({ organizationId, from, to, onProgress }, holder, manifest, folder);
      await holder.query(
        `UPDATE moves SET state = 'moved', since = now() WHERE organization_id = $1 AND state = 'paused'`,
        [organizationId],
      );
      await auditCommand(holder, organizationId, 'move organization', { moved_to: to.apiUrl });
      const rows = manifest.tables.reduce((sum, table) => sum + table.rows, 0);
      return { ...arrived, rows, files: manifest.files.length, seconds: Math.round((Date.now() - began) / 1000) };
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
    await caughtUp(from);
  }
}

/** Has messages rest, and ends what is in hand: those that a worker has leased, and changes that are no events yet. */
async function settle(env: Env, organizationId: string): Promise<void> {
  await asOwner(env, async (client) => {
    await client.query('SELECT rest_turns($1)', [organizationId]);
    for (const deadline = Date.now() + PATIENCE; ;) {
      await client.query('SELECT number_events()');
      const { rows } = await client.query<{ busy: boolean }>(
        `SELECT EXISTS (SELECT FROM event_changes WHERE organization_id = $1)
          OR EXISTS (SELECT FROM outbox WHERE organization_id = $1 AND leased_until > now()) AS busy`,
        [organizationId],
      );
      if (!rows[0]!.busy) return;
      if (Date.now() > deadline)
        throw new Failure('A worker has had a message in hand for minutes. Look at the worker, then --resume.');
      await sleep(200);
    }
  });
}

/** Everything into the other installation, in one transaction, and compared in it. */
async function arrive(
  { organizationId, from, to, onProgress }: Move,
  holder: Client,
  manifest: Manifest,
  folder: string,
) {
  const arrived = { luggage: {} as Record<string, number>, credentials: 0 };
  const there = (await STORES.images[0](to)).urlOf('');
  const shift = await reserveNumbers(holder, to, organizationId);
  await importExport(manifest, {
    ...{ env: to, url: to.migrationUrl, folder },
    onProgress: ({ table, lines }) => onProgress(`arriving ${table}: ${lines}`),
    then: async (client, { tables }) => {
      // Some who have a login there already.
      const known = tables.users!.unchanged > 0;
      onProgress('comparing');
      await compareRows(client, manifest, folder, there, known);
      await client.query(`SELECT set_config('app.maintenance', 'on', true)`);
      if (!known) await compareDerived(holder, client, organizationId);
      onProgress('copying keys, events and mails');
      const luggage = new Luggage(holder, client, organizationId, { from: new Vault(from), to: new Vault(to) });
      const { moved, toTell } = await luggage.credentials();
      Object.assign(arrived, { luggage: await luggage.copy(shift), credentials: moved });
      await client.query(`INSERT INTO moves (organization_id, state, to_tell) VALUES ($1, 'arriving', $2)`, [
        organizationId,
        toTell,
      ]);
      await client.query('SELECT rest_turns($1)', [organizationId]);
    },
  });
  return arrived;
}

/** Every row is as it was there; of people who have a login here, what they accept anew may differ. */
async function compareRows(
  client: Client,
  { tables, images_url }: Manifest,
  folder: string,
  imagesHere: string,
  known: boolean,
): Promise<void> {
  for (const { table, imported, path } of tables) {
    if (!imported || (known && ASKED_AGAIN.has(table))) continue;
    const there = linesIn(join(folder, path));
    const here = linesOf(client, table, { part: imagesHere, by: images_url });
    if ((await hashOf(there)) !== (await hashOf(here)))
      throw new Failure(`The rows of ${table} are not the same there. Nothing has moved.`);
  }
}

/** SQL: what lists and counters derive from the rows. */
const DERIVED = `SELECT json_build_object(
  'counters', (SELECT json_object_agg(c.list, c.n ORDER BY c.list) FROM (SELECT list, sum(delta) AS n FROM list_counts
    WHERE organization_id = $1 GROUP BY list HAVING sum(delta) <> 0) c),
  'results', (SELECT count(*) FROM organization_results WHERE organization_id = $1),
  'conversations', (SELECT count(*) FROM organization_conversations WHERE organization_id = $1),
  'places', (SELECT json_build_array(count(*), sum(occurrences)) FROM session_students WHERE organization_id = $1))::text AS totals`;

async function compareDerived(from: Client, to: Client, organizationId: string): Promise<void> {
  const totals = await Promise.all(
    [from, to].map((client) => client.query<{ totals: string }>(DERIVED, [organizationId])),
  );
  const [there, here] = totals.map(({ rows }) => rows[0]!.totals) as [string, string];
  if (there !== here)
    throw new Failure('What follows from the rows is not the same there. Nothing has moved.', there, here);
}

async function* linesIn(path: string): AsyncGenerator<string> {
  for await (const { lines } of readLines(path)) yield* lines as string[];
}

/** However the JSON in them is spaced. */
async function hashOf(lines: AsyncIterable<string>): Promise<string> {
  const hash = createHash('sha256');
  for await (const line of lines) hash.update(JSON.stringify(JSON.parse(line)));
  return hash.digest('hex');
}

/** Numbers of events rise in each installation for itself. @returns what those of the organization grow by */
async function reserveNumbers(holder: Client, to: Env, organizationId: string): Promise<bigint> {
  const { rows } = await holder.query<{ least: string | null; span: string }>(
    `SELECT min(n.number)::text AS least, (max(n.number) - min(n.number))::text AS span FROM (
        SELECT number FROM events WHERE organization_id = $1 UNION ALL SELECT number FROM event_floors WHERE organization_id = $1
        UNION ALL SELECT position FROM webhook_endpoints WHERE organization_id = $1) n (number)`,
    [organizationId],
  );
  const { least, span } = rows[0]!;
  if (least === null) return 0n;
  return asOwner(to, async (client) => {
    const { rows: given } = await client.query<{ number: string }>(
      `UPDATE event_counter SET number = number + $1::bigint + 1 RETURNING number::text`,
      [span],
    );
    return BigInt(given[0]!.number) - BigInt(span) - BigInt(least);
  });
}
