import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { v7 as uuidv7 } from 'uuid';
import { type Scope, SCOPES } from '@app/access';
import { createFixtures } from '../../support/data/fixtures.js';
import { MoneyFixture, refusal } from '../../support/data/money-fixture.js';
import { TestApi } from '../../support/http/api.js';
import { validWrites, writesOf } from '../../support/http/record-for.js';
import { fixture } from '../../support/process/fixture.js';

const dataDir = mkdtempSync(join(tmpdir(), 'tutoring-repeats-'));
afterAll(() => rmSync(dataDir, { recursive: true }));
const api = await fixture(TestApi.start({ DATA_DIR: dataDir, SMTP_URL: 'smtp://127.0.0.1:9' }));
const { make } = api;
const { port } = api.server.address() as AddressInfo;

/** Rows that every request writes. */
const OF_REQUESTS = ['audit_log', 'request_log', 'idempotency_keys', 'api_keys', 'outbox', 'outbox_attempts'];

/** A checksum of the rows of each other table. */
async function everything(): Promise<Map<string, string>> {
  const tables = await make.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND relname <> ALL ($1) ORDER BY 1`,
    [OF_REQUESTS],
  );
  const sums = tables.map(
    ({ name }) => `SELECT '${name}' AS name, md5(coalesce(string_agg(t::text, ',' ORDER BY t::text), '')) AS sum FROM ${name} t`,
  );
  const rows = await make.query<{ name: string; sum: string }>(sums.join(' UNION ALL '));
  return new Map(rows.map(({ name, sum }) => [name, sum]));
}

it('an action that has happened says so: a repeat that changes nothing is audited as unchanged, and no other', async () => {
  const { a: school } = await createFixtures(api);
  const key = await api.key(school.id, { scopes: Object.keys(SCOPES) as Scope[], platformBlog: true });
  const actions = writesOf(api).filter(({ method, path }) => method === 'POST' && /:\w+\/\w/.test(path));
  const wrong: string[] = [];
  const unchanged = new Set<string>();
  for (const { operation, route, path, body } of await validWrites(actions, make, school)) {
    const ask = async () => {
      const id = uuidv7();
      const headers = { Authorization: `Token token=${key}`, 'Content-Type': 'application/json', 'X-Request-Id': id };
      const { status } = await fetch(`http://127.0.0.1:${port}${path}`, { method: route.method, headers, body: body && JSON.stringify(body) });
      const [row] = await make.query<{ result: string; details: object }>('SELECT result, details FROM audit_log WHERE request_id = $1', [id]);
      return { status, result: row?.result, details: Object.keys(row?.details ?? {}) };
    };
    const first = await ask();
    if (first.status >= 300 || first.result !== 'done') wrong.push(`${operation}: first ${first.status} ${first.result}`);
    const before = await everything();
    const again = await ask();
    if (again.status >= 300) continue;
    const changed = [...(await everything())].flatMap(([name, sum]) => (before.get(name) === sum ? [] : [name]));
    const right = changed.length === 0 ? 'unchanged' : 'done';
    if (again.result !== right) wrong.push(`${operation} ${JSON.stringify(body)}: ${again.result}, but changed were [${changed.join()}]`);
    if (right !== 'unchanged') continue;
    unchanged.add(operation);
    const asked = again.details.filter((name) => name in (body ?? {}) && !name.endsWith('_id'));
    if (asked.length > 0) wrong.push(`${operation}: nothing was done, but its audit row says what was asked: ${asked.join()}`);
  }
  expect(wrong).toEqual([]);
  expect([...unchanged]).toEqual(expect.arrayContaining(['POST /v1/invoices/:invoice_id/void', 'POST /v1/sessions/:session_id/cancel']));
});

describe('a repeat', () => {
  let at: MoneyFixture, s1: string;
  MoneyFixture.inEachTest(api, (...opened) => ([at, [s1]] = opened));

  const audited = async (id: string) =>
    (await make.query<{ details: object; result: string }>(
      `SELECT details - 'fields' AS details, result FROM audit_log WHERE organization_id = $1 AND status < 300 AND $2 IN (details ->> 'session_id', details ->> 'invoice_id')
         AND operation ~ '(cancel|void)$' ORDER BY id`,
      [at.calendar.school, id],
    )).map(({ details, result }) => [result, details]); // prettier-ignore

  it('of a cancellation may leave out the charge and the reason, and is refused with others', async () => {
    const [charged, free] = [await at.lesson(60), await at.lesson(60)];
    const cancel = (id: string, body: object) => at.send<{ status: string; error?: { code: string } }>('post', `/v1/sessions/${id}/cancel`, body);
    const first = await cancel(charged.id, { charge_percent: 50, reason: 'Ill' });
    await cancel(free.id, {});
    for (const body of [{}, { charge_percent: 50 }, { charge_percent: null }, { reason: 'Ill' }, { charge_percent: 50, reason: 'Ill' }])
      expect((await cancel(charged.id, body)).body).toEqual(first.body);
    for (const body of [{ charge_percent: 0 }, { charge_percent: 100 }, { reason: 'Holiday' }])
      expect(refusal(await cancel(charged.id, body))).toEqual([409, 'invalid_state']);
    expect((await cancel(free.id, { charge_percent: 0 })).status).toBe(200);
    for (const body of [{ charge_percent: 1 }, { reason: 'Late' }]) expect(refusal(await cancel(free.id, body))).toEqual([409, 'invalid_state']);
    const session_id = charged.id;
    expect(await audited(session_id)).toEqual([
      ['done', { session_id, charge_percent: 50 }],
      ...Array.from({ length: 5 }, () => ['unchanged', { session_id }]),
    ]);
  });

  it('of a void may leave out the rebilling, and is refused with another', async () => {
    const [rebilled, left] = [await at.issued(s1, 100), await at.issued(s1, 100)];
    await at.void(rebilled.id, { rebill: true });
    await at.void(left.id);
    for (const body of [{}, { rebill: true }, { rebill: null }]) expect((await at.void(rebilled.id, body)).status).toBe(200);
    expect((await at.void(left.id, { rebill: false })).status).toBe(200);
    expect(refusal((await at.void(rebilled.id, { rebill: false })) as never)).toEqual([409, 'invalid_state']);
    expect(refusal((await at.void(left.id, { rebill: true })) as never)).toEqual([409, 'invalid_state']);
    const [invoice_id, other] = [rebilled.id, left.id];
    expect(await audited(invoice_id)).toEqual([
      ['done', { invoice_id, rebill: true }],
      ...Array.from({ length: 3 }, () => ['unchanged', { invoice_id }]),
    ]);
    expect(await audited(other)).toEqual([['done', { invoice_id: other, rebill: false }], ['unchanged', { invoice_id: other }]]); // prettier-ignore
  });
});
