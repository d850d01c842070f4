import supertest from 'supertest';
import { v7 as uuidv7 } from 'uuid';
import { Vault } from '@app/config';
import { openEmail } from '@app/jobs';
import { TestApi } from '../../support/http/api.js';

const api = await TestApi.shared();
const { make } = api;

async function open() {
  const { id: school } = await make.organization({ name: 'Wattle Lane', timeZone: 'Australia/Melbourne' });
  const owner = await make.member(school, { role: 'owner' });
  await make.member(school, { role: 'admin' });
  const key = await api.key(school, { name: 'Website', scopes: ['read', 'settings:write'] });
  const patch = async (body: object, as = key, headers: Record<string, string> = {}) => {
    const answer = await supertest(api.server).patch('/v1/org').set('Authorization', `Token token=${as}`).set(headers).send(body);
    return { status: answer.status, body: answer.body as Record<string, unknown> };
  };
  const mails = async () => {
    const rows = await make.query<{ recipient: string; payload: Buffer; gathered: Buffer[] | null }>(
      // Gathered with the notice of the new key.
      'SELECT recipient, payload, gathered FROM outbox WHERE organization_id = $1',
      [school],
    );
    const vault = api.app.get(Vault, { strict: false });
    const all = rows.flatMap(({ recipient, payload, gathered }) =>
      [payload, ...(gathered ?? [])].map((one) => [recipient, openEmail(vault, one).settings] as const),
    );
    return all.filter(([, settings]) => settings !== undefined);
  };
  return { school, owner, key, patch, mails };
}

it('changes name, terms and time zone; owners are told in full, and sessions keep their instant', async () => {
  const { school, owner, key, patch, mails } = await open();
  const tutor = await make.tutor(school);
  for (const [status, startsAt] of [['scheduled', '2098-03-02T05:00:00Z'], ['cancelled', '2098-03-03T05:00:00Z'], ['scheduled', '2026-03-02T05:00:00Z']] as const) {
    const start = new Date(startsAt);
    await make.session(school, { tutorId: tutor.id, status, startsAt: start, endsAt: new Date(start.getTime() + 3_600_000) });
  } // prettier-ignore
  const before = await api.get('/v1/org', key);
  expect(before.body).toMatchObject({ id: school, name: 'Wattle Lane', time_zone: 'Australia/Melbourne', payment_terms_days: 14, app_url: null });
  const change = { name: 'Wattle Lane Tutoring', time_zone: 'Australia/Perth', payment_terms_days: 21 };
  expect((await patch(change, key, { 'If-Match': '"another"' })).status).toBe(412);
  const { status, body } = await patch(change, key, { 'If-Match': before.headers.etag as string });
  expect([status, body]).toMatchObject([200, { ...change, currency: 'AUD', moved_sessions: 1 }]);
  expect((await api.get('/v1/me', key)).body).toMatchObject({ org_name: 'Wattle Lane Tutoring', timezone: 'Australia/Perth' });
  const told = [
    { name: 'Name', before: 'Wattle Lane', after: 'Wattle Lane Tutoring' },
    { name: 'Time zone', before: 'Australia/Melbourne', after: 'Australia/Perth' },
    { name: 'Days to pay', before: '14', after: '21' },
  ];
  expect(await mails()).toEqual([[owner.email, { by: 'The API key Website', changes: told }]]);
  // Again, it changes nothing and tells nobody. Zones with the same clocks move nothing.
  expect((await patch(change)).body).toMatchObject({ moved_sessions: 0 });
  expect(await mails()).toHaveLength(1);
  expect((await patch({ time_zone: 'Asia/Shanghai' })).body).toMatchObject({ moved_sessions: 0 });
});

it('changes the currency while there is no money', async () => {
  const { school, patch } = await open();
  for (const wrong of ['JPY', 'KWD', 'XXX', 'aud', 'XAU']) expect([wrong, (await patch({ currency: wrong })).status]).toEqual([wrong, 422]);
  expect((await patch({ currency: 'NZD' })).body).toMatchObject({ currency: 'NZD' });
  await make.invoice(school, (await make.student(school)).id, { status: 'draft', invoiceNumber: null });
  expect(await patch({ currency: 'AUD' })).toMatchObject({ status: 409, body: { error: { code: 'has_money' } } });
  expect(await patch({ currency: 'NZD' })).toMatchObject({ status: 200 });
});

