import { randomUUID } from 'node:crypto';
import { hookRow, messageToSend, type Row, SchemaFixture } from '../support/database/schema-fixture.js';
import { fixture } from '../support/process/fixture.js';

/** The functions of the worker for the outbox: what each allows, and to whom. */
const schema = await fixture(SchemaFixture.create());

describe('functions of the outbox', () => {
  let school: string;

  beforeAll(async () => {
    school = await schema.organization();
  });

  beforeEach(() => schema.all('TRUNCATE joins, outbox, invites, idempotency_keys, rebuild_hooks'));

  const queue = (more: Row = {}): Promise<string> => schema.insert(school, 'outbox', messageToSend(school, more));

  /** At most one row. By default, no lane is reserved. */
  async function claim(worker: string, lanes = 10, lease = '1 minute', topic = 'email'): Promise<Row[]> {
    return schema.as(null, `SELECT * FROM claim_outbox($1, $2, $3, $4::interval)`, [topic, worker, lanes, lease]);
  }

  async function finish(id: string, worker: string, outcome: string, again: string | null = null): Promise<unknown> {
    const sql = 'SELECT finish_outbox($1, $2, $3, $4, $5::interval) AS mine';
    return (await schema.as(null, sql, [id, worker, outcome, 'timeout', again]))[0]?.mine;
  }

  async function message(id: string): Promise<Row> {
    return (await schema.all("SELECT *, due_at - now() > interval '1 second' AS later FROM outbox WHERE id = $1", [id]))[0]!;
  }

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
    await expect(finish(id, 'one', 'failed', '3 days')).rejects.toMatchObject(invalid);
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
    await expect(queue({ last_error: text })).rejects.toMatchObject({ code: '23514' });
  });

  it('let a build hook belong only to its own organization or to a brand', async () => {
    const other = await schema.organization();
    for (const target of [`organization:${school}`, 'brand:primary', 'anything']) {
      const insert = schema.insert(other, 'rebuild_hooks', { ...hookRow(other), target });
      await expect(insert, target).rejects.toMatchObject({ code: '23514' });
    }
  });
});
