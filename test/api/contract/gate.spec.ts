import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { importFolder } from '../../../apps/cli/src/import/importer.js';
import { sizeOf, writeDemo } from '../../../apps/cli/src/demo/demo.js';
import { createFixtures } from '../../support/data/fixtures.js';
import { TestApi } from '../../support/http/api.js';
import { CONTRACT, OUR_OPERATIONS } from '../../support/http/catalogue.js';
import { breaking, interfaceOf } from '../../support/http/interface.js';
import { documentOf, keyedReads, keyedRoutes, nameOf, type Route, validPath } from '../../support/http/routes.js';
import { fixture } from '../../support/process/fixture.js';

/** The interface of the last release; `npm run released` writes it. */
const RELEASED = new URL('released.txt', import.meta.url);

// The prefix of the real client's keys.
const api = await fixture(TestApi.start({ API_KEY_PREFIX: 'ei' }));
const { a: full } = await createFixtures(api);
const reads = keyedReads(api);
const withoutIds = reads.filter(({ path }) => !path.includes(':'));

describe('the routes', () => {
  it('are the 93 of the contract and those that the decisions call ours', async () => {
    const decisions = await readFile(new URL('../../../docs/decisions/operations.md', import.meta.url), 'utf8');
    const ours = [...decisions.matchAll(/`((?:GET|POST|PUT|PATCH|DELETE) \/v1\/[^`]+)`/g)].map(([, name]) => name!);
    expect(CONTRACT).toHaveLength(93);
    expect(ours.sort(), 'an operation of our own has its line in docs/decisions/operations.md and in OURS of catalogue.ts').toEqual(
      [...OUR_OPERATIONS].sort(),
    );
    expect(keyedRoutes(api).map(nameOf).sort()).toEqual([...CONTRACT, ...ours].sort());
  });
});

const released = async (): Promise<string[]> => (await readFile(RELEASED, 'utf8')).trimEnd().split('\n');
const versionOf = ({ info }: { info: { version: string } }) => `version ${info.version}`;

/** Whether a document has a version that its additions allow. */
function grown(version: string, before: readonly string[], now: string, after: readonly string[]): boolean {
  const minor = (text: string) => Number(/^version 1\.(\d+)\.0$/.exec(text)![1]);
  return minor(now) > minor(version) || (minor(now) === minor(version) && after.every((line) => before.includes(line)));
}

describe('the document', () => {
  it('takes nothing away from the last release, and demands nothing more', async () => {
    const document = await documentOf(api);
    const lines = interfaceOf(document);
    if (process.env.RECORD_RELEASE) await writeFile(RELEASED, `${[versionOf(document), ...lines].join('\n')}\n`);
    expect(breaking(await released(), lines)).toEqual([]);
  });

  it('has a higher minor version than the last release if it has grown since', async () => {
    const document = await documentOf(api);
    const [version, ...before] = await released();
    expect(grown(version!, before, versionOf(document), interfaceOf(document))).toBe(true);
    expect(grown('version 1.4.0', ['GET /v1/a'], 'version 1.4.0', ['GET /v1/a'])).toBe(true);
    expect(grown('version 1.4.0', ['GET /v1/a'], 'version 1.4.0', ['GET /v1/a', 'GET /v1/b'])).toBe(false);
    expect(grown('version 1.9.0', ['GET /v1/a'], 'version 1.10.0', ['GET /v1/a', 'GET /v1/b'])).toBe(true);
  });

  it.each([
    ['an operation', (line: string) => line !== 'GET /v1/students', 'gone: GET /v1/students'],
    ['a field', (line: string) => !line.startsWith('Student.email:'), 'gone: Student.email: null|string'],
    ['a value', (line: string) => line !== 'GET /v1/sessions ?status = "pending"', 'gone: GET /v1/sessions ?status = "pending"'],
  ])('would be refused without %s', async (_what, kept, told) => {
    const lines = interfaceOf(await documentOf(api));
    expect(breaking(lines, lines.filter(kept))).toEqual([told]);
  });

  it('may say that an answer’s field is never null, but not take null from requests, nor begin to answer it', () => {
    const before = [
      'POST /v1/a takes application/json New',
      'GET /v1/a 200 Thing',
      'New.name: null|string',
      'New.part: Part[]',
      'Part.on: null|string',
      'Thing.at: null|string',
    ];
    const after = (from: string, to: string) => before.map((line) => (line === from ? to : line));
    expect(breaking(before, after('Thing.at: null|string', 'Thing.at: string'))).toEqual([]);
    expect(breaking(after('Thing.at: null|string', 'Thing.at: string'), before)).toEqual(['gone: Thing.at: string']);
    expect(breaking(before, after('New.name: null|string', 'New.name: string'))).toEqual(['gone: New.name: null|string']);
    expect(breaking(before, after('Part.on: null|string', 'Part.on: string'))).toEqual(['gone: Part.on: null|string']);
  });

  it('would be refused with a field that requests newly have to give', async () => {
    const lines = interfaceOf(await documentOf(api));
    expect(breaking(lines, [...lines, 'CreateLead.consent: boolean!'])).toEqual(['newly required: CreateLead.consent: boolean!']);
    expect(breaking(lines, [...lines, 'CreateLead.consent: boolean', 'NewShape.name: string!'])).toEqual([]);
  });
});

describe('every GET with a key of the real client’s prefix', () => {
  /** The routes whose answer does not fit its schema, which the client for tests checks. */
  async function misfits(routes: Route[], key: string, path: (route: Route) => string): Promise<string[]> {
    const faults: string[] = [];
    for (const route of routes) {
      const { status } = await api.get(path(route), key).catch((error: unknown) => ({ status: String(error) }));
      if (status !== 200) faults.push(`${nameOf(route)}: ${status}`);
    }
    return faults;
  }

  it('fits its schema in a full organization', async () => {
    expect(full.key).toMatch(/^ei_live_/);
    expect(await misfits(reads, full.key, (route) => validPath(route, full))).toEqual([]);
  });

  it('fits its schema in an empty one', async () => {
    const key = await api.key((await api.make.organization()).id);
    const optional = withoutIds.filter(({ path }) => path !== '/v1/users');
    expect(await misfits(optional, key, (route) => validPath(route, full))).toEqual([]);
  });

  it('fits its schema in the demo', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'tutoring-demo-'));
    const [demo] = await writeDemo({ folder, ...sizeOf('12'), seed: 7, now: new Date() });
    const { id } = await api.make.organization({ timeZone: demo!.timeZone });
    await importFolder({ url: api.database.ownerUrl, organizationId: id, folder: demo!.folder });
    await rm(folder, { recursive: true });
    const key = await api.key(id, { platformBlog: true });
    const lists = withoutIds.filter(({ path }) => path !== '/v1/users');
    expect(await misfits(lists, key, (route) => validPath(route, full))).toEqual([]);
    // The records of each list, by the ids that it tells.
    const records = reads.filter(({ path }) => /^[^:]+\/:\w+$/.test(path));
    const found: string[] = [];
    for (const route of records) {
      const list = route.path.replace(/\/:\w+$/, '');
      if (!lists.some(({ path }) => path === list)) continue;
      const body = (await api.get(list, key)).body as { id: string }[] | { data: { id: string }[] };
      for (const { id: record } of (Array.isArray(body) ? body : body.data).slice(0, 5)) {
        found.push(...(await misfits([route], key, () => `${list}/${record}`)));
      }
    }
    expect(found).toEqual([]);
  });
});
