import pg from 'pg';
import { insertion, messageToSend, type Row, SchemaFixture } from '../support/database/schema-fixture.js';
import { fixture } from '../support/process/fixture.js';

/** Whose message claim_outbox leases next. */
const schema = await fixture(SchemaFixture.create());
const organizations = await Promise.all(Array.from({ length: 13 }, () => schema.organization()));
const [busy = '', quiet = '', third = ''] = organizations.sort();

/** Names of messages by id. */
const names = new Map<string, string>();
let day = 1;

beforeEach(() => {
  names.clear();
  day = 1;
  return schema.all('TRUNCATE outbox, outbox_turns');
});

/** Queues a message; earlier ones are due earlier. */
async function queue(name: string, organization: string | null, more: Row = {}): Promise<void> {
  const due_at = new Date(Date.UTC(2026, 0, day++)).toISOString();
  const row: Row = { ...messageToSend('', { due_at, ...more }), organization_id: organization };
  names.set(row.id as string, name);
  const { sql, values } = insertion('outbox', row);
  await schema.all(sql, values);
}

/** @returns the message's name; null if there is none to take */
async function claim(lanes = 10, topic = 'email'): Promise<string | null> {
  const [row] = await schema.as(null, `SELECT id FROM claim_outbox($1, 'worker', $2, interval '1 minute')`, [topic, lanes]);
  return row ? names.get(row.id as string)! : null;
}

async function claimAll(lanes = 10, topic = 'email'): Promise<string[]> {
  const name = await claim(lanes, topic);
  return name === null ? [] : [name, ...(await claimAll(lanes, topic))];
}

const settle = (name: string) => {
  const [id] = [...names].find(([, other]) => other === name)!;
  return schema.as(null, `SELECT finish_outbox($1, 'worker', 'sent', NULL, NULL)`, [id]);
};

