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
