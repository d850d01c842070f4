import { setTimeout as sleep } from 'node:timers/promises';
import { Random } from '../../support/data/random.js';
import { percentile } from '../../support/data/percentile.js';
import type { TestDatabase } from '../../support/database/database.js';
import { OwnPostgres } from '../../support/database/own-postgres.js';
import { FeedHistory } from '../../support/events/feed-history.js';
import { batchesFrom, inReport, reached, seedOf } from '../../support/faults/promise.js';
import { TestApi } from '../../support/http/api.js';
import { inTest } from '../../support/process/fixture.js';

const SEED = seedOf();
const HISTORIES = inReport(20, 2);

async function prepared(database?: TestDatabase) {
  const api = await inTest(TestApi.start({}, database));
  await FeedHistory.prepare(api);
  return api;
}

/** Ends connections of writers, numberers and the API, in the middle of whatever they do. */
const cut = (api: TestApi) => () =>
  api.make.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()
    AND application_name IN ('writer', 'numberer', 'tutoring api') ORDER BY random() LIMIT 2`);

/** Has a function of the database do something else. */
async function plant(api: TestApi, name: string, right: string, wrong: string): Promise<void> {
  const [{ text }] = (await api.make.query<{ text: string }>('SELECT pg_get_functiondef($1::regproc) AS text', [name])) as [{ text: string }];
  expect(text).toContain(right);
  await api.make.query(text.replaceAll(right, wrong));
}

it.each(batchesFrom(SEED, 8))(
  'readers of histories with broken connections miss nothing, and see nothing twice or out of order (%i)',
  async (seed) => {
    const api = await prepared();
    let told = 0;
    for (let history = 0; history < HISTORIES; history++) {
      const found = await FeedHistory.run(api, new Random(seed + history), { transactions: 60, blow: cut(api) });
      expect(found.wrong).toEqual([]);
      told += found.told;
    }
    reached(61, `${HISTORIES} histories, ${told} events x 3 readers: 0 missed, 0 twice, 0 out of order`, seed);
  },
);

it.skipIf(inReport(false, true))('nor do they over crashes of PostgreSQL', async () => {
  const own = await inTest(OwnPostgres.start({ synchronous_commit: 'on' }));
  const api = await prepared({ ...own.urls, adminUrl: own.adminUrl } as unknown as TestDatabase);
  let crashes = 0;
  for (let history = 0; history < HISTORIES; history++) {
    const blow = async () => {
      await sleep(2_000);
      await own.crash().then(() => own.revive());
      crashes++;
    };
    expect((await FeedHistory.run(api, new Random(SEED + history), { transactions: 60, blow })).wrong).toEqual([]);
  }
  reached(61, `${HISTORIES} histories over ${crashes} crashes of PostgreSQL: 0 missed, 0 twice, 0 out of order`, SEED);
});

describe('a planted bug is found:', () => {
  const BUGS: [string, (api: TestApi) => Promise<unknown>][] = [
    ['numbers in the order of transaction ids', (api) => plant(api, 'number_events', 'ORDER BY at, verb', 'ORDER BY transaction::text::bigint, at, verb')],
    ['numbers in the order of seq', (api) => plant(api, 'number_events', 'given + row_number() OVER (ORDER BY at, verb)', '10 * at + row_number() OVER (PARTITION BY at)')],
    [
      'numbered before the commit',
      async (api) => {
        await plant(api, 'number_events', 'IF NOT EXISTS (SELECT FROM event_changes) OR', 'IF');
        await api.make.query(`CREATE FUNCTION at_once() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public AS $$ BEGIN
          INSERT INTO events (organization_id, number, type, resource, resource_id, timestamp, data)
          SELECT organization_id, seq, resource || '.' || CASE op WHEN 'I' THEN 'created' WHEN 'U' THEN 'updated' ELSE 'deleted' END,
            resource, resource_id, told, coalesce(about, '{}') || '{"changed": []}' FROM event_changes WHERE seq = NEW.seq;
          DELETE FROM event_changes WHERE seq = NEW.seq; RETURN NULL; END $$;
          CREATE TRIGGER at_once AFTER INSERT ON event_changes FOR EACH ROW EXECUTE FUNCTION at_once()`);
      },
    ],
    ['a table without its trigger', (api) => api.make.query('ALTER TABLE classrooms DISABLE TRIGGER tell_on_update')],
  ]; // prettier-ignore
  it.each(BUGS)('%s', async (_, bug) => {
    const api = await prepared();
    await bug(api);
    await vi.waitUntil(async () => (await FeedHistory.run(api, new Random(SEED), { transactions: 100 })).wrong.length > 0, { timeout: 300_000 });
  });
});

it('tells a change of a person to those who are shown them, not to all who have a tie', async () => {
  const api = await prepared();
  const { make } = api;
  const schools = [await make.organization(), await make.organization(), await make.organization()];
  const { id } = await make.user();
  for (const [index, status] of (['accepted', 'pending', 'archived'] as const).entries()) {
    await make.student(schools[index]!.id, { user: { id }, status, acceptedAt: status === 'accepted' ? new Date() : null });
  }
  const told = async (name: string) => {
    await make.query('SELECT number_events()');
    await make.query('DELETE FROM events');
    await make.query('UPDATE users SET first_name = $2 WHERE id = $1', [id, name]);
    await make.query('SELECT number_events()');
    return (await make.query<{ organization_id: string }>('SELECT organization_id FROM events')).map((event) => event.organization_id);
  };
  expect(await told('Quince')).toEqual([schools[0]!.id]);
  await plant(api, 'tell_users', 'p.accepted_at IS NOT NULL', 'true');
  expect(await told('Medlar')).toHaveLength(3);
});

it('shows what is committed soon', async () => {
  const api = await prepared();
  const { id } = await api.make.organization();
  const key = await api.key(id);
  const page = async (cursor: string) => (await api.get(`/v1/events?cursor=${cursor}&wait=20`, key)).body as { meta: { next_cursor: string } };
  let { meta } = (await api.get('/v1/events?cursor=now', key)).body as { meta: { next_cursor: string } };
  const times: number[] = [];
  for (let count = 0; count < inReport(100, 3); count++) {
    const waiting = page(meta.next_cursor);
    await sleep(100);
    await api.make.subject(id);
    const began = performance.now();
    ({ meta } = await waiting);
    times.push(performance.now() - began);
  }
  reached(61, `from commit to visible p95 ${Math.round(percentile(times, 0.95))} ms of ${times.length}`);
});
