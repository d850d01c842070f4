import type { AddressInfo } from 'node:net';
import { VALUES } from '@app/database';
import { DECLARED } from '../../../apps/api/src/http/openapi/rows.js';
import { createFixtures } from '../../support/data/fixtures.js';
import { TestApi } from '../../support/http/api.js';
import { idsFor, operationOf, recordFor, writesOf } from '../../support/http/record-for.js';
import { type Body, bodiesOf } from '../../support/http/valid-bodies.js';

type Answer = { status: number; body: Body; headers: Record<string, string> };

const api = await TestApi.shared();
const fixtures = await createFixtures(api);
const school = fixtures.a;
const { port } = api.server.address() as AddressInfo;
const key = await api.key(school.id, { scopes: ['read', 'write', 'settings:write', 'students:write', 'sessions:write'] });

async function send(method: string, path: string, body?: Body, headers: Record<string, string> = {}): Promise<Answer> {
  const sent = { ...(body && { 'Content-Type': 'application/json' }), ...headers, Authorization: `Token token=${key}` };
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { method, body: body && JSON.stringify(body), headers: sent });
  const text = await response.text();
  return { status: response.status, body: (text ? JSON.parse(text) : {}) as Body, headers: Object.fromEntries(response.headers) };
} // prettier-ignore

describe.each(DECLARED)('$path', ({ path, kind, without = [] }) => {
  const list = `/v1/${path.split('/:')[0]}`;
  const routeOf = (operation: string) => writesOf(api).find((one) => operationOf(one) === operation)!;
  const bodyOf = async (operation: string) => {
    const route = routeOf(operation);
    return bodiesOf(route, await recordFor(route, fixtures.make, school))[0]!;
  };
  /** A new row, as it is answered. */
  const created = async () => {
    if (!without.includes('create')) return send('POST', list, await bodyOf(`POST ${list}`));
    const ids = await recordFor(routeOf(`DELETE /v1/${path}`), fixtures.make, school);
    return send('GET', `${list}/${ids[path.split(':')[1]!]!}`);
  };
  const may = (part: 'read' | 'create' | 'change' | 'remove') => !without.includes(part);

  it('can be created, read, changed and deleted, each once, in the version that the client knows', async () => {
    const made = await created();
    expect([made.status, made.body]).toEqual([may('create') ? 201 : 200, expect.objectContaining({ id: expect.any(String) as string })]);
    const one = `${list}/${String(made.body.id)}`;
    if (may('read')) {
      const read = await send('GET', one);
      expect(read.body).toEqual(made.body);
      expect(read.headers.etag).toBe(made.headers.etag);
    }
    const other = { 'If-Match': '"another"' };
    let etag = made.headers.etag!;
    if (may('change')) {
      const change = await bodyOf(`PATCH /v1/${path}`);
      expect((await send('PATCH', one, change, other)).status).toBe(412);
      const changed = await send('PATCH', one, change, { 'If-Match': etag });
      expect([changed.status, changed.body]).toEqual([200, expect.objectContaining({ id: made.body.id })]);
      expect((await send('PATCH', one, change, { 'If-Match': etag })).status).toBe(changed.headers.etag === etag ? 200 : 412);
      expect((await send('PATCH', one, {})).body).toEqual(changed.body);
      etag = changed.headers.etag!;
    }
    if (may('remove')) {
      expect((await send('DELETE', one, undefined, other)).status).toBe(412);
      expect((await send('DELETE', one, undefined, { 'If-Match': etag })).status).toBe(204);
      expect((await send('DELETE', one)).status).toBe(404);
      if (may('read')) expect((await send('GET', one)).status).toBe(404);
    }
  });

  it.each(Object.entries(kind.unique ?? {}))('%s: a second row like the first is refused at the field', async (_name, { at, reason }) => {
    const route = routeOf(`POST ${list}`);
    const ids = await recordFor(route, fixtures.make, school);
    const body = bodiesOf(route, ids).find((one) => at[0]! in one)!;
    await send('POST', list, body);
    // Like it in no other text.
    const [field] = at as [string];
    const like = { ...bodiesOf(route, ids).find((one) => field in one), [field]: body[field] };
    const cased = { ...bodiesOf(route, ids).find((one) => field in one), [field]: String(body[field]).toUpperCase() };
    for (const second of field === 'name' ? [like, cased] : [like]) {
      const { status, body: refused } = await send('POST', list, second);
      expect([status, refused]).toMatchObject([422, { detail: [{ loc: ['body', ...at], msg: reason }] }]);
    }
  });

  const STATES = kind.states ? [kind.states.join()] : [];
  it.each(STATES)('one that is not %s is neither changed nor deleted', async () => {
    const { body } = await created();
    const state = (VALUES as Record<string, Record<string, readonly string[]>>)[kind.table]!.status!.find((one) => !kind.states!.includes(one))!;
    await fixtures.make.query(`UPDATE ${kind.table} SET status = $1 WHERE id = $2`, [state, body.id]);
    const refused = [409, { error: { code: 'invalid_state', details: { state, allowed: kind.states } } }];
    for (const method of ['PATCH', 'DELETE']) {
      const sent = await send(method, `${list}/${String(body.id)}`, method === 'PATCH' ? await bodyOf(`PATCH /v1/${path}`) : undefined);
      expect([sent.status, sent.body]).toMatchObject(refused);
    }
  });

  it.each(kind.past ?? [])('%s is not later than today', async (name) => {
    const later = new Date(Date.now() + 3 * 86_400_000).toISOString().slice(0, 10);
    const { status, body } = await send('POST', list, { ...(await bodyOf(`POST ${list}`)), [name]: later });
    expect([status, body]).toMatchObject([422, { detail: [{ loc: ['body', name], msg: 'Must not be later than today.' }] }]);
  });

  if (!may('remove')) return;
  it('one that others name is not deleted, and says by what', async () => {
    const named = await fixtures.make.query<{ by: string }>(
      `SELECT DISTINCT conrelid::regclass::text AS by FROM pg_constraint WHERE contype = 'f' AND confdeltype = 'a' AND confrelid = $1::regclass`,
      [kind.table],
    );
    if (named.length === 0) return;
    const id = idsFor(writesOf(api)[0]!, school)[path.split(':')[1]!]!;
    const { status, body } = await send('DELETE', `${list}/${id}`);
    expect([status, body]).toMatchObject([409, { error: { code: 'still_referenced' } }]);
    const { details } = (body as { error: { details: { referenced_by: string } } }).error;
    expect(named.map(({ by }) => by)).toContain(details.referenced_by);
  });
});
