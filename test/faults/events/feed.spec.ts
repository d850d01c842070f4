import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Random } from '../../support/data/random.js';
import { FeedHistory, type Race } from '../../support/events/feed-history.js';
import { reached, seedOf } from '../../support/faults/promise.js';
import { ApiProcess, buildOnce } from '../../support/http/api-process.js';
import { TestApi } from '../../support/http/api.js';
import { TestPortal } from '../../support/portal/portal.js';
import { runCli } from '../../support/process/cli.js';
import { inTest } from '../../support/process/fixture.js';
import { TestRedis } from '../../support/worker/redis.js';
import { WorkerProcess } from '../../support/worker/worker-process.js';

const SEED = seedOf();
const HISTORIES = 20;
const STATUSES = ['new', 'contacted', 'consultation_booked', 'lost'];

interface Killable {
  exit: Promise<unknown>;
  signal(name: NodeJS.Signals): void;
  stop(): Promise<void>;
}

/** One that runs again once it has been killed. */
class Phoenix<Process extends Killable> {
  private constructor(
    private readonly hire: () => Promise<Process>,
    public now: Process,
  ) {}

  static async of<P extends Killable>(hire: () => Promise<P>): Promise<Phoenix<P>> {
    return new Phoenix<P>(hire, await hire());
  }

  async kill(): Promise<void> {
    this.now.signal('SIGKILL');
    await this.now.exit;
    this.now = await this.hire();
  }

  stop(): Promise<void> {
    return this.now.stop();
  }
}

it('readers miss nothing of what two API processes, a portal, a worker and imports write, which are killed in turn', async () => {
  await buildOnce();
  const redis = await inTest(TestRedis.start());
  const settings = { ENCRYPTION_KEY: randomBytes(32).toString('hex'), REDIS_URL: redis.url };
  const api = await inTest(TestApi.start(settings));
  await FeedHistory.prepare(api);
  const portal = await inTest(TestPortal.start(settings, api.database));
  const { applicationUrl: DATABASE_URL, workerUrl: WORKER_DATABASE_URL, ownerUrl, portalUrl } = api.database;
  const apis = [
    await inTest(Phoenix.of(() => ApiProcess.start({ ...settings, DATABASE_URL }))),
    await inTest(Phoenix.of(() => ApiProcess.start({ ...settings, DATABASE_URL }))),
  ];
  const worker = await inTest(
    Phoenix.of(() =>
      WorkerProcess.start({ ...settings, DATABASE_URL, WORKER_DATABASE_URL, SMTP_URL: 'smtp://127.0.0.1:1', MAIL_FROM: 'a@tutoring.example' }),
    ),
  );
  const folder = await mkdtemp(join(tmpdir(), 'tutoring-feed-'));
  const random = new Random(SEED);
  const owners = new Map<string, Promise<string>>();

  const byApi =
    (which: number) =>
    async ({ key, leads, subjects, classrooms }: Race) => {
      const [path, body] = random.chance(0.5)
        ? [`leads/${random.pick(leads)}`, { status: random.pick(STATUSES) }]
        : [`classrooms/${random.pick(classrooms())}`, { subject_id: random.pick(subjects) }];
      const headers = { authorization: `Token token=${key}`, 'content-type': 'application/json' };
      const response = await fetch(`http://127.0.0.1:${apis[which]!.now.port}/v1/${path}`, { method: 'PATCH', headers, body: JSON.stringify(body) });
      await response.text();
    };
  const byPortal = async ({ school, leads }: Race) => {
    const cookie =
      owners.get(school.id) ??
      portal.make.user().then(async ({ id }) => {
        await portal.make.query(
          `INSERT INTO members (id, organization_id, user_id, role, status, accepted_at) VALUES (gen_random_uuid(), $1, $2, 'owner', 'accepted', now())`,
          [school.id, id],
        );
        return portal.session(id);
      });
    owners.set(school.id, cookie);
    await portal.post(`/o/${school.slug}/enquiries/leads/${random.pick(leads)}`, { status: random.pick(STATUSES), from: '' }, await cookie);
  };
  const byImport = async ({ school, subjects, classrooms }: Race) => {
    const rows = classrooms().map((id) => JSON.stringify({ id, subject_id: random.pick(subjects) }));
    await writeFile(join(folder, 'classrooms.ndjson'), rows.join('\n'));
    await runCli(['import', folder, '--org', school.slug, '--update'], {
      MIGRATION_DATABASE_URL: ownerUrl,
      PORTAL_DATABASE_URL: portalUrl,
      ENCRYPTION_KEY: settings.ENCRYPTION_KEY,
    });
  };

  let [kills, told] = [0, 0];
  const blow = async () => {
    await sleep(random.integer(500));
    await random.pick([...apis, worker]).kill();
    kills++;
  };
  const others = [byApi(0), byApi(0), byApi(1), byApi(1), byPortal, byPortal, byImport];
  for (let history = 0; history < HISTORIES; history++) {
    const found = await FeedHistory.run(api, new Random(SEED + history), { transactions: 150, blow, others });
    expect(found.wrong).toEqual([]);
    told += found.told;
  }
  await rm(folder, { recursive: true });
  reached(61, `${HISTORIES} histories of processes, ${kills} kills, ${told} events x 3 readers: 0 missed, 0 twice, 0 out of order`, SEED);
});
