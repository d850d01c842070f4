import { type Scope, SCOPES } from '@app/access';
import { operationOf } from '../../../apps/api/src/http/openapi/operation.decorator.js';
import { validWrites, writesOf } from '../../support/http/record-for.js';
import { keyedReads, nameOf, send } from '../../support/http/routes.js';
import { TenancySweep } from '../../support/http/tenancy-sweep.js';
import { fixture } from '../../support/process/fixture.js';

const sweep = await fixture(TenancySweep.open());
const { api, fixtures } = sweep;
const Authorization = `Token token=${await api.key(fixtures.a.id, { scopes: Object.keys(SCOPES) as Scope[], platformBlog: true })}`;
const read = (path: string, more: Record<string, string> = {}) => send(api, 'GET', path, { Authorization, ...more });

/** Who is in a class, and a tutor's students and hours, are lists of their own. */
const APART = /^\/v1\/(classrooms|groups|tutors)\/:\w+\/(students|tutors|availabilities)/;

const records = keyedReads(api).filter(({ path }) => /^\/v1\/[\w-]+\/:\w+$/.test(path));

/** What changes a record, or a part of it that cannot be read by itself. */
const changes = writesOf(api).filter(({ path }) => {
  const [, ...parts] = path.replace('/v1/', '').split('/:');
  if (parts.length === 0 || APART.test(path)) return false;
  const whole = records.some((record) => record.path === path);
  return whole || (!keyedReads(api).some((one) => one.path === path) && records.some((one) => path.startsWith(`${one.path}/`)));
});

it('every single record has an ETag, and is a 304 to whoever has it', async () => {
  expect(records.length).toBeGreaterThan(25);
  for (const route of records) {
    const path = route.path.replace(/:(\w+)/, (_all, name: string) => fixtures.a.path[name]!);
    const { status, headers } = await read(path);
    expect([nameOf(route), status, headers.etag]).toEqual([nameOf(route), 200, expect.stringMatching(/^"[\w-]{27}"$/)]);
    const again = await read(path, { 'If-None-Match': headers.etag! });
    expect([nameOf(route), again.status, again.text]).toEqual([nameOf(route), 304, '']);
  }
});

it('every change honours If-Match: of another version it is a 412 and changes nothing, of this one it is done', async () => {
  const wrong: string[] = [];
  const tried = new Set<string>();
  for (const write of await validWrites(changes, fixtures.make, fixtures.a)) {
    const { operation: name, route } = write;
    if (tried.has(name)) continue;
    tried.add(name);
    const one = write.path.split('/').slice(0, 4).join('/');
    const ask = (ifMatch: string) => sweep.write(write, fixtures.a, { Authorization, 'If-Match': ifMatch });
    const before = await read(one);
    const stale = await ask('"another"');
    if (stale.status !== 412) wrong.push(`${name}: ${stale.status} ${stale.text}`);
    if (operationOf(route.handler)?.versioned === undefined) wrong.push(`${name} is not documented`);
    if ((await read(one)).text !== before.text) wrong.push(`${name} changed it`);
    // Who has left is not read.
    const done = await ask(before.headers.etag ?? '*');
    if (done.status >= 300) wrong.push(`${name} of this version: ${done.status} ${done.text}`);
    const { etag } = (await read(one)).headers;
    if (etag && done.headers.etag && done.headers.etag !== etag) wrong.push(`${name} answers another version`);
  }
  expect(wrong).toEqual([]);
  expect(tried.size).toBeGreaterThan(50);
});
