import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Scope, SCOPES } from '@app/accounts';
import { connect, Database } from '@app/database';
import { IdempotencyStore } from '../../apps/api/src/http/writes/idempotency.store.js';
import { allWrites, type Write } from './all-writes.js';
import { TestApi } from './api.js';
import { createTestDatabase } from './database.js';
import { DatabaseState } from './database-state.js';
import { forgetKeyUsage } from './read-statements.js';
import { type Cut, WireProxy } from './wire-proxy.js';
import { createWorld, type World } from './world.js';

/** What became of one write at all of its boundaries. */
export interface Walk {
  /** Messages of an undisturbed run. */
  recorded: number;
  /** Connections that were ended. */
  cuts: number;
  /** Cuts after which the caller was told that it failed, though it was done. */
  untold: number;
  findings: string[];
}

interface Answer {
  status: number;
  text: string;
  replayed: boolean;
  /** Whether the client is told to come back. */
  later: boolean;
}

/** How often a client tries again what was answered with 503 or 409. */
const TRIES = 50;
const PAUSE_MS = 20;
/** A write that never ends would be found by this. */
const MOST_MESSAGES = 1_000;

/** The application behind a proxy that ends its connections to PostgreSQL, and a world that is the same for each try. */
export class Boundaries {
  private constructor(
    readonly api: TestApi,
    readonly proxy: WireProxy,
    readonly state: DatabaseState,
    readonly writes: Write[],
    private readonly key: string,
    private readonly world: World,
    private readonly dataDir: string,
  ) {}

  static async open(): Promise<Boundaries> {
    const database = await createTestDatabase();
    const proxy = await WireProxy.open(database.applicationUrl);
    const dataDir = mkdtempSync(join(tmpdir(), 'tutoring-boundaries-'));
    const settings = { DATABASE_URL: proxy.url, DATA_DIR: dataDir, SMTP_URL: 'smtp://127.0.0.1:1' };
    forgetKeyUsage();
    const api = await TestApi.start(settings, database);
    const world = await createWorld(api);
    const key = await api.key(world.a.id, { scopes: Object.keys(SCOPES) as Scope[] });
    const writes = await allWrites(api, world);
    return new Boundaries(api, proxy, await DatabaseState.save(world.make), writes, key, world, dataDir);
  }

  /**
   * Plants a bug: keys are claimed and answered in transactions of their own.
   *
   * @returns takes it out again
   */
  async keepKeysApart(): Promise<() => Promise<void>> {
    const store = this.api.app.get(IdempotencyStore);
    const dataSource = await connect({
      url: this.api.database.applicationUrl,
      poolSize: 2,
      applicationName: 'planted',
    });
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
    await this.world.close();
    await this.api.stop();
    await this.proxy.close();
    rmSync(this.dataDir, { recursive: true, force: true });
  }

  /**
   * Ends the connection at every message of the write, on both sides, and compares with a run that nobody disturbed.
   *
   * @param every only one of so many messages, the last one among them
   */
  async walk(write: Write, every = 1): Promise<Walk> {
    // Once to warm the connection up, twice to see that nothing but what is masked differs by itself.
    await this.undisturbed(write);
    const expected = await this.undisturbed(write);
    const again = await this.undisturbed(write);
    const walk: Walk = { recorded: expected.messages, cuts: 0, untold: 0, findings: [] };
    if (expected.answer.status >= 300) walk.findings.push(`${write.name}: ${told(expected.answer)}`);
    if (differences(expected, again).length > 0) {
      throw new Error(`${write.name} is not twice the same: ${differences(expected, again).join('\n')}`);
    }
    for (const side of ['before', 'after'] as const) {
      // The last one is the COMMIT of a write. A run may have a message more than the recorded one.
      let index = (expected.messages - 1) % every;
      while (index < MOST_MESSAGES && (await this.disturbed(write, { index, side }, expected, walk))) index += every;
      if (index < expected.messages)
        walk.findings.push(`${write.name}: only ${index} messages of ${expected.messages}`);
    }
    return walk;
  }

