import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Scope, SCOPES } from '@app/access';
import { connect, Database } from '@app/database';
import { IdempotencyStore } from '../../../apps/api/src/http/writes/idempotency.store.js';
import { allWrites, type Write } from '../http/all-writes.js';
import { TestApi } from '../http/api.js';
import { createTestDatabase } from '../database/database.js';
import { DatabaseState } from '../database/database-state.js';
import { difference } from '../database/difference.js';
import { HealthService } from '../../../apps/api/src/health/health.service.js';
import { forgetKeyUsage } from '../database/read-statements.js';
import { type Cut, WireProxy } from '../database/wire-proxy.js';
import { createFixtures } from '../data/fixtures.js';

/** The result of cutting one write's connection at every message. */
export interface Walk {
  /** Messages of a run without a cut. */
  recorded: number;
  /** Connections cut. */
  cuts: number;
  /** Cuts after which the caller got an error although the write succeeded. */
  untold: number;
  findings: string[];
}

interface Answer {
  status: number;
  text: string;
  replayed: boolean;
  /** The response has a Retry-After header. */
  later: boolean;
}

/** How often a client retries after a response with Retry-After, or without a response. */
const TRIES = 500;
const PAUSE_MS = 20;
/** Catches a write that never ends. */
const MOST_MESSAGES = 1_000;

/** The application behind a proxy that cuts its connections to PostgreSQL. Every try starts from the same rows. */
export class Boundaries {
  private constructor(
    readonly api: TestApi,
    readonly proxy: WireProxy,
    readonly state: DatabaseState,
    readonly writes: Write[],
    private readonly key: string,
    private readonly dataDir: string,
  ) {}

  static async open(): Promise<Boundaries> {
    const database = await createTestDatabase();
    const proxy = await WireProxy.open(database.applicationUrl);
    const dataDir = mkdtempSync(join(tmpdir(), 'tutoring-boundaries-'));
    const settings = { DATABASE_URL: proxy.url, DATA_DIR: dataDir, SMTP_URL: 'smtp://127.0.0.1:1' };
    forgetKeyUsage();
    const api = await TestApi.start(settings, database);
    // Their statements, every second, would count as messages of the write.
    api.app.get(HealthService).onApplicationShutdown();
    const fixtures = await createFixtures(api);
    const key = await api.key(fixtures.a.id, { scopes: Object.keys(SCOPES) as Scope[] });
    const writes = await allWrites(api, fixtures);
    return new Boundaries(api, proxy, await DatabaseState.save(fixtures.make), writes, key, dataDir);
  }

  /**
   * Plants a bug: claims a key and stores its response in separate transactions.
   *
   * @returns a function that removes the bug
   */
  async keepKeysApart(): Promise<() => Promise<void>> {
    const store = this.api.app.get(IdempotencyStore);
    const dataSource = await connect({ url: this.api.database.applicationUrl, poolSize: 2, applicationName: 'planted' });
    const db = new Database(dataSource);
    const own = Object.create(IdempotencyStore.prototype) as IdempotencyStore;
    const apart = Object.assign(own, store, { db } as object);
    const spies = [
      vi.spyOn(store, 'claim').mockImplementation((use) => db.transaction(use, () => apart.claim(use))),
      vi.spyOn(store, 'answer').mockImplementation((use, given) => db.transaction(use, () => apart.answer(use, given))),
    ];
    return async () => {
      for (const spy of spies) spy.mockRestore();
      await dataSource.destroy();
    };
  }

  async close(): Promise<void> {
    await this.api.stop();
    await this.api.database.drop();
    await this.proxy.close();
    rmSync(this.dataDir, { recursive: true, force: true });
  }

  /**
   * Cuts the connection before and after every message of the write, and compares the results with an undisturbed run.
   *
   * @param every tries only every nth message, including the last
   */
  async walk(write: Write, every = 1): Promise<Walk> {
    // The first run warms up the connection. The others must differ only in masked values.
    await this.undisturbed(write);
    const expected = await this.undisturbed(write);
    const again = await this.undisturbed(write);
    const walk: Walk = { recorded: expected.messages, cuts: 0, untold: 0, findings: [] };
    if (expected.answer.status >= 300) walk.findings.push(`${write.name}: ${told(expected.answer)}`);
    if (differences(expected, again).length > 0) {
      throw new Error(`${write.name} differs between two runs: ${differences(expected, again).join('\n')}`);
    }
    for (const side of ['before', 'after'] as const) {
      // The last message is the COMMIT. A run may have one more message than the recorded one.
      let index = (expected.messages - 1) % every;
      while (index < MOST_MESSAGES && (await this.disturbed(write, { index, side }, expected, walk))) index += every;
      if (index < expected.messages) walk.findings.push(`${write.name}: only ${index} messages of ${expected.messages}`);
    }
    return walk;
  }

