import supertest from 'supertest';
import { v7 as uuidv7 } from 'uuid';
import type { Scope } from '@app/access';
import { TestApi } from '../../support/http/api.js';

interface ShownLead {
  id: string;
  name: string;
  email: string | null;
  phone: string | null;
  status: string;
  notes: string | null;
  assigned_tutor_id: string | null;
  converted_at: string | null;
}
type Sent = { status: number; body: ShownLead & { error?: { code: string; details: object }; detail?: { loc: unknown[]; type: string }[] } };

const api = await TestApi.shared();
const { make } = api;
const { id: school } = await make.organization();
const { id: other } = await make.organization();
const key = await api.key(school, { scopes: ['read', 'leads:write'] });
const foreign = await api.key(other, { scopes: ['read', 'leads:write'] });

async function send(
  method: 'get' | 'post' | 'patch' | 'delete',
  path: string,
  body?: object,
  as = key,
  headers: Record<string, string> = {},
): Promise<Sent> {
  const request = supertest(api.server)[method](path).set('Authorization', `Token token=${as}`).set(headers);
  return body ? request.send(body) : request;
}
const post = (body: object, as = key) => send('post', '/v1/leads', body, as);
const patch = (id: string, body: object, as = key) => send('patch', `/v1/leads/${id}`, body, as);
const address = () => `${uuidv7()}@example.org`;

