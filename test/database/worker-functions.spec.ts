import { randomBytes, randomUUID } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { hookRow, inviteRow, messageToSend, type Row, SchemaFixture } from '../support/database/schema-fixture.js';
import { fixture } from '../support/process/fixture.js';

/** The worker's functions, except those for the outbox. */
const schema = await fixture(SchemaFixture.create());

describe('functions of the worker', () => {
  let school: string;

  beforeAll(async () => {
    school = await schema.organization();
  });

  beforeEach(() => schema.all('TRUNCATE outbox, invites, idempotency_keys, rebuild_hooks'));

  const queue = (more: Row = {}): Promise<string> => schema.insert(school, 'outbox', messageToSend(school, more));
  const ids = (rows: Row[]): string[] => rows.map((row) => row.id as string);

  it('delete what has expired, a limited number of rows at a time, and keep the rest', async () => {
    const use = (key: string, expires_at: string) =>
      schema.insert(school, 'idempotency_keys', {
        organization_id: school,
        operation: 'POST /v1/invites',
        key,
        request_hash: randomBytes(32),
        expires_at,
      });
    const ago = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();
    // One more of each than a call may delete.
    const many = 'generate_series(1, 5001) n';
    await schema.as(
      school,
      `INSERT INTO idempotency_keys (organization_id, operation, key, request_hash, expires_at)
       SELECT $1, 'POST /v1/invites', n, $2, now() - interval '1 minute' FROM ${many}`,
      [school, randomBytes(32)],
    );
    await schema.as(
      school,
      `INSERT INTO outbox (id, organization_id, topic, kind, recipient, status, finished_at)
       SELECT gen_random_uuid(), $1, 'email', 'k', 'r', (ARRAY['sent', 'dead', 'suppressed'])[1 + n % 3],
         now() - interval '31 days' FROM ${many}`,
      [school],
    );
    await use('kept', ago(-0.01));
    const messages = [await queue({ status: 'sent', finished_at: ago(29) }), await queue({ created_at: ago(99) })];
    await schema.insert(school, 'invites', inviteRow(school, { expires_at: ago(31) }));
    const invites = [
      inviteRow(school, { expires_at: ago(29) }),
      inviteRow(school, { expires_at: null, standing: true, sealed: randomBytes(40), created_at: ago(999) }),
    ];
    for (const row of invites) await schema.insert(school, 'invites', row);
    const purge = async (): Promise<Row> => {
      const rows = await schema.as(null, 'SELECT * FROM purge_expired()');
      return Object.fromEntries(rows.map(({ what, rows: count }) => [what, count])) as Row;
    };
    expect(await purge()).toEqual({ idempotency_keys: '5000', outbox: '5000', invites: '1' });
    expect(await purge()).toEqual({ idempotency_keys: '1', outbox: '1', invites: '0' });
    expect(await schema.all('SELECT key FROM idempotency_keys')).toEqual([{ key: 'kept' }]);
    expect(ids(await schema.all('SELECT id FROM outbox ORDER BY id'))).toEqual(messages.sort());
    expect(ids(await schema.all('SELECT id FROM invites')).sort()).toEqual(invites.map((row) => row.id).sort());
  });

  it('return the URL of a build hook, which belongs to its own organization or to a brand', async () => {
    await schema.insert(school, 'rebuild_hooks', hookRow(school));
    expect(await schema.as(null, 'SELECT url FROM rebuild_hook($1)', [`organization:${school}`])).toEqual([
      { url: 'https://example.org' },
    ]);
    expect(await schema.as(null, 'SELECT target FROM list_rebuild_hooks()')).toEqual([
      { target: `organization:${school}` },
    ]);
    const other = await schema.organization();
    for (const target of [`organization:${school}`, 'brand:primary', 'anything']) {
      const insert = schema.insert(other, 'rebuild_hooks', { ...hookRow(other), target });
      await expect(insert, target).rejects.toMatchObject({ code: '23514' });
    }
  });

  it('list the posts that are due, and organizations without join codes', async () => {
    const post = (slug: string, more: Row) =>
      schema.insert(school, 'blog_posts', {
        id: randomUUID(),
        organization_id: school,
        brand: 'primary',
        title: 'News',
        slug,
        ...more,
      });
    const due = await post('due', { scheduled_at: '2026-01-01' });
    await post('later', { scheduled_at: '2100-01-01' });
    await post('draft', {});
    expect(await schema.as(null, 'SELECT * FROM due_posts(10)')).toEqual([{ id: due, organization_id: school }]);
    const without = async () =>
      (await schema.as(null, 'SELECT organizations_without_codes(100) AS id')).map((row) => row.id);
    expect(await without()).toContain(school);
    for (const role of ['tutor', 'student']) {
      const code = { role, expires_at: null, standing: true, sealed: randomBytes(40) };
      await schema.insert(school, 'invites', inviteRow(school, code));
    }
    expect(await without()).not.toContain(school);
  });
});
