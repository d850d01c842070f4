import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { ApiProcess, buildOnce } from '../../support/http/api-process.js';
import { reached } from '../../support/faults/promise.js';
import { findWrongMoney, type Target } from '../../support/faults/money-model.js';
import { Random } from '../../support/data/random.js';
import { TestApi } from '../../support/http/api.js';

/** Promise 54: the API is killed while it writes about money. */
const HISTORIES = Number(process.env.HISTORIES ?? 150);
/** Each batch has its own database. */
const BATCH = 50;
/** The latest kill after a round begins (ms): about as long as a round takes, so that most kills interrupt a request. */
const LATEST_MS = 80;
/** The same for all processes: what one has stored, the next one reads. */
const ENCRYPTION_KEY = randomBytes(32).toString('hex');
const SEED = Number(process.env.SEED ?? Date.now() % 1_000_000);

/** An API process that is killed whenever another one is ready to take its place. */
class KilledApi implements Target {
  kills = 0;
  failures = 0;
  private readonly random: Random;
  private ready: ApiProcess | null = null;
  private starting = Promise.resolve();

  private constructor(
    private readonly settings: Record<string, string>,
    private current: ApiProcess,
    seed: number,
  ) {
    this.random = new Random(seed);
    this.prepare();
  }

  static async start(settings: Record<string, string>, seed: number): Promise<KilledApi> {
    return new KilledApi(settings, await ApiProcess.start(settings), seed);
  }

  port(): number {
    return this.current.port;
  }

  async strike(): Promise<void> {
    const next = this.ready;
    if (!next) return;
    await sleep(this.random.integer(LATEST_MS));
    await this.current.stop();
    this.kills++;
    this.current = next;
    this.prepare();
  }

  async stop(): Promise<void> {
    await this.starting;
    await Promise.all([this.current.stop(), this.ready?.stop()]);
  }

  private prepare(): void {
    this.ready = null;
    this.starting = ApiProcess.start(this.settings).then((process) => void (this.ready = process));
  }
}

beforeAll(() => buildOnce());

const counts = { histories: 0, kills: 0, failures: 0 };

it.each(Array.from({ length: Math.ceil(HISTORIES / BATCH) }, (_, batch) => SEED + batch))(
  'money is right after every kill, in random histories by up to eight clients at once, from seed %d',
  async (seed) => {
    const api = await TestApi.start();
    const target = await KilledApi.start({ DATABASE_URL: api.database.applicationUrl, ENCRYPTION_KEY }, seed);
    try {
      expect(await findWrongMoney(api, { seed, runs: Math.min(BATCH, HISTORIES), target })).toBeNull();
    } finally {
      await target.stop();
      await api.stop();
    }
    counts.histories += Math.min(BATCH, HISTORIES);
    counts.kills += target.kills;
    counts.failures += target.failures;
    reached(
      54,
      `${counts.histories} histories of money, ${counts.kills} kills that broke ${counts.failures} requests: 0 amounts, numbers or answers wrong`,
      SEED,
    );
    expect(target.failures).toBeGreaterThan(target.kills / 2);
  },
);