describe('the next mail', () => {
  it('is the oldest of whoever has the fewest leased', async () => {
    for (const name of ['busy 1', 'busy 2', 'busy 3', 'busy 4']) await queue(name, busy);
    for (const name of ['quiet 1', 'quiet 2']) await queue(name, quiet);
    await queue('third', third);
    const order = ['busy 1', 'quiet 1', 'third', 'busy 2', 'quiet 2', 'busy 3'];
    for (const name of order) expect(await claim()).toBe(name);
    // Who has finished is served before who still has some leased.
    await settle('third');
    await queue('third again', third);
    expect(await claimAll()).toEqual(['third again', 'busy 4']);
  });

  it('is in turn one of those about people’s own accounts, which belong to no organization', async () => {
    for (const name of ['link 1', 'link 2', 'link 3']) {
      await queue(name, null, { kind: 'password_reset', recipient: `${name.replace(' ', '')}@example.org` });
    }
    for (const name of ['busy 1', 'busy 2']) await queue(name, busy);
    expect(await claimAll()).toEqual(['link 1', 'busy 1', 'link 2', 'busy 2', 'link 3']);
  });

  it('comes after one of each other organization at most, even if there are more of these than lanes', async () => {
    for (const name of ['1', '2', '3']) for (const other of organizations) await queue(`${other} ${name}`, other);
    await queue('link', null, { kind: 'password_reset' });
    const order: string[] = [];
    for (let count = 0; count < 3 * organizations.length + 1; count++) {
      order.push((await claim())!);
      // All have as many leased when the next one is claimed: none.
      await settle(order.at(-1)!);
    }
    expect(order.indexOf('link')).toBe(organizations.length);
    expect(order.filter((name) => name.startsWith(busy))).toEqual([`${busy} 1`, `${busy} 2`, `${busy} 3`]);
  });

  it('is not due later, and a lease that is over does not count', async () => {
    for (const name of ['busy 1', 'busy 2']) await queue(name, busy);
    await queue('later', third, { due_at: '2100-01-01' });
    expect(await claimAll()).toEqual(['busy 1', 'busy 2']);
    await schema.all('UPDATE outbox SET due_at = now(), leased_until = now() WHERE leased_by IS NOT NULL');
    for (const name of ['quiet 1', 'quiet 2']) await queue(name, quiet);
    expect(await claim()).toBe('quiet 1');
    expect(await claim()).toMatch('busy');
    expect(await claim()).toBe('quiet 2');
  });

  it('is another one if somebody has its row locked', async () => {
    await queue('busy', busy);
    await queue('quiet', quiet);
    const client = await schema.begin(busy);
    await client.query('UPDATE outbox SET due_at = due_at');
    expect(await claimAll()).toEqual(['quiet']);
    await schema.end(client);
    expect(await claim()).toBe('busy');
  });

  it('takes one of the last two lanes only if its owner has none leased', async () => {
    for (const name of ['busy 1', 'busy 2', 'busy 3']) await queue(name, busy);
    expect(await claim(2)).toBe('busy 1');
    expect(await claim(2)).toBeNull();
    await queue('quiet 1', quiet);
    await queue('quiet 2', quiet);
    expect(await claimAll(2)).toEqual(['quiet 1']);
    expect(await claim(1)).toBeNull();
    expect(await claim(3)).toBe('busy 2');
    await queue('third', third);
    expect(await claim(1)).toBe('third');
  });

  it('is found at once among 100,000 of one organization, before and after PostgreSQL has analyzed the table', async () => {
    const many = 100_000;
    const client = await schema.begin(null);
    // The function's plans are made while the table is known to be empty.
    await schema.all('VACUUM ANALYZE outbox');
    for (let calls = 0; calls < 10; calls++) await client.query(`SELECT claim_outbox('email', 'w', 10, '1 minute')`);
    await schema.end(client);
    await schema.as(
      busy,
      `INSERT INTO outbox (id, organization_id, topic, kind, recipient, due_at)
       SELECT gen_random_uuid(), $1, 'email', 'k', 'r', '2026-01-01' FROM generate_series(1, ${many})`,
      [busy],
    );
    for (const analyzed of [false, true]) {
      if (analyzed) await schema.all('ANALYZE outbox');
      await queue('quiet', quiet);
      await client.query('BEGIN');
      const claimed: unknown[] = [];
      const began = performance.now();
      for (let calls = 0; calls < 20; calls++) {
        const { rows } = await client.query<Row>(`SELECT * FROM claim_outbox('email', 'w', 10, '1 minute')`);
        claimed.push(rows[0]!.organization_id);
      }
      console.log(`a claim among ${many}: ${((performance.now() - began) / 20).toFixed(1)} ms`);
      const { rows } = await client.query<{ read: number }>(
        `SELECT (seq_tup_read + idx_tup_fetch)::integer AS read FROM pg_stat_xact_user_tables WHERE relname = 'outbox'`,
      );
      await client.query('ROLLBACK');
      expect(claimed.slice(0, 3)).toContain(quiet);
      // A few for each owner and lease, and those that the claims before have moved.
      expect(rows[0]!.read).toBeLessThan(20 * 100);
    }
  });
});