  private async undisturbed(write: Write): Promise<Run> {
    await this.restore();
    if (write.replay) await this.send(write);
    await this.quiet();
    this.proxy.watch();
    const answer = await this.send(write);
    this.proxy.unwatch();
    return this.run(answer!);
  }

  private async run(answer: Answer): Promise<Run> {
    const text = this.state.mask(answer.text);
    return { answer, text, rows: await this.state.rows(), messages: this.proxy.seen.length };
  }

  /** @returns false if the write has no such message */
  private async disturbed(write: Write, { index, side }: Cut, expected: Run, walk: Walk): Promise<boolean> {
    await this.restore();
    const earlier = write.replay ? await this.send(write) : null;
    await this.quiet();
    this.proxy.watch({ index, side });
    const first = await this.send(write);
    this.proxy.unwatch();
    const { cut } = this.proxy;
    if (!cut) return false;
    walk.cuts++;
    const find = (what: string) =>
      walk.findings.push(`${write.name}, ${side} message ${index} (${cut.type} of ${cut.statement.slice(0, 60)}): ${what}`);
    let last = first;
    for (let tries = 0; !done(last) && again(last) && tries < TRIES; tries++) {
      await sleep(PAUSE_MS);
      last = await this.send(write);
    }
    if (!done(last)) {
      find(`finally got ${told(last)}`);
      return true;
    }
    if (first && !done(first) && !first.later) find(`first got ${told(first)}`);
    if (!done(first) && last!.replayed && !write.replay) walk.untold++;
    const run = await this.run(last!);
    for (const line of differences(expected, run)) find(line);
    for (const answer of [earlier, first, await this.send(write)]) {
      if (done(answer) && answer!.text !== last!.text) find(`answers differ: ${told(answer)}, then ${told(last)}`);
    }
    const after = { ...run, rows: await this.state.rows() };
    for (const line of differences(run, after)) find(`after a replay: ${line}`);
    return true;
  }

  /** PostgreSQL may still work for a connection that was cut: its locks and those of the restored rows would be a deadlock. */
  private async restore(): Promise<void> {
    await vi.waitFor(async () => {
      const working = await this.api.make.query(`SELECT FROM pg_stat_activity WHERE datname = current_database()
        AND backend_type = 'client backend' AND pid <> pg_backend_pid() AND xact_start IS NOT NULL`);
      expect(working).toEqual([]);
    });
    await this.state.restore();
  }

  /** Waits for work that follows a response, such as its audit row, whose messages must not count for the next one. */
  private async quiet(): Promise<void> {
    const db = this.api.app.get(Database);
    const idle = () => {
      const { total, idle, waiting } = db.poolState;
      expect([idle, waiting]).toEqual([total, 0]);
    };
    await vi.waitFor(idle, { interval: 1 });
  }

  /** @returns null if the connection broke */
  private async send({ method, path, type, body }: Write): Promise<Answer | null> {
    const { port } = this.api.server.address() as AddressInfo;
    const once = { 'Idempotency-Key': 'boundaries', 'X-Request-Id': 'boundaries' };
    const headers: Record<string, string> = { Authorization: `Token token=${this.key}`, ...once };
    if (body) headers['Content-Type'] = type;
    try {
      const response = await fetch(`http://127.0.0.1:${port}${path}`, { method, headers, body });
      const { status, headers: said } = response;
      const replayed = said.get('idempotency-replayed') === 'true';
      return { status, text: await response.text(), replayed, later: said.has('retry-after') };
    } catch {
      return null;
    }
  }
}

interface Run {
  answer: Answer;
  text: string;
  rows: string[];
  messages: number;
}

const done = (answer: Answer | null) => answer !== null && answer.status < 300;
const again = (answer: Answer | null) => answer === null || answer.later;
const told = (answer: Answer | null) => (answer ? `${answer.status} ${answer.text.slice(0, 200)}` : 'no answer');

function differences(expected: Run, run: Run): string[] {
  const found: string[] = [];
  if (expected.answer.status !== run.answer.status) found.push(`the status is ${run.answer.status}`);
  if (expected.text !== run.text) found.push(`the answer is ${run.text}`);
  return [...found, ...difference(run.rows, expected.rows)];
}