describe('another currency, at the same time as money', () => {
  const WAITS = `SELECT FROM pg_locks WHERE locktype = 'transactionid' AND NOT granted`;

  /** Does something while a transaction of somebody else's is open, and waits for it. */
  async function beside<T>(statements: string[], school: string, ask: () => Promise<T>): Promise<T> {
    const other = make.db.createQueryRunner();
    await other.startTransaction();
    for (const one of statements) await other.query(one, [school]);
    const answer = ask();
    try {
      await vi.waitFor(async () => expect(await make.query(WAITS)).not.toEqual([]), { timeout: 20_000, interval: 50 });
    } finally {
      await other.commitTransaction();
      await other.release();
    }
    return answer;
  }

  it.each(['payments', 'invoices', 'payouts', 'complete'])('is that of the money: %s', async (what) => {
    const { school } = await open();
    const key = await api.key(school, { scopes: ['read', 'payments:write', 'payroll:write', 'sessions:write'] });
    const [tutor, student] = [await make.tutor(school), await make.student(school)];
    const session = await make.session(school, { tutorId: tutor.id, studentRateCents: 8000, tutorPayRateCents: 4000 });
    await make.participant(school, session.id, student.id, { status: 'accepted', rateCents: 8000 });
    const asks: Record<string, [method: 'post' | 'put', path: string, body: object]> = {
      payments: ['post', '/v1/payments', { student_id: student.id, amount_cents: 1, payment_type: 'cash' }],
      invoices: ['post', '/v1/invoices', { student_id: student.id }],
      payouts: ['post', '/v1/payouts', { tutor_id: tutor.id, amount_cents: 1 }],
      complete: ['put', `/v1/sessions/${session.id}/complete`, {}],
    };
    const [method, path, body] = asks[what]!;
    const change = ['SELECT FROM organizations WHERE id = $1 FOR UPDATE', `UPDATE organizations SET currency = 'NZD' WHERE id = $1`];
    const { status } = await beside(change, school, async () =>
      supertest(api.server)[method](path).set('Authorization', `Token token=${key}`).send(body),
    );
    expect(status).toBeLessThan(300);
    const money = await make.query(`SELECT currency FROM ${what === 'complete' ? 'invoices' : what} WHERE organization_id = $1`, [school]);
    expect(money).toEqual([{ currency: 'NZD' }]);
  });

  it('is refused once the money is there', async () => {
    const { school, patch } = await open();
    const { id } = await make.tutor(school);
    const adjusted = `INSERT INTO adjustments (id, organization_id, tutor_id, period_start, period_end, amount_cents)
      VALUES (gen_random_uuid(), $1, '${id}', '2026-05-01', '2026-05-01', 1)`;
    expect(await beside([adjusted], school, () => patch({ currency: 'NZD' }))).toMatchObject({ status: 409, body: { error: { code: 'has_money' } } });
  });
});

it('takes nothing from a key that families are told to open or pay', async () => {
  const { key, patch, mails } = await open();
  const portal = ['app_url', 'privacy_url', 'postal_address', 'phone', 'payment_instructions', 'business_number', 'reply_to', 'pay_url', 'slug'];
  for (const name of portal) expect([name, (await patch({ [name]: 'https://example.org/x' })).status]).toEqual([name, 422]);
  expect((await patch({ name: 'X' }, await api.key((await open()).school, { scopes: ['write', 'read'] }))).status).toBe(403);
  const blind = await patch({ name: 'Renamed' }, await api.key((await open()).school, { scopes: ['settings:write'] }), {
    'Idempotency-Key': uuidv7(),
  });
  expect(blind.body).toMatchObject({ name: 'Renamed', time_zone: null, moved_sessions: 0, masked: true });
  expect([await mails(), (await api.get('/v1/org', key)).status]).toEqual([[], 200]);
});