describe('a turn', () => {
  const turns = () => schema.all('SELECT queue, owner FROM outbox_turns ORDER BY at, seq');

  it('is one for each owner, however many statements queue messages, and goes with the last of them', async () => {
    for (const name of ['busy 1', 'busy 2', 'busy 3']) await queue(name, busy);
    await queue('later', third, { due_at: '2100-01-01' });
    expect(await turns()).toEqual([busy, third].map((owner) => ({ queue: 'email', owner })));
    for (const name of await claimAll()) await settle(name);
    expect(await turns()).toEqual([{ queue: 'email', owner: third }]);
  });

  it('stays while somebody adds a message that cannot be seen yet, and no writer waits for another or a claim', async () => {
    await queue('seen', busy);
    const writers = [await schema.begin(busy), await schema.begin(busy), await schema.begin(busy)];
    for (const [index, writer] of writers.entries()) {
      await writer.query(`SET LOCAL lock_timeout = '1s'`);
      const row: Row = { ...messageToSend(busy), due_at: new Date().toISOString() };
      names.set(row.id as string, `unseen ${index}`);
      const { sql, values } = insertion('outbox', row);
      await writer.query(sql, values);
      if (index === 1) expect(await claimAll()).toEqual(['seen']);
    }
    await settle('seen');
    expect([await claim(), (await turns()).length]).toEqual([null, 1]);
    for (const writer of writers) await schema.end(writer);
    const found = new Set<string>();
    await vi.waitFor(async () => {
      for (const name of await claimAll()) found.add(name);
      expect(found.size).toBe(3);
    });
  });

  it('is in nobody else’s way: writers, claims and those that end tries at once leave no message behind', async () => {
    const write = async (who: string, index: number) => {
      const client = await schema.begin(who);
      const { sql, values } = insertion('outbox', { ...messageToSend(who), due_at: new Date().toISOString() });
      await client.query(sql, values);
      if (index % 3 === 0) await new Promise((resolve) => setTimeout(resolve, index % 20));
      await schema.end(client, index % 10 === 0 ? 'ROLLBACK' : 'COMMIT');
    };
    let writing = true;
    let sent = 0;
    const work = async (worker: string) => {
      for (;;) {
        const wasWriting = writing;
        const [row] = await schema.as(null, `SELECT id FROM claim_outbox('email', $1, 10, interval '1 minute')`, [worker]);
        if (row) {
          await schema.as(null, `SELECT finish_outbox($1, $2, 'sent', NULL, NULL)`, [row.id, worker]);
          sent++;
        } else if (!wasWriting && (await turns()).length === 0) return;
      }
    };
    const workers = ['one', 'two'].map(work);
    for (let batch = 0; batch < 30; batch++)
      await Promise.all(Array.from({ length: 8 }, (_, index) => write(organizations[(batch + index) % 4]!, batch * 8 + index)));
    writing = false;
    await Promise.all(workers);
    expect(await schema.all('SELECT status, count(*)::int AS n FROM outbox GROUP BY 1')).toEqual([{ status: 'sent', n: sent }]);
    expect(sent).toBe(30 * 8 * 0.9);
  });

  it('wakes the worker when it is added, and no message after it does until it is gone', async () => {
    const listener = new pg.Client({ connectionString: schema.urls.ownerUrl });
    await listener.connect();
    const woken: unknown[] = [];
    listener.on('notification', ({ payload }) => woken.push(payload));
    await listener.query('LISTEN outbox');
    try {
      await queue('later', busy, { due_at: '2100-01-01' });
      for (const name of ['first', 'second', 'third']) await queue(name, busy);
      for (const name of await claimAll()) await settle(name);
      await queue('fourth', busy);
      await vi.waitFor(() => expect(woken).toEqual(['email', 'email']));
    } finally {
      await listener.end();
    }
  });

  it('that was lost is mended', async () => {
    for (const who of [busy, quiet]) await queue(who, who);
    await queue('later', third, { due_at: '2100-01-01' });
    await schema.all('DELETE FROM outbox_turns');
    expect(await claim()).toBeNull();
    const mend = async () => (await schema.as(null, 'SELECT mend_turns()::int AS n'))[0]!.n;
    expect([await mend(), await mend()]).toEqual([3, 0]);
    expect((await claimAll()).toSorted()).toEqual([busy, quiet]);
  });
});

describe('the next call of a hook', () => {
  const siteOf = (organization: string) => ({
    topic: 'rebuild',
    kind: 'rebuild',
    recipient: `organization:${organization}`,
  });

  it('is made after the one before has ended, however many lanes are free', async () => {
    for (const name of ['busy 1', 'busy 2']) await queue(name, busy, siteOf(busy));
    await queue('quiet', quiet, siteOf(quiet));
    await queue('brand', null, { ...siteOf(''), recipient: 'brand:primary' });
    await queue('other brand', null, { ...siteOf(''), recipient: 'brand:secondary' });
    expect(await claimAll(50, 'rebuild')).toEqual(['busy 1', 'quiet', 'brand', 'other brand']);
    await settle('busy 1');
    expect(await claimAll(1, 'rebuild')).toEqual(['busy 2']);
  });

  it('is one even if many workers claim at once', async () => {
    for (let count = 0; count < 10; count++) await queue(`call ${count}`, busy, siteOf(busy));
    const claims = await Promise.all(Array.from({ length: 10 }, () => claim(50, 'rebuild')));
    expect(claims.filter((name) => name !== null)).toEqual(['call 0']);
  });

  it('is made if the worker of the one before has died', async () => {
    for (const name of ['lost', 'next']) await queue(name, busy, siteOf(busy));
    expect(await claim(50, 'rebuild')).toBe('lost');
    await schema.all(`UPDATE outbox SET due_at = now(), leased_until = now() WHERE leased_by IS NOT NULL`);
    expect(await claim(50, 'rebuild')).toBe('next');
    expect(await claim(50, 'rebuild')).toBeNull();
    await settle('next');
    expect(await claim(50, 'rebuild')).toBe('lost');
  });
});
