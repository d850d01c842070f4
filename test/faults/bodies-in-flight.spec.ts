import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { ApiProcess, buildOnce } from '../support/http/api-process.js';
import { TestApi } from '../support/http/api.js';
import { Factories } from '../support/data/factories.js';
import { percentile } from '../support/data/percentile.js';
import { memoryOf } from '../support/process/processes.js';
import { reached } from '../support/faults/promise.js';

const CONNECTIONS = 300;
const MIB = 1_048_576;
const LONGEST = 3 * MIB;
const MOST_GROWTH_MB = 100;
/** The abuser's excess must be refused within this time (ms). */
const AT_ONCE = 50;

const BUDGET = pathToFileURL(
  fileURLToPath(new URL('../../dist/libs/serving/src/body-budget.js', import.meta.url)),
).href;
const PLANTED = `data:text/javascript,import { BodyBudget } from '${BUDGET}'; BodyBudget.prototype.take = () => undefined;`;

let api: TestApi;
let make: Factories;
let hostile: string;
let other: string;

beforeAll(async () => {
  await buildOnce();
  api = await TestApi.start();
  make = await Factories.connect(api.database);
  const scopes = ['read', 'blog:write'] as const;
  hostile = await api.key((await make.organization()).id, { scopes: [...scopes] });
  other = await api.key((await make.organization()).id, { scopes: [...scopes] });
});

afterAll(async () => {
  await make.close();
  await api.stop();
});

interface Attempt {
  socket: Socket;
  /** Null until answered; `took` in ms. */
  answer: { status: number; took: number } | null;
}

/** Opens connections that each send all but the last byte of the longest body. */
function attack(port: number, sockets: Set<Socket>): Attempt[] {
  const almost = Buffer.alloc(LONGEST - 1, ' ');
  return Array.from({ length: CONNECTIONS }, () => {
    const socket = connect(port, '127.0.0.1');
    const attempt: Attempt = { socket, answer: null };
    let began = 0;
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('connect', () => {
      began = performance.now();
      const head = `POST /v1/blog-posts HTTP/1.1\r\nHost: x\r\nAuthorization: Token token=${hostile}\r\n`;
      socket.write(`${head}Content-Type: application/json\r\nContent-Length: ${LONGEST}\r\n\r\n`);
      // Waits for a refusal first: 900 MB in flight at once would measure this process instead of the API.
      setTimeout(() => attempt.answer === null && socket.write(almost), 300);
    });
    socket.once('data', (chunk: Buffer) => {
      attempt.answer = { status: Number(chunk.toString().slice(9, 12)), took: performance.now() - began };
    });
    return attempt;
  });
}

/** Creates a post as another organization. @returns how long it took (ms) */
async function usual(target: ApiProcess, name: string): Promise<number> {
  const began = performance.now();
  const answer = await fetch(`http://127.0.0.1:${target.port}/v1/blog-posts`, {
    method: 'POST',
    headers: { Authorization: `Token token=${other}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ title: 'News', slug: name }),
  });
  expect(answer.status).toBe(201);
  return performance.now() - began;
}

/** @param name prefix of the other organization's posts */
async function run(name: string, flags: string[]): Promise<{ growth: number; attempts: Attempt[]; median: number[] }> {
  const target = await ApiProcess.start({ DATABASE_URL: api.database.applicationUrl, LOG_LEVEL: 'error' }, flags);
  const sockets = new Set<Socket>();
  const medianOf = async (label: string) => {
    const times: number[] = [];
    for (let n = 0; n < 50; n++) times.push(await usual(target, `${name}-${label}-${n}`));
    return percentile(times, 0.5);
  };
  try {
    await medianOf('warm');
    const alone = await medianOf('alone');
    const rss = memoryOf(target.pid, 'VmRSS');
    const attempts = attack(target.port, sockets);
    await sleep(2_000);
    const beside = await medianOf('beside');
    const growth = memoryOf(target.pid, 'VmHWM') - rss;
    expect(target.ended).toBeNull();
    return { growth, attempts, median: [alone, beside] };
  } finally {
    for (const socket of sockets) socket.destroy();
    await target.stop();
  }
}

it('refuses 300 unfinished bodies beyond the budget at once, and keeps serving others', async () => {
  const { growth, attempts, median } = await run('held', []);
  const refused = attempts.flatMap(({ answer }) => answer ?? []);
  const times = refused.map(({ took }) => took);
  reached(
    43,
    `${CONNECTIONS} x 3 MiB, ${refused.length} refused, p50 ${percentile(times, 0.5).toFixed(0)} ms, ` +
      `p95 ${percentile(times, 0.95).toFixed(0)} ms, RSS +${growth.toFixed(0)} MB, another organization's post ${median.map((ms) => ms.toFixed(1)).join(' -> ')} ms`,
  );
  expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([503]));
  // Ten fit into the organization's half of the budget. Every other client reads its refusal.
  expect(refused.length).toBe(CONNECTIONS - 10);
  expect(growth).toBeLessThan(MOST_GROWTH_MB);
  // All 300 arrive at once: later refusals wait for 300 key look-ups, so only the first one shows the delay.
  expect(Math.min(...times)).toBeLessThan(AT_ONCE);
});

it('catches a process without the budget, which fills its memory', async () => {
  const { growth } = await run('free', ['--import', PLANTED]);
  reached(43, `bodies in flight, planted: RSS +${growth.toFixed(0)} MB`);
  expect(growth).toBeGreaterThan(2 * MOST_GROWTH_MB);
});