  private async undisturbed(write: Write): Promise<Run> {
    await this.state.restore();
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

  /** @returns false when the write has no such message */
  private async disturbed(write: Write, { index, side }: Cut, expected: Run, walk: Walk): Promise<boolean> {
    await this.state.restore();
    const earlier = write.replay ? await this.send(write) : null;
    await this.quiet();
    this.proxy.watch({ index, side });
    const first = await this.send(write);
    this.proxy.unwatch();
    const { cut } = this.proxy;
    if (!cut) return false;
    walk.cuts++;
    const find = (what: string) =>
      walk.findings.push(
        `${write.name}, ${side} message ${index} (${cut.type} of ${cut.statement.slice(0, 60)}): ${what}`,
      );
    let last = first;
    for (let tries = 0; !done(last) && again(last) && tries < TRIES; tries++) {
      await sleep(PAUSE_MS);
      last = await this.send(write);
    }
    if (!done(last) && !(write.method === 'DELETE' && last?.status === 404)) {
      find(`is answered at last with ${told(last)}`);
      return true;
    }
    if (first && !done(first) && !first.later) find(`is answered first with ${told(first)}`);
    if (!done(first) && last!.replayed && !write.replay) walk.untold++;
    const run = await this.run(last!);
    for (const difference of differences(expected, run, write)) find(difference);
    if (!write.keyed) return true;
    for (const answer of [earlier, first, await this.send(write)]) {
      if (done(answer) && answer!.text !== last!.text) find(`another answer: ${told(answer)}, then ${told(last)}`);
    }
    const after = { ...run, rows: await this.state.rows() };
    for (const difference of differences(run, after)) find(`once more: ${difference}`);
    return true;
  }

  /** What an answer leaves to be done, its audit row say, is not taken for a part of the next request. */
  private async quiet(): Promise<void> {
    const db = this.api.app.get(Database);
    const idle = () => {
      const { total, idle, waiting } = db.poolState;
      expect([idle, waiting]).toEqual([total, 0]);
    };
    await vi.waitFor(idle, { interval: 1, timeout: 10_000 });
  }

  /** @returns null when the connection broke */
  private async send({ method, path, type, body, keyed }: Write): Promise<Answer | null> {
    const { port } = this.api.server.address() as AddressInfo;
    const headers: Record<string, string> = { Authorization: `Token token=${this.key}`, 'X-Request-Id': 'boundaries' };
    if (body) headers['Content-Type'] = type;
    if (keyed) headers['Idempotency-Key'] = 'boundaries';
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
const told = (answer: Answer | null) => (answer ? `${answer.status} ${answer.text.slice(0, 200)}` : 'nothing');

/** A write without a key that is sent twice may be done twice: what it leaves is the same, and each has its audit row. */
function differences(expected: Run, run: Run, write?: Write): string[] {
  const repeatable = write !== undefined && !write.keyed;
  const found: string[] = [];
  if (!(repeatable && write.method === 'DELETE' && run.answer.status === 404)) {
    if (expected.answer.status !== run.answer.status) found.push(`the status is ${run.answer.status}`);
    if (expected.text !== run.text) found.push(`the answer is ${run.text}`);
  }
  const rows = repeatable ? withoutRepeatedAudit(run.rows) : run.rows;
  return [
    ...found,
    ...minus(rows, expected.rows).map((row) => `too much: ${row}`),
    ...minus(expected.rows, rows).map((row) => `missing: ${row}`),
  ];
}

function withoutRepeatedAudit(rows: string[]): string[] {
  return rows.filter((row, index) => !(row.startsWith('audit_log ') && rows[index - 1] === row));
}

/** Of two sorted lists with repetitions. */
function minus(these: string[], those: string[]): string[] {
  const left = new Map<string, number>();
  for (const each of those) left.set(each, (left.get(each) ?? 0) + 1);
  return these.filter((each) => {
    const count = left.get(each) ?? 0;
    left.set(each, count - 1);
    return count <= 0;
  });
}
