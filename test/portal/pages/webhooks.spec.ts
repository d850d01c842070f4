import { randomUUID } from 'node:crypto';
import { type Someone, TestPortal } from '../../support/portal/portal.js';
import { fixture } from '../../support/process/fixture.js';

const portal = await fixture(TestPortal.start());
const { make } = portal;

const URL = 'https://hooks.example.org/tutoring';
const baseOf = ({ organization }: Someone) => `/o/${organization.slug}/webhooks`;
const look = async (someone: Someone, path = '') => (await portal.get(baseOf(someone) + path, someone.cookie).expect(200)).text;
const post = (someone: Someone, path: string, fields: Record<string, string | string[]> = {}) =>
  portal.post(baseOf(someone) + path, { form_token: randomUUID(), ...fields }, someone.cookie);
const secretIn = (html: string) => /id="secret"[^>]*value="([^"]+)"/.exec(html)?.[1];
const endpointsOf = ({ organization }: Someone) =>
  make.query<{ id: string; url: string; event_types: string[]; description: string | null; disabled_reason: string | null; created_by: string }>(
    'SELECT * FROM webhook_endpoints WHERE organization_id = $1 ORDER BY created_at, id',
    [organization.id],
  );
/** An owner with an endpoint. */
async function open(fields: Record<string, string | string[]> = {}) {
  const someone = await portal.someone('owner');
  const { text } = await post(someone, '/new', { url: URL, events: 'all', description: '', ...fields }).expect(200);
  const [endpoint] = await endpointsOf(someone);
  return { someone, text, endpoint: endpoint!, secret: secretIn(text)! };
}

it('begins empty, with how to begin', async () => {
  const someone = await portal.someone('admin');
  expect(await look(someone)).toContain('Create your first endpoint');
  expect(await look(someone, '/deliveries')).toContain('No calls yet');
  expect(await look(someone, '/deliveries?status=dead')).toContain('No matching calls');
});

it('creates an endpoint: only that page shows the secret, and a form that is sent twice counts once', async () => {
  const { someone, text, endpoint, secret } = await open({ events: 'some', event_types: ['session.*', 'invoice.paid'], description: 'Accounting' });
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect(endpoint).toMatchObject({ url: URL, event_types: ['session.*', 'invoice.paid'], description: 'Accounting', created_by: someone.user.id });
  expect(text).toContain('See the test call');
  for (const path of ['', `/${endpoint.id}`, `/${endpoint.id}/change`, `/${endpoint.id}/rotate`, '/deliveries']) {
    const page = await look(someone, path);
    expect(page).not.toContain(secret);
    expect(page).toContain(path.endsWith('rotate') ? URL : 'Accounting');
  }
  expect(JSON.stringify(portal.logged)).not.toContain(secret);
  const form_token = randomUUID();
  const twice = { form_token, url: URL, events: 'all' };
  await post(someone, '/new', twice).expect(200);
  expect((await post(someone, '/new', twice).expect(303)).headers.location).toBe(baseOf(someone));
  expect(await endpointsOf(someone)).toHaveLength(2);
  expect((await portal.audited(someone.organization.id)).map(({ operation }) => operation)).toEqual(['POST /v1/webhook-endpoints', 'POST /v1/webhook-endpoints']);
}); // prettier-ignore

it.each(['', 'x', 'ftp://x.example', 'https://user:never@x.example/'])('refuses the address %j at its field', async (url) => {
  const someone = await portal.someone('owner');
  const { text } = await post(someone, '/new', { url, events: 'all' }).expect(422);
  expect(text).toMatch(/name="url"[^>]*aria-invalid="true"/);
  expect(await endpointsOf(someone)).toEqual([]);
});

it('refuses types that do not exist, and keeps what was chosen', async () => {
  const someone = await portal.someone('owner');
  const { text } = await post(someone, '/new', { url: URL, events: 'some', event_types: ['invoice.paid', 'nothing.done'] }).expect(422);
  expect(text).toContain('event-types-error');
  expect(text).toMatch(/value="invoice.paid" checked/);
  // None chosen would mean all.
  expect((await post(someone, '/new', { url: URL, events: 'some' }).expect(422)).text).toContain('event-types-error');
  expect(await endpointsOf(someone)).toEqual([]);
});

