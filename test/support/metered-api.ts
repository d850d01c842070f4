import { fileURLToPath } from 'node:url';
import { type Scope, SCOPES } from '@app/accounts';
import { AnswerCheck } from './answer-check.js';
import { TestApi } from './api.js';
import { ApiProcess, buildOnce } from './api-process.js';
import { type Position, positionsOf } from './long-requests.js';
import { parametersOfReads } from './query-values.js';
import { exchange } from './raw-http.js';
import { keyedRoutes } from './routes.js';
import { createWorld, type World } from './world.js';

/** What one request cost the process: CPU and the longest hold of its event loop (ms), memory at its peak (bytes). */
export interface Cost {
  cpu: number;
  hold: number;
  memory: number;
}

/** What the costs of a position may be. */
export interface Bounds {
  /** Of the cost of 16n to that of n. */
  ratio: number;
  /** Costs below these are taken for these: they are mostly those of any request. */
  floor: { cpu: number; memory: number };
  /** ms */
  hold: number;
}

/** What was found at a position. */
export interface Finding {
  position: Position;
  /** Of the cost of 16n to that of n, floors included. */
  ratios: { cpu: number; memory: number };
  hold: number;
  complaints: string[];
}

/** How often a position is measured that is over its bounds: whatever else this machine does adds to a cost. */
const TRIES = 4;

/** As production runs it, and so that the meter can begin with an empty heap. */
const FLAGS = [`--env-file=${fileURLToPath(new URL('../../apps/api/heap.env', import.meta.url))}`, '--expose-gc'];

const moduleAt = (name: string) => fileURLToPath(new URL(name, import.meta.url));

/** A process of the API over a filled database, with a meter in it. */
export class MeteredApi {
  private readonly check = new AnswerCheck();

  private constructor(
    private readonly api: TestApi,
    private readonly world: World,
    private target: ApiProcess,
    readonly positions: Position[],
  ) {}

  static async open(): Promise<MeteredApi> {
    await buildOnce();
    const api = await TestApi.start();
    const world = await createWorld(api);
    const all = { scopes: Object.keys(SCOPES) as Scope[], platformBlog: true };
    const school = { ...world.a, key: await api.key(world.a.id, all) };
    const positions = positionsOf(keyedRoutes(api), await parametersOfReads(api), school);
    return new MeteredApi(api, world, await start(api), positions);
  }

  /** Goes on with a process in which this is spoilt, see planted-growth.js. */
  async plant(planted: string): Promise<void> {
    await this.target.stop();
    this.target = await start(this.api, planted);
  }

  async close(): Promise<void> {
    await this.target.stop();
    await this.world.close();
    await this.api.stop();
  }

  /** Sends n, 4n and 16n, n being a sixteenth of what fits there, and holds their costs against the bounds. */
  async examine(position: Position, bounds: Bounds): Promise<Finding> {
    const sizes = [position.most / 16, position.most / 4, position.most].map(Math.floor);
    const lowest = sizes.map((): Cost => ({ cpu: Infinity, hold: Infinity, memory: Infinity }));
    for (let time = 1; ; time++) {
      const complaints: string[] = [];
      for (const [index, size] of sizes.entries()) {
        // An empty heap takes most of the time: only the longest request needs it, unless something is wrong.
        const empty = time > 1 || index === sizes.length - 1;
        const { cost, faults } = await this.cost(position.request(size), empty);
        lowest[index] = least(lowest[index]!, cost);
        complaints.push(...faults.map((fault) => `${position.name}, ${size} long: ${fault}`));
      }
      const finding = judge(position, lowest, bounds);
      if (complaints.length > 0 || finding.complaints.length === 0 || time === TRIES) {
        return { ...finding, complaints: [...complaints, ...finding.complaints] };
      }
    }
  }

  private async cost(bytes: string, empty: boolean): Promise<{ cost: Cost; faults: string[] }> {
    await this.target.ask(empty ? 'begin empty' : 'begin');
    const answer = await exchange(this.target.port, bytes, 60_000);
    const cost = (await this.target.ask('end')) as Cost;
    const faults = answer.status < 500 ? this.check.faults(answer) : [];
    if (answer.status === 0 || answer.status >= 500) faults.push(`status ${answer.status}`);
    return { cost, faults };
  }
}

function start(api: TestApi, planted?: string): Promise<ApiProcess> {
  const modules = ['meter.js', ...(planted ? ['planted-growth.js'] : [])];
  const settings = { DATABASE_URL: api.database.applicationUrl, ...(planted && { PLANTED: planted }) };
  return ApiProcess.start(settings, [...FLAGS, ...modules.flatMap((name) => ['--import', moduleAt(name)])]);
}

function least(a: Cost, b: Cost): Cost {
  return { cpu: Math.min(a.cpu, b.cpu), hold: Math.min(a.hold, b.hold), memory: Math.min(a.memory, b.memory) };
}

function judge(position: Position, costs: Cost[], { ratio, floor, hold: mostHold }: Bounds): Finding {
  const [small, , large] = costs as [Cost, Cost, Cost];
  const ratios = {
    cpu: large.cpu / Math.max(small.cpu, floor.cpu),
    memory: large.memory / Math.max(small.memory, floor.memory),
  };
  const hold = Math.max(...costs.map((cost) => cost.hold));
  const complaints = [
    ...(ratios.cpu > ratio ? [`CPU ${small.cpu.toFixed(1)} ms, at 16 times the length ${large.cpu.toFixed(1)} ms`] : []),
    ...(ratios.memory > ratio ? [`memory ${mb(small.memory)}, at 16 times the length ${mb(large.memory)}`] : []),
    ...(hold > mostHold ? [`held the event loop for ${hold.toFixed(0)} ms`] : []),
  ].map((complaint) => `${position.name}: ${complaint}`); // prettier-ignore
  return { position, ratios, hold, complaints };
}

const mb = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;

/** A line for each family: how many positions, the worst ratios, the longest hold. */
export function tell(findings: Finding[]): string[] {
  const families = new Set(findings.map(({ position }) => position.family));
  return [...families].map((family) => {
    const own = findings.filter(({ position }) => position.family === family);
    const worst = (of: (finding: Finding) => number) => own.reduce((most, one) => (of(one) > of(most) ? one : most));
    const [cpu, memory, hold] = [worst(({ ratios }) => ratios.cpu), worst(({ ratios }) => ratios.memory), worst((one) => one.hold)]; // prettier-ignore
    return [
      `${family}: ${own.length} positions`,
      `CPU of 16n at most ${cpu.ratios.cpu.toFixed(1)} times that of n (${cpu.position.name})`,
      `memory ${memory.ratios.memory.toFixed(1)} times (${memory.position.name})`,
      `event loop held ${hold.hold.toFixed(0)} ms (${hold.position.name})`,
    ].join('; ');
  });
}
