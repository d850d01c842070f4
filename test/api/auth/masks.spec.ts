import type { AddressInfo } from 'node:net';
import { type Scope, SCOPES } from '@app/access';
import { v7 as uuidv7 } from 'uuid';
import { accessOf } from '../../../apps/api/src/http/auth/access.decorators.js';
import { bodyClassOf } from '../../../apps/api/src/http/validation/declared.js';
import { mayBeEmpty } from '../../../apps/api/src/http/validation/read-object.js';
import { readColumns } from '../../support/database/columns.js';
import { createFixtures } from '../../support/data/fixtures.js';
import { TestApi } from '../../support/http/api.js';
import { statusOf } from '../../support/http/catalogue.js';
import { encoded, type ValidWrite, validWrites, writesOf } from '../../support/http/record-for.js';

type Fields = Record<string, unknown>;

const api = await TestApi.shared();
const { make, a: school } = await createFixtures(api);

/** Each write that needs no `read`, with the least that it takes. */
async function leastWrites(): Promise<ValidWrite[]> {
  const routes = writesOf(api).filter(({ handler }) => !scopesOf(handler).includes('read'));
  return (await validWrites(routes, make, school, 1)).map((write) => {
    const shape = bodyClassOf(write.route.handler);
    const body = shape && mayBeEmpty(shape) && statusOf(write.route) === 200 ? {} : write.body;
    return { ...write, body: body && { ...body, ...('slug' in body && { slug: uuidv7() }) } };
  });
}

function scopesOf(handler: object): Scope[] {
  const access = accessOf(handler);
  return access && !access.public ? access.scopes : [];
}

/** Writes a secret into every text of the school and its people that may be any text. @returns how many columns have it */
async function plantSecrets(): Promise<number> {
  const columns = await readColumns((sql) => make.db.query(sql));
  const schools = new Set(columns.filter(({ name }) => name === 'organization_id').map(({ table }) => table));
  let planted = 0;
  for (const { table, name, type, values, reference, generated, key } of columns) {
    if (type !== 'text' || values || reference || generated || key || KEEP.test(`${table}.${name}`)) continue;
    const where = schools.has(table) ? `organization_id = $1` : `id IN (SELECT user_id FROM members WHERE organization_id = $1)`;
    if (!schools.has(table) && table !== 'users') continue;
    const secret = `UPDATE ${table} SET ${name} = 'secret-' || left(md5(random()::text), 8) WHERE ${where}`;
    planted += await make.db.query(secret, [school.id]).then(
      () => 1,
      () => 0,
    );
  }
  return planted;
}

/** What the service itself reads. */
const KEEP = /^(api_keys|idempotency_keys|audit_log|outbox|request_log|locations)\.|timezone|email_normalized|currency/;

const full = await api.key(school.id, { scopes: Object.keys(SCOPES) as Scope[] });

async function send(write: ValidWrite, key: string, once: string | null = uuidv7()) {
  const { port } = api.server.address() as AddressInfo;
  const { type, bytes } = await encoded(write);
  const headers = { Authorization: `Token token=${key}`, 'Content-Type': type, ...(once !== null && { 'Idempotency-Key': once }) };
  const answer = await fetch(`http://127.0.0.1:${port}${write.path}`, { method: write.route.method, headers, body: bytes });
  return { status: answer.status, text: await answer.text(), type: answer.headers.get('content-type') };
}

/**
 * Fields that the answer shows although the record had them before and the request did not send them, and sums that tell what was
 * added to. An action decides the state.
 */
function known(answer: Fields, before: Fields, body: Fields, acts: boolean): string[] {
  const told = Object.entries(answer).filter(([field, value]) => {
    const [shown, was, sent] = [value, before[field], body[field]].map((one) => JSON.stringify(one));
    const sum = typeof value === 'number' && typeof before[field] === 'number' && before[field] !== 0;
    const hidden = ['id', ...(acts ? ['status', 'voided'] : [])].includes(field) || ['null', '[]', '{}', sent].includes(shown);
    return !hidden && (shown === was || sum);
  });
  return told.map(([field]) => field);
}