describe('a lead', () => {
  it('is recorded with write, or with leads:write alone', async () => {
    for (const scopes of [['write'], ['leads:write']] as Scope[][]) {
      const own = await api.key(school, { scopes });
      const email = address();
      expect(await post({ name: ' Priya Sharma ', email, subject: 'Methods' }, own)).toMatchObject({
        status: 201,
        body: { status: 'new', name: 'Priya Sharma', email, phone: null, converted_at: null },
      });
    }
    const narrow = await api.key(school, { scopes: ['leads:write'] });
    expect((await send('get', '/v1/leads', undefined, narrow)).status).toBe(403);
    expect((await send('get', '/v1/payments', undefined, narrow)).status).toBe(403);
    for (const scopes of [['read'], ['payments:write'], ['accounts:write']] as Scope[][]) {
      expect((await post({ name: 'Priya', email: address() }, await api.key(school, { scopes }))).status).toBe(403);
    }
  });

  it.each([
    [{ name: 'Priya' }, ['body', 'email'], 'missing'],
    [{ name: 'Priya', email: null, phone: null }, ['body', 'email'], 'missing'],
    [{ name: ' ', phone: '1' }, ['body', 'name'], 'string_too_short'],
    [{ phone: '1' }, ['body', 'name'], 'missing'],
    [{ name: 'Priya', email: 'priya@' }, ['body', 'email'], 'value_error'],
    [{ name: 'Priya', phone: '1', status: 'lost' }, ['body', 'status'], 'extra_forbidden'],
    [{ name: 'Priya', phone: '1', source_url: 'javascript:alert(1)' }, ['body', 'source_url'], 'value_error'],
  ])('%j is refused', async (body, loc, type) => {
    expect(await post(body)).toMatchObject({ status: 422, body: { detail: [{ loc, type }] } });
  });

  it('of the same address, in any case, within a day is the same one, with what was said anew', async () => {
    const email = address();
    const { body: first } = await post({ name: 'Priya', email, phone: '0400', notes: 'Mondays' });
    const again = await post({ name: 'Priya Sharma', email: email.toUpperCase(), notes: 'Tuesdays' });
    expect(again).toMatchObject({ status: 200, body: { id: first.id, name: 'Priya Sharma', phone: '0400', notes: 'Tuesdays' } });
    const elsewhere = await post({ name: 'Priya', email }, foreign);
    expect(elsewhere.status).toBe(201);
    expect(elsewhere.body.id).not.toBe(first.id);

    await patch(first.id, { status: 'converted' });
    const next = await post({ name: 'Priya', email });
    expect(next.status).toBe(201);
    await make.query(`UPDATE leads SET created_at = now() - interval '25 hours' WHERE id = $1`, [next.body.id]);
    expect((await post({ name: 'Priya', email })).status).toBe(201);
    // A phone number is no address: a family may share it.
    for (const status of [201, 201]) expect((await post({ name: 'Priya', phone: '0400' })).status).toBe(status);
  });

  it('is added to by a form, whose key has no read, and replaced in nothing', async () => {
    const [form, email] = [await api.key(school, { scopes: ['leads:write'] }), address()];
    const { body: first } = await post({ name: 'Priya', email, phone: '0400', notes: 'Mondays' });
    await patch(first.id, { staff_notes: 'Custody dispute', status: 'contacted' });
    const forms = [
      { name: 'Somebody else', email, phone: '0499', subject: 'Art', notes: 'Tuesdays' },
      { name: 'Priya', email, subject: 'Art', notes: 'Tuesdays' },
    ];
    for (const body of forms) {
      const { status, body: said } = await post(body, form);
      expect([status, said.id, said.phone, JSON.stringify(said).includes('ustody')]).toEqual([200, first.id, body.phone ?? null, false]);
    }
    const stored = (await send('get', `/v1/leads/${first.id}`)).body;
    const kept = { name: 'Priya', phone: '0400', subject: 'Art', status: 'contacted', staff_notes: 'Custody dispute' };
    expect(stored).toMatchObject({ ...kept, notes: 'Mondays\n\nSomebody else\n0499\nTuesdays' });
    const full = { name: 'Priya', email, notes: '𝔸'.repeat(5000) };
    expect((await post(full, form)).status).toBe(200);
    const { notes } = (await send('get', `/v1/leads/${first.id}`)).body;
    expect([Array.from(notes!).length, notes!.startsWith('Mondays')]).toEqual([5000, true]);
    // A form that may read corrects; the staff's notes stay.
    expect((await post({ name: 'P.', email, notes: 'New' })).body).toMatchObject({ name: 'P.', notes: 'New', staff_notes: 'Custody dispute' });
    expect((await patch(first.id, { staff_notes: null })).body).toMatchObject({ staff_notes: null, notes: 'New' });
    expect((await post({ name: 'P.', email, staff_notes: 'x' }, form)).status).toBe(422);
  });

  it('is one, however many ask at the same time', async () => {
    const email = address();
    const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => post({ name: 'Priya', email: n % 2 ? email : email.toUpperCase() })));
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array<number>(19).fill(200), 201]);
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
  });

  it('is replayed with its status', async () => {
    const email = address();
    await post({ name: 'Priya', email });
    for (const replayed of [undefined, 'true']) {
      const sent = await supertest(api.server)
        .post('/v1/leads')
        .set({ Authorization: `Token token=${key}`, 'Idempotency-Key': email })
        .send({ name: 'Priya', email });
      expect([sent.status, sent.headers['idempotency-replayed']]).toEqual([200, replayed]);
    }
  });

  it('has an accepted tutor of the organization', async () => {
    const tutor = (await make.tutor(school)).id;
    const strangers = [
      (await make.tutor(other)).id,
      (await make.tutor(school, { status: 'archived' })).id,
      (await make.student(school)).id,
      uuidv7(),
    ];
    const { body: lead } = await post({ name: 'Priya', email: address(), assigned_tutor_id: tutor });
    expect(lead.assigned_tutor_id).toBe(tutor);
    for (const stranger of strangers) {
      expect((await post({ name: 'Priya', email: address(), assigned_tutor_id: stranger })).status).toBe(404);
      expect((await patch(lead.id, { assigned_tutor_id: stranger })).status).toBe(404);
    }
    expect(await patch(lead.id, { assigned_tutor_id: null, notes: 'Left' })).toMatchObject({
      status: 200,
      body: { assigned_tutor_id: null, notes: 'Left' },
    });
  });

  it('moves from state to state, and stays converted', async () => {
    const { body: lead } = await post({ name: 'Priya', email: address() });
    const path = `/v1/leads/${lead.id}`;
    for (const status of ['contacted', 'consultation_booked', 'contacted', 'lost', 'lost', 'contacted', 'new']) {
      expect((await patch(lead.id, { status })).body).toMatchObject({ status, converted_at: null });
    }
    const { body: converted } = await patch(lead.id, { status: 'converted' });
    expect(converted.converted_at).not.toBeNull();
    expect((await patch(lead.id, { status: 'converted' })).body).toEqual(converted);
    expect(await patch(lead.id, { status: 'new' })).toMatchObject({
      status: 409,
      body: { error: { code: 'invalid_state', details: { state: 'converted', allowed: ['contacted', 'lost'] } } },
    });
    expect((await patch(lead.id, {})).body).toEqual(converted);
    expect((await patch(lead.id, { status: 'won' })).status).toBe(422);
    expect((await patch(lead.id, { status: 'lost' }, foreign)).status).toBe(404);
    expect((await send('get', path, undefined, foreign)).status).toBe(404);
    expect((await send('get', path)).body).toEqual(converted);
    const rows = await make.query<{ result: string }>(
      `SELECT result FROM audit_log WHERE details ->> 'lead_id' = $1 AND operation LIKE 'PATCH%' AND status = 200`,
      [lead.id],
    );
    expect(rows.map(({ result }) => result)).toEqual(Array<string>(10).fill('done'));
  });
});

it('DELETE forgets a lead, with a key that reads', async () => {
  const { id } = (await post({ name: 'Priya', email: address() })).body;
  const remove = async (as = key) => (await supertest(api.server).delete(`/v1/leads/${id}`).set('Authorization', `Token token=${as}`)).status;
  expect(await remove(await api.key(school, { scopes: ['leads:write'] }))).toBe(403);
  expect([await remove(foreign), await remove(), await remove()]).toEqual([404, 204, 404]);
  expect((await send('get', `/v1/leads/${id}`)).status).toBe(404);
});