it('changes, switches off and on, and deletes', async () => {
  const { someone, endpoint } = await open();
  await post(someone, `/${endpoint.id}/change`, { url: 'https://b.example/', events: 'some', event_types: 'student.*', description: '' }).expect(303);
  expect(await endpointsOf(someone)).toMatchObject([{ url: 'https://b.example/', event_types: ['student.*'], description: null }]);
  await post(someone, `/${endpoint.id}/disable`).expect(303);
  expect(await endpointsOf(someone)).toMatchObject([{ disabled_reason: 'request' }]);
  expect(await look(someone)).toMatch(/<span class="chip">Off/);
  await post(someone, `/${endpoint.id}/enable`).expect(303);
  expect(await look(someone, `/${endpoint.id}`)).toMatch(/<span class="chip good">On/);
  await post(someone, `/${endpoint.id}/delete`).expect(303);
  expect(await endpointsOf(someone)).toEqual([]);
});

it('says how an endpoint is doing', async () => {
  const { someone, endpoint } = await open();
  const set = (values: string) => make.query(`UPDATE webhook_endpoints SET ${values} WHERE id = $1`, [endpoint.id]);
  await set(`failing_since = now() - interval '2 days', failed_at = now()`);
  expect(await look(someone)).toMatch(/chip warn">Failing[^]*Every call since/);
  await set(`disabled_at = now(), disabled_reason = 'failing'`);
  expect(await look(someone)).toContain('Switched off after five days in which every call failed');
  await set(`disabled_reason = 'gone'`);
  expect(await look(someone, `/${endpoint.id}`)).toContain('it answered 410');
});

it('replaces the secret', async () => {
  const { someone, endpoint, secret } = await open();
  const { text } = await post(someone, `/${endpoint.id}/rotate`).expect(200);
  expect(secretIn(text)).toMatch(/^whsec_/);
  expect(secretIn(text)).not.toBe(secret);
  expect(await look(someone, `/${endpoint.id}`)).toContain('being replaced');
});

it('shows each call with its answer, finds it, and sends it again', async () => {
  const { someone, endpoint } = await open();
  const { id: school } = someone.organization;
  const [test] = await make.query<{ id: string }>(`SELECT id FROM outbox WHERE organization_id = $1 AND topic = 'webhook'`, [school]);
  expect(await look(someone, `/deliveries/${test!.id}`)).toContain('On its way');
  await make.query(
    `UPDATE outbox SET status = 'dead', attempts = 1, tried_at = now(), finished_at = now(), response_status = 500, duration_ms = 87,
       last_error = 'http_500', answer = '<b>Sorry</b>', created_at = now() - interval '1 minute' WHERE id = $1`,
    [test!.id],
  );
  const page = await look(someone, `/deliveries/${test!.id}`);
  for (const words of ['500', '87 ms', '&lt;b&gt;Sorry&lt;/b&gt;', 'http_500', 'Given up', test!.id]) expect(page).toContain(words);
  const tomorrow = new Date(Date.now() + 2 * 86_400_000).toISOString().slice(0, 10);
  for (const [query, found] of [
    ['?status=dead', true],
    ['?status=sent', false],
    ['?type=webhook', true],
    ['?type=webhook.*', true],
    ['?type=session', false],
    [`?endpoint=${endpoint.id}`, true],
    [`?since=${tomorrow}`, false],
    ['?since=2026-01-01', true],
    ['?since=2026-99-99&status=x&type=%27', true],
  ] as const)
    expect([query, (await look(someone, `/deliveries${query}`)).includes(`/deliveries/${test!.id}`)]).toEqual([query, found]);
  await post(someone, `/deliveries/${test!.id}/replay`).expect(303);
  expect(await make.query('SELECT status, attempts FROM outbox WHERE id = $1', [test!.id])).toEqual([{ status: 'queued', attempts: 0 }]);
  const sent = await post(someone, `/${endpoint.id}/test`).expect(303);
  expect(sent.headers.location).toContain('/deliveries/');
  expect((await post(someone, `/${endpoint.id}/test`).expect(303)).headers.location).toBe(`${baseOf(someone)}/${endpoint.id}`);
});

it('has at most ten', async () => {
  const { someone } = await open();
  for (let more = 0; more < 9; more++) await post(someone, '/new', { url: URL, events: 'all' }).expect(200);
  expect(await look(someone)).not.toContain('New endpoint');
  expect((await post(someone, '/new', { url: URL, events: 'all' }).expect(422)).text).toContain('at most 10');
});

it('is not found by others', async () => {
  const { endpoint } = await open();
  const other = await portal.someone('owner');
  for (const path of [`/${endpoint.id}`, `/${endpoint.id}/change`, `/${endpoint.id}/rotate`, `/${endpoint.id}/delete`])
    await portal.get(baseOf(other) + path, other.cookie).expect(404);
  for (const action of ['change', 'rotate', 'delete', 'enable', 'disable', 'test'])
    await post(other, `/${endpoint.id}/${action}`, { url: URL }).expect(404);
});