describe('a key without read', () => {
  it('gets from no write what was stored before, whoever asked first; a key with read does', async () => {
    const [narrow, replayed] = [await leastWrites(), await leastWrites()];
    expect(await plantSecrets()).toBeGreaterThan(40);
    const [leaks, whole] = [[] as string[], [] as string[]];
    for (const [at, write] of narrow.entries()) {
      const [name, once] = [write.operation, uuidv7()];
      const key = await api.key(school.id, { scopes: scopesOf(write.route.handler) });
      const before = await api.get(write.path.split('/').slice(0, 4).join('/'), full);
      const first = await send(write, key, once);
      if (first.status >= 300) leaks.push(`${name} is refused: ${first.text}`);
      const record = JSON.parse(first.text || '{}') as Fields;
      const acts = /:\w+\/(?!restore$)[^:]+$/.test(write.route.path);
      if (before.status === 200) leaks.push(...known(record, before.body as Fields, write.body ?? {}, acts).map((field) => `${name} ${field}`));
      const again = await send(write, key, null);
      for (const { text, type } of [first, again]) if (text && !type?.startsWith('application/json')) leaks.push(`${name} is ${type}`);
      const other = replayed[at]!;
      const [fully, replay] = [await send(other, full, once + '2'), await send(other, key, once + '2')];
      if (fully.status >= 300) leaks.push(`${name} with read: ${fully.text}`);
      for (const { text } of [first, again, replay]) if (text.includes('secret-')) leaks.push(`${name}: ${text}`);
      if (`${fully.text}${(await send(write, full, once)).text}`.includes('secret-')) whole.push(name);
    }
    expect(leaks).toEqual([]);
    // The secrets are there to be shown.
    expect(whole.length).toBeGreaterThan(15);
  });

  it('gets of somebody known by their address the id, and what it sent', async () => {
    const { key, read } = { key: await api.key(school.id, { scopes: ['accounts:write'] }), read: full };
    const sent = { first_name: 'Wrong', last_name: 'Name' };
    for (const status of ['accepted', 'pending', 'archived'] as const) {
      const [student, tutor] = [await make.student(school.id, { status }), await make.tutor(school.id, { status, profile: { bio: 'secret-bio' } })];
      const parent = await make.parent(school.id, { status, children: [school.path.student_id!] });
      for (const [path, { id, email }] of [
        ['students', student],
        ['tutors', tutor],
        ['parents', parent],
      ] as const) {
        const write = writesOf(api).find((route) => route.method === 'POST' && route.path === `/v1/${path}`)!;
        const post = (as: string) => send({ operation: '', route: write, ids: {}, path: write.path, body: { ...sent, email } }, as);
        const { status: code, text } = await post(key);
        const shown = Object.entries(JSON.parse(text) as Fields).filter(([, value]) => value !== null && JSON.stringify(value) !== '[]');
        expect([code < 300, Object.fromEntries(shown)]).toEqual([true, { ...sent, id, email, masked: true }]);
        expect((JSON.parse((await post(read)).text) as Fields).created_at).toEqual(expect.any(String));
      }
    }
  });

  it('gets of what it changed no sum, no name and no time that tells what was there before', async () => {
    const [tutor, student] = [await make.tutor(school.id), await make.student(school.id)];
    const startsAt = new Date('2098-03-02T05:00:00Z');
    const { id } = await make.session(school.id, { tutorId: tutor.id, startsAt, endsAt: new Date('2098-03-02T06:00:00Z') });
    await make.participant(school.id, id, student.id, { status: 'accepted' });
    const key = await api.key(school.id, { scopes: ['sessions:write', 'payments:write', 'tutors:write'] });
    const ask = async (method: string, path: string, body: Fields, as = key) => {
      const route = writesOf(api).find((one) => one.method === method && new RegExp(`^${one.path.replaceAll(/:\w+/g, '[^/]+')}$`).test(path))!;
      return JSON.parse((await send({ operation: '', route, ids: {}, path, body }, as)).text) as Fields;
    };
    expect(await ask('PUT', `/v1/sessions/${id}`, { duration_minutes: 90 })).toMatchObject({
      duration_minutes: 90,
      starts_at: null,
      ends_at: null,
      masked: true,
    });
    const named = await ask('PUT', `/v1/tutors/${tutor.id}`, { first_name: 'Ada' });
    expect(named).toMatchObject({ first_name: 'Ada', last_name: null, full_name: null, masked: true });
    // What a code names is decided by the request.
    for (const { id: subject_id, code } of [await make.subject(school.id), await make.subject(school.id)])
      expect(await ask('PUT', `/v1/sessions/${id}`, { subject_id: code })).toMatchObject({ subject_id });
    const moved = await ask('PUT', `/v1/sessions/${id}`, { starts_at: '2098-03-02T16:00:00+11:00', title: 'Surds' });
    expect(moved).toMatchObject({ starts_at: '2098-03-02T05:00:00.000Z', ends_at: null, duration_minutes: null, title: 'Surds' });
    const invoice = await ask('POST', '/v1/invoices', { student_id: student.id, lines: [{ description: 'Books', unit_amount_cents: 7000 }] });
    expect(invoice).toMatchObject({ amount_due_cents: 7000, status: 'draft' });
    const line = { description: 'Pens', quantity: 1, unit_amount_cents: 200 };
    const added = await ask('POST', `/v1/invoices/${String(invoice.id)}/lines`, line);
    expect(added).toMatchObject({ amount_due_cents: null, line_items: [{ ...line, amount_cents: 200 }], masked: true });
    await ask('POST', `/v1/invoices/${String(invoice.id)}/finalize`, {});
    const payment = await ask('POST', '/v1/payments', { student_id: student.id, amount_cents: 7000, payment_type: 'cash' });
    const refund = () => ask('POST', `/v1/payments/${String(payment.id)}/refund`, { amount_cents: 100 });
    expect(await refund()).toMatchObject({ refund_amount_cents: 100, allocations: [], masked: true });
    expect(await refund()).toMatchObject({ refund_amount_cents: null, allocations: [], masked: true });
  });

  it('gets of an open lead nothing but what it sent', async () => {
    const email = 'asks@canary.example';
    const lead = await make.row('leads', { organizationId: school.id, name: 'Secret', email, emailNormalized: email, phone: '1', notes: 'Custody' });
    const key = await api.key(school.id, { scopes: ['leads:write'] });
    const write = writesOf(api).find(({ path, method }) => method === 'POST' && path === '/v1/leads')!;
    const { text } = await send({ operation: '', route: write, ids: {}, path: write.path, body: { name: 'Me', email, notes: 'Hello' } }, key);
    const shown = Object.entries(JSON.parse(text) as Fields).filter(([, value]) => value !== null);
    expect(Object.fromEntries(shown)).toMatchObject({ id: lead.id, name: 'Me', email, notes: 'Hello', masked: true });
    expect(shown.map(([name]) => name).sort()).toEqual(['email', 'id', 'masked', 'name', 'notes', 'updated_at']);
  });
});
