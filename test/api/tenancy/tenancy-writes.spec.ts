import type { AddressInfo } from 'node:net';
import { v4 as uuidv4, v7 as uuidv7 } from 'uuid';
import { type Scope, SCOPES } from '@app/accounts';
import { bodyKindOf } from '../../../apps/api/src/http/validation/declared.js';
import { AnswerCheck } from '../../support/http/answer-check.js';
import { TestApi } from '../../support/http/api.js';
import { BODIES, MORE_BODIES } from '../../support/http/bodies.js';
import { checksums } from '../../support/database/checksums.js';
import { keyedRoutes, nameOf, type Route } from '../../support/http/routes.js';
import { createFixtures, parametersOf, pathOf, type OrganizationFixture } from '../../support/data/fixtures.js';
import { fixture } from '../../support/process/fixture.js';

const api = await fixture(TestApi.start({ SMTP_URL: 'smtp://127.0.0.1:9' }));
const fixtures = await createFixtures(api);
const all = { scopes: Object.keys(SCOPES) as Scope[], platformBlog: true };
const schools = [fixtures.a, fixtures.b, fixtures.c];
const keys = new Map(await Promise.all(schools.map(async (one) => [one, await api.key(one.id, all)] as const)));

const MALFORMED = ['abc', '1', '0190a6f25c1e7d3a9b4f2e8c6d1a7f30', '{0190a6f2-5c1e-7d3a-9b4f-2e8c6d1a7f30}'];

type Body = Record<string, unknown>;

/** A write whose ids all belong to the school. */
interface Sample {
  route: Route;
  bodyOf: (ids: Record<string, string>) => Body | undefined;
}

/** Uploads are left out, because they name no record. */
function samples(): Sample[] {
  return keyedRoutes(api)
    .filter(({ method, handler }) => method !== 'GET' && bodyKindOf(handler) !== 'upload')
    .flatMap((route) => {
      const operation = `${route.method} ${route.path}`;
      const bodyOf = BODIES[operation];
      if (!bodyOf) throw new Error(`${operation}: give it a body in test/support/http/bodies.ts`);
      return [bodyOf, ...(MORE_BODIES[operation] ?? [])].map((one) => ({ route, bodyOf: one as Sample['bodyOf'] }));
    });
}

const idsOf = (school: OrganizationFixture) => ({ ...school.query, ...school.path });
const views = () => [
  { own: fixtures.a, foreign: [fixtures.b, fixtures.c] },
  { own: fixtures.b, foreign: [fixtures.a, fixtures.c] },
  { own: fixtures.c, foreign: [fixtures.b, fixtures.a] },
];

async function ask(route: Route, own: OrganizationFixture, path: string, body: Body | undefined) {
  const { port } = api.server.address() as AddressInfo;
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: route.method,
    headers: {
      Authorization: `Token token=${keys.get(own)!}`,
      ...(body && { 'Content-Type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, text, headers: Object.fromEntries(response.headers) };
}

/** The fields of the body that hold an id of the school. */
function idFields(body: Body | undefined, own: OrganizationFixture): string[] {
  const ids = new Set(Object.values(idsOf(own)));
  return Object.keys(body ?? {}).filter((name) => ids.has(String(body![name])));
}

it('a write that names another organization’s record is answered as if it did not exist, and changes nothing', async () => {
  const wrong: string[] = [];
  const before = await checksums(fixtures.make);
  let cells = 0;
  const expectAlike = async (name: string, send: (id: string) => Promise<{ status: number; text: string }>, ids: string[]) => {
    const absent = await send(uuidv7());
    if (absent.status !== 404) wrong.push(`${name} of nobody: ${absent.status} ${absent.text}`);
    for (const id of ids) {
      const { status, text } = await send(id);
      cells++;
      if (status !== absent.status || text !== absent.text) wrong.push(`${name}=${id}: ${status} ${text}`);
    }
  };
  for (const { own, foreign } of views()) {
    for (const { route, bodyOf } of samples()) {
      const body = bodyOf(idsOf(own));
      for (const name of parametersOf(route)) {
        const send = (id: string) =>
          ask(route, own, pathOf(route, { ...own, path: { ...own.path, [name]: encodeURIComponent(id) } }), body);
        const ids = [...foreign.map(({ path }) => path[name]!), uuidv4(), ...MALFORMED];
        await expectAlike(`${nameOf(route)} ${name}`, send, ids);
      }
      for (const field of idFields(body, own)) {
        const send = (id: string) => ask(route, own, pathOf(route, own), { ...body, [field]: id });
        const theirs = foreign.map((school) => String(bodyOf(idsOf(school))![field]));
        await expectAlike(`${nameOf(route)} body.${field}`, send, [...theirs, uuidv4()]);
        for (const id of MALFORMED) {
          const { status, text } = await send(id);
          cells++;
          const { detail } = JSON.parse(text) as { detail?: { loc: unknown; type: string }[] };
          const right = status === 422 && JSON.stringify(detail?.[0]?.loc) === `["body","${field}"]`;
          if (!right || detail?.[0]?.type !== 'uuid_parsing') wrong.push(`${nameOf(route)} ${field}=${id}: ${status} ${text}`);
        }
      }
    }
  }
  expect(wrong).toEqual([]);
  expect(cells).toBeGreaterThan(300);
  expect(await checksums(fixtures.make)).toEqual(before);
}); // prettier-ignore

it('each write works for its owner as documented, and touches no other organization’s rows', async () => {
  const wrong: string[] = [];
  const check = new AnswerCheck(keyedRoutes(api));
  const inOrder = samples().sort((a, b) => Number(a.route.method === 'DELETE') - Number(b.route.method === 'DELETE'));
  for (const { own, foreign } of views()) {
    const before = await rowsOf(foreign);
    for (const { route, bodyOf } of inOrder) {
      const { status, text, headers } = await ask(route, own, pathOf(route, own), bodyOf(idsOf(own)));
      if (status >= 300) wrong.push(`${nameOf(route)} ${status} ${text}`);
      wrong.push(...check.faults({ status, headers, body: text }, `${route.method} ${route.path}`));
      for (const other of foreign) {
        const leaked = [other.id, ...other.ids].filter((id) => text.includes(id));
        if (leaked.length > 0) wrong.push(`${nameOf(route)} shows ${leaked.join(', ')}`);
      }
    }
    expect(await rowsOf(foreign)).toEqual(before);
  }
  expect(wrong).toEqual([]);
});

/** Every row that names one of the organizations, in every table that can, except the audit log and API keys. */
async function rowsOf(schools: OrganizationFixture[]): Promise<Record<string, string>> {
  const tables = await fixtures.make.query<{ name: string }>(
    `SELECT table_name AS name FROM information_schema.columns WHERE table_schema = 'public'
      AND column_name = 'organization_id' AND table_name NOT IN ('audit_log', 'api_keys') ORDER BY 1`,
  );
  expect(tables.length).toBeGreaterThan(20);
  const rows: Record<string, string> = {};
  for (const { name } of tables) {
    const [row] = await fixtures.make.query<{ sum: string }>(
      `SELECT count(*) || ' ' || coalesce(md5(string_agg(t::text, '|' ORDER BY t::text)), '') AS sum
        FROM ${name} t WHERE organization_id = ANY ($1)`,
      [schools.map(({ id }) => id)],
    );
    rows[name] = row!.sum;
  }
  return rows;
}
