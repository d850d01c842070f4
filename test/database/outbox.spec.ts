import { randomBytes, randomUUID } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { hookRow, inviteRow, messageToSend, type Row, SchemaFixture } from '../support/database/schema-fixture.js';
import { fixture } from '../support/process/fixture.js';

/** The functions of the worker for the outbox: what each allows, and to whom. */
const schema = await fixture(SchemaFixture.create());

describe('functions of the outbox', () => {
  let school: string;

  beforeAll(async () => {
    school = await schema.organization();
  });

  beforeEach(() => schema.all('TRUNCATE outbox, invites, idempotency_keys, rebuild_hooks'));

  const queue = (more: Row = {}): Promise<string> => schema.insert(school, 'outbox', messageToSend(school, more));
  const ids = (rows: Row[]): string[] => rows.map((row) => row.id as string);

  /** At most one row. By default, no lane is reserved. */
  async function claim(worker: string, lanes = 10, lease = '1 minute', topic = 'email'): Promise<Row[]> {
    return schema.as(null, `SELECT * FROM claim_outbox($1, $2, $3, $4::interval, '')`, [topic, worker, lanes, lease]);
  }

  async function claimAll(worker: string, topic = 'email'): Promise<Row[]> {
    const rows = await claim(worker, 10, '1 minute', topic);
    return rows.length === 0 ? [] : [...rows, ...(await claimAll(worker, topic))];
  }

  async function finish(id: string, worker: string, outcome: string, again: string | null = null): Promise<unknown> {
    const sql = 'SELECT finish_outbox($1, $2, $3, $4, $5::interval) AS mine';
    return (await schema.as(null, sql, [id, worker, outcome, 'timeout', again]))[0]?.mine;
  }

  async function message(id: string): Promise<Row> {
    return (
      await schema.all("SELECT *, due_at - now() > interval '1 second' AS later FROM outbox WHERE id = $1", [id])
    )[0]!;
  }

  it('give a message to one worker at a time, the longest due first', async () => {
    const late = await queue({ due_at: '2026-01-02' });
    const early = await queue({ due_at: '2026-01-01' });
    await queue({ due_at: '2100-01-01' });
    await queue({ topic: 'rebuild' });
    expect(ids(await claim('one'))).toEqual([early]);
    expect(ids(await claim('two'))).toEqual([late]);
    expect(await claim('three')).toEqual([]);
  });

  it('give 1,000 messages to 8 workers at once, each to one', async () => {
    await schema.as(
      school,
      `INSERT INTO outbox (id, organization_id, topic, kind, recipient) SELECT gen_random_uuid(), $1, 'email', 'k', 'r'
       FROM generate_series(1, 1000)`,
      [school],
    );
    const drained = await Promise.all(
      Array.from({ length: 8 }, async (_, worker) => ids(await claimAll(`w${worker}`))),
    );
    expect(drained.flat()).toHaveLength(1000);
    expect(new Set(drained.flat()).size).toBe(1000);
    expect(drained.filter((mine) => mine.length > 0).length).toBeGreaterThan(1);
  });

  it('skip a message whose row is locked, without waiting', async () => {
    const [held, free] = [await queue(), await queue()];
    const client = await schema.begin(school);
    await client.query('UPDATE outbox SET due_at = due_at WHERE id = $1', [held]);
    expect(ids(await claim('one'))).toEqual([free]);
    await schema.end(client);
    expect(ids(await claim('one'))).toEqual([held]);
  });

  it('give a message to the next worker when its lease expires, after what became due earlier; the first worker cannot settle it', async () => {
    const lost = await queue({ due_at: '2026-01-01' });
    expect(ids(await claim('one'))).toEqual([lost]);
    const waiting = await queue();
    expect(await message(lost)).toMatchObject({ later: true });
    await schema.all('UPDATE outbox SET due_at = now(), leased_until = now() WHERE id = $1', [lost]);
    expect(ids(await claim('two'))).toEqual([waiting]);
    const [again] = await claim('two');
    expect(again).toMatchObject({ id: lost, attempts: 2, leased_by: 'two' });
    expect(await finish(lost, 'one', 'sent')).toBe(false);
    expect(await message(lost)).toMatchObject({ status: 'queued', leased_by: 'two', finished_at: null });
    expect(await finish(lost, 'two', 'sent')).toBe(true);
    expect(await message(lost)).toMatchObject({
      status: 'sent',
      leased_by: null,
      finished_at: expect.any(Date) as Date,
    });
    expect(await finish(lost, 'two', 'failed')).toBe(false);
  });

  it('reschedule a failed message, and release an untried one immediately without counting a try', async () => {
    const [failed, untried] = [await queue(), await queue()];
    await claimAll('one');
    await finish(failed, 'one', 'failed', '5 minutes');
    expect(await message(failed)).toMatchObject({ status: 'failed', attempts: 1, later: true, last_error: 'timeout' });
    await schema.as(null, `SELECT release_outbox($1, 'two')`, [[untried]]);
    expect(await message(untried)).toMatchObject({ attempts: 1, later: true, leased_by: 'one' });
    await schema.as(null, `SELECT release_outbox($1, 'one')`, [[untried, failed]]);
    expect(await message(untried)).toMatchObject({ attempts: 0, later: false, leased_by: null });
    expect(await message(failed)).toMatchObject({ attempts: 1, later: true });
  });

  it('queue failed and dead messages again, and no others', async () => {
    const retry = async (id: string) => (await schema.as(null, 'SELECT retry_outbox($1) AS done', [id]))[0]?.done;
    const done: Record<string, unknown> = {};
    for (const status of ['queued', 'sent', 'failed', 'dead', 'suppressed']) {
      const id = await queue({ status, attempts: 3, due_at: '2100-01-01' });
      done[status] = await retry(id);
      if (done[status]) expect(await message(id)).toMatchObject({ status: 'queued', attempts: 0, later: false });
    }
    expect(done).toEqual({ queued: false, sent: false, failed: true, dead: true, suppressed: false });
    const tried = await queue({ status: 'failed', leased_by: 'one', leased_until: '2100-01-01' });
    expect(await retry(tried)).toBe(false);
    expect(await retry(randomUUID())).toBe(false);
  });

  it('limit their arguments: the length of a lease, the delay of a retry, the number of lanes and rows', async () => {
    const id = await queue();
    const invalid = { code: '22023' };
    for (const lease of ['0', '-1 minute', '6 minutes', '1 year']) {
      await expect(claim('one', 10, lease), lease).rejects.toMatchObject(invalid);
    }
    for (const lanes of [-1, 0]) await expect(claim('one', lanes), String(lanes)).rejects.toMatchObject(invalid);
    expect(await claim('one', 10, '5 minutes')).toHaveLength(1);
    for (const outcome of ['queued', 'anything']) {
      await expect(finish(id, 'one', outcome), outcome).rejects.toMatchObject(invalid);
    }
    await expect(finish(id, 'one', 'failed', '2 days')).rejects.toMatchObject(invalid);
    await schema.as(
      school,
      `INSERT INTO outbox (id, organization_id, topic, kind, recipient) SELECT gen_random_uuid(), $1, 'email', 'k', 'r'
       FROM generate_series(1, 10001)`,
      [school],
    );
    const listed = await schema.as(null, 'SELECT count(*)::int AS n FROM list_outbox(NULL, NULL, 1000000)');
    expect(listed).toEqual([{ n: 10_000 }]);
  });

  it.each(['451 later', 'https://user:pw@host', 'Timeout', ''])('store only codes as errors, not %j', async (text) => {
    const refused = { code: '23514' };
    await expect(queue({ last_error: text })).rejects.toMatchObject(refused);
    await expect(schema.as(null, `SELECT suppress_address('a@example.org', $1)`, [text])).rejects.toMatchObject(
      refused,
    );
  });

  it.each(['https://user:pw@site.example/hook', 'http://token@site.example', 'https://:pw@site.example/'])(
    'refuse a hook URL with credentials: %s',
    async (url) => {
      const insert = schema.insert(school, 'rebuild_hooks', { ...hookRow(school), url });
      await expect(insert).rejects.toMatchObject({ code: '23514' });
    },
  );

  it('return the invites that no longer work', async () => {
    const invites = {
      open: inviteRow(school),
      revoked: inviteRow(school, { revoked_at: '2026-01-01' }),
      accepted: inviteRow(school, { accepted_at: '2026-01-01' }),
      expired: inviteRow(school, { expires_at: '2026-01-01' }),
      standing: inviteRow(school, { expires_at: null, standing: true, sealed: randomBytes(40) }),
    };
    for (const row of Object.values(invites)) await schema.insert(school, 'invites', row);
    const purged = randomUUID();
    const asked = [...Object.values(invites).map((row) => row.id), purged];
    const closed = await schema.as(null, 'SELECT closed_invites($1::uuid[]) AS id', [asked]);
    expect(closed.map((row) => row.id).sort()).toEqual(
      [invites.revoked.id, invites.accepted.id, invites.expired.id, purged].sort(),
    );
  });

  it('settle mails that are not to be sent instead of leasing them', async () => {
    await schema.all(
      `SELECT suppress_address(address, 'smtp_550') FROM unnest(ARRAY['gone@example.org', 'üte@example.org']) address`,
    );
    const past = '2026-01-01';
    const invites = {
      open: {},
      revoked: { revoked_at: past },
      accepted: { accepted_at: past },
      expired: { expires_at: past },
    };
    const mails: Record<string, string> = {};
    for (const [state, more] of Object.entries(invites)) {
      const invite_id = await schema.insert(school, 'invites', inviteRow(school, more));
      mails[state] = await queue({ invite_id });
    }
    mails.purged = await queue({ invite_id: randomUUID() });
    mails.late = await queue({ link_expires_at: past });
    mails.early = await queue({ link_expires_at: '2100-01-01' });
    mails.suppressed = await queue({ recipient: 'Gone@Example.org', email_normalized: 'gone@example.org' });
    mails.capital = await queue({ recipient: 'ÜTE@example.org', email_normalized: 'üte@example.org' });
    const claimed = new Map((await claimAll('one')).map((row) => [row.id, row]));
    const seen = Object.fromEntries(Object.entries(mails).map(([state, id]) => [state, claimed.get(id)!.last_error]));
    expect(seen).toEqual({
      open: null,
      early: null,
      ...{
        revoked: 'link_closed',
        accepted: 'link_closed',
        expired: 'link_closed',
        purged: 'link_closed',
        late: 'link_closed',
      },
      ...{ suppressed: 'address_suppressed', capital: 'address_suppressed' },
    });
    for (const [state, id] of Object.entries(mails)) {
      const kept =
        seen[state] === null
          ? { status: 'queued', leased_by: 'one', later: true, finished_at: null }
          : { status: 'suppressed', leased_by: null, leased_until: null, finished_at: expect.any(Date) as Date };
      expect(await message(id), state).toMatchObject({ ...kept, attempts: 1 });
    }
    const senders = 'SELECT email_normalized AS address FROM suppression_senders WHERE organization_id = $1 ORDER BY 1';
    expect(await schema.all(senders, [school])).toEqual([
      { address: 'gone@example.org' },
      { address: 'üte@example.org' },
    ]);
    expect(await finish(mails.late, 'one', 'sent')).toBe(false);
  });
});
