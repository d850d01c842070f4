import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Scope, SCOPES } from '@app/access';
import { Factories } from '../data/factories.js';
import { TestApi } from '../http/api.js';
import { ApiProcess, buildOnce } from '../http/api-process.js';
import { beside, type Beside, type Scene, type Timing } from '../load/beside.js';
import { load, requestOf, type Traffic } from '../load/load.js';

/** The addresses of the neighbour, of the newcomer and of the attacker's machines. */
const HOME = '198.51.100.1';
const NEWCOMER = '198.51.100.2';
const ATTACKER = '203.0.113.1';

const POSTS = 200;
const UNKNOWN_KEYS = 3_000;
const WARM_UP_SECONDS = 3;
/** Of each organization: a single key could not read as often as is measured. */
const KEYS = 4;
/** Enough that a late answer delays no request. */
const NEIGHBOUR_CONNECTIONS = 20;

/** An attack by one organization, or by strangers. */
export interface Attack extends Pick<Scene, 'statuses'> {
  name: string;
  traffic: (neighbours: Neighbourhood) => Traffic | Promise<Traffic>;
  /** Whether strangers come from so many addresses that another stranger may have to try again. */
  crowd?: boolean;
}

/**
 * Organizations that share an API process: one that attacks, a neighbour that reads a little, and a newcomer that writes a
 * little with a key that the process has never seen. Processes have no limits of requests, because an organization may have
 * any number of keys.
 */
export class Neighbourhood {
  private constructor(
    readonly api: TestApi,
    readonly make: Factories,
    /** Keys of the attacker's organization. */
    readonly hostile: string[],
    private readonly neighbour: string[],
    private readonly newcomer: string,
    private readonly dataDir: string,
  ) {}

  /** @param rows homework of the attacker's organization, which also has a page of blog posts of 20 MB */
  static async open(rows: number): Promise<Neighbourhood> {
    await buildOnce();
    const api = await TestApi.start();
    const make = await Factories.connect(api.database);
    const school = async () => {
      const { id } = await make.organization();
      return { id, tutor: (await make.tutor(id)).id };
    };
    const [hostile, neighbour, newcomer] = [await school(), await school(), await school()];
    for (let n = 0; n < 50; n++) await make.homework(neighbour.tutor, {}, neighbour.id);
    await make.homework(hostile.tutor, {}, hostile.id);
    await make.withoutTriggers(`
      INSERT INTO homework (id, assigned_by, title, homework_type, scope, student_id, organization_id, created_at)
      SELECT gen_random_uuid(), assigned_by, title, homework_type, scope, student_id, organization_id,
        now() - n * interval '1 second'
      FROM (SELECT * FROM homework WHERE organization_id = '${hostile.id}') h, generate_series(2, ${rows}) n`);
    // Quotes take two bytes each in JSON.
    for (let n = 0; n < POSTS; n++) await make.post(hostile.id, { content: 'x' });
    await make.withoutTriggers(`UPDATE blog_posts SET content = repeat('"', 50000) WHERE organization_id = '${hostile.id}'`);
    await make.query('VACUUM ANALYZE');
    const all = { scopes: Object.keys(SCOPES) as Scope[], platformBlog: true };
    const keys = (id: string, wanted = {}) => Promise.all(Array.from({ length: KEYS }, () => api.key(id, wanted)));
    const dataDir = mkdtempSync(join(tmpdir(), 'tutoring-neighbours-'));
    return new Neighbourhood(api, make, await keys(hostile.id, all), await keys(neighbour.id), newcomer.id, dataDir);
  }

  /** Starts a process whose code has run before. */
  async start(settings: Record<string, string> = {}): Promise<ApiProcess> {
    const defaults = { DATABASE_URL: this.api.database.applicationUrl, DATA_DIR: this.dataDir, LOG_LEVEL: 'error' };
    const target = await ApiProcess.start({ ...defaults, TRUST_PROXY: 'true', ...settings });
    const checks = await this.checks();
    const warmUp = [this.usual, ...checks, { ...this.usual, requests: [this.request('/v1/homework?limit=100')] }];
    await load(target.port, ...warmUp.map((lane) => ({ ...lane, rate: 50, seconds: WARM_UP_SECONDS })));
    return target;
  }

  async stop(): Promise<void> {
    await this.make.close();
    await this.api.stop();
    rmSync(this.dataDir, { recursive: true, force: true });
  }

  /** A request of the attacker's organization on a keep-alive connection. */
  request(path: string, request: Parameters<typeof requestOf>[2] = {}, key: string | null = this.hostile[0]!): string {
    return from(ATTACKER, path, key, request);
  }

  /** Requests of strangers with unknown keys. */
  unknownKeys(addresses: string[]): string[] {
    return Array.from({ length: UNKNOWN_KEYS }, (_, n) =>
      from(addresses[n % addresses.length]!, '/v1/homework', `tk_live_${randomBytes(32).toString('hex')}`),
    );
  }

  /** A request without a key from the neighbour's own address. */
  get keyless(): string {
    return from(HOME, '/v1/homework', null);
  }

  /** The neighbour's small reads. */
  get usual(): Traffic {
    return { requests: this.neighbour.map((key) => from(HOME, '/v1/homework', key)), connections: NEIGHBOUR_CONNECTIONS, rate: 20 };
  }

  async measure(target: ApiProcess, { traffic, statuses = [], crowd }: Attack, timing: Timing): Promise<Beside> {
    const checks = await this.checks();
    if (crowd) await load(target.port, ...checks.map((lane) => ({ ...lane, seconds: 1 })));
    const scene = { usual: this.usual, checks, attack: [await traffic(this)], statuses };
    return beside(target.port, scene, timing);
  }

  /** Health checks, and the newcomer's writes. */
  private async checks(): Promise<Traffic[]> {
    const key = await this.api.key(this.newcomer, { scopes: ['accounts:write'] });
    const write = from(NEWCOMER, '/v1/invites', key, { method: 'POST', body: '{"scope":"organization"}' });
    const health = ['/health/ready', '/metrics'].map((path) => from(HOME, path, null));
    return [
      { requests: health, connections: 8, rate: 4 },
      { requests: [write], connections: 8, rate: 2 },
    ];
  }
}

/** The bytes of a request that a proxy passes on for this address. */
function from(address: string, path: string, key: string | null, request: Parameters<typeof requestOf>[2] = {}) {
  return requestOf(path, key, { ...request, headers: [['X-Forwarded-For', address], ...(request.headers ?? [])] });
}
