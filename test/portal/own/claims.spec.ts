import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { TestApi } from '../../support/http/api.js';
import { TestPortal } from '../../support/portal/portal.js';
import { fixture } from '../../support/process/fixture.js';

const folder = mkdtempSync(join(tmpdir(), 'tutoring-receipts-'));
const shared = { ENCRYPTION_KEY: randomBytes(32).toString('hex'), DATA_DIR: folder };
const api = await fixture(TestApi.start(shared));
const base = `http://127.0.0.1:${(api.server.address() as AddressInfo).port}`;
const portal = await fixture(TestPortal.start({ ...shared, PUBLIC_URL: base }, api.database));
const { make } = portal;
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const EXPENSE = { expense_date: '2026-03-11', category: 'parking', vendor: 'City parking', amount: '12.50' };
const TRIP = { trip_date: '2026-03-11', destination: 'Brunswick', distance_km: '12.5', rate: '0.88' };

const photo = () =>
  sharp({ create: { width: 900, height: 1_200, channels: 3, background: 'white' } })
    .withExif({ IFD0: { Copyright: 'SECRET PLACE' } })
    .jpeg()
    .toBuffer();

async function office() {
  const tutor = await portal.someone('tutor');
  const { id: at, slug } = tutor.organization;
  const owner = await portal.someone('owner', { organization: tutor.organization });
  const mine = `/my/${slug}/claims`;
  const get = (path = '', cookie = tutor.cookie) => portal.get(mine + path, cookie);
  const post = (path: string, fields: Record<string, string | Buffer>, cookie = tutor.cookie) =>
    portal.post(mine + path, { form_token: randomUUID(), ...fields }, cookie);
  const expenses = () => make.query<{ id: string; amount: number; status: string; receipt_file_id: string | null; tutor_id: string }>(
    'SELECT id, amount_cents::int AS amount, status, receipt_file_id, tutor_id FROM expense_claims WHERE organization_id = $1 ORDER BY created_at', [at]); // prettier-ignore
  const trips = () => make.query<{ id: string; amount: number }>('SELECT id, amount_cents::int AS amount FROM mileage_trips WHERE organization_id = $1', [at]); // prettier-ignore
  const kept = () => {
    try {
      return readdirSync(join(folder, 'private', at)).length;
    } catch {
      return 0;
    }
  };
  const audited = async () => (await portal.audited(at)).map(({ operation }) => operation);
  return { ...tutor, at, owner, mine, get, post, expenses, trips, kept, audited };
}

it('an expense is claimed with a photo, which is encoded anew and opens for its tutor and for managers alone', async () => {
  const { organization, at, owner, user, mine, get, post, expenses, kept, audited } = await office();
  const form_token = randomUUID();
  for (let twice = 0; twice < 2; twice++) await post('/expense', { ...EXPENSE, form_token, picture: await photo() }).expect(303);
  const [claim, ...more] = await expenses();
  expect([claim, more, kept(), await audited()]).toMatchObject([{ amount: 1250, status: 'logged', tutor_id: user.id }, [], 1, ['POST /v1/expenses']]);
  const file = await make.find('files', claim!.receipt_file_id!);
  expect(file).toMatchObject({ scope: 'private', ownerId: user.id });
  const list = (await get()).text;
  for (const said of ['Parking, City parking', '$12.50', 'Waiting', `${mine}/expenses/${claim!.id}/receipt`]) expect(list).toContain(said);
  const led = await get(`/expenses/${claim!.id}/receipt`);
  expect([led.status, led.headers.location]).toEqual([303, expect.stringMatching(new RegExp(`^${base}/files/`))]);
  const served = Buffer.from(await (await fetch(led.headers.location!)).arrayBuffer());
  expect([(await sharp(served).metadata()).format, served.includes('SECRET PLACE')]).toEqual(['jpeg', false]);
  const approvals = (await portal.get(`/o/${organization.slug}/money/approvals`, owner.cookie)).text;
  expect(approvals).toContain(`/files/${file.id}`);
  expect((await fetch((await portal.get(`/o/${organization.slug}/files/${file.id}`, owner.cookie)).headers.location!)).status).toBe(200);
  const colleague = await portal.someone('tutor', { organization });
  expect([(await get(`/expenses/${claim!.id}/receipt`, colleague.cookie)).status, (await get('', colleague.cookie)).text.includes('City parking')]).toEqual([404, false]); // prettier-ignore
  // The address does not outlive the tutor's part here.
  await make.query(`UPDATE members SET status = 'archived' WHERE organization_id = $1 AND user_id = $2`, [at, user.id]);
  expect((await fetch(led.headers.location!)).status).toBe(404);
});

it('what is wrong is said beside its field, and nothing is kept', async () => {
  const { post, expenses, trips, kept } = await office();
  const heic = Buffer.concat([Buffer.from([0, 0, 0, 24]), Buffer.from('ftypheic\0\0\0\0mif1heic'), randomBytes(2_000)]);
  const wrong: [string, Record<string, string | Buffer>, string][] = [
    ['/expense', { ...EXPENSE, amount: '', picture: await photo() }, 'amount'],
    ['/expense', { ...EXPENSE, amount: '99999999999', picture: Buffer.alloc(0) }, 'amount'],
    ['/expense', { ...EXPENSE, expense_date: '2199-01-01', picture: await photo() }, 'expense_date'],
    ['/expense', { ...EXPENSE, expense_date: 'yesterday', picture: Buffer.alloc(0) }, 'expense_date'],
    ['/expense', { ...EXPENSE, vendor: 'x'.repeat(201), picture: Buffer.alloc(0) }, 'vendor'],
    ['/expense', { ...EXPENSE, picture: heic }, 'picture'],
    ['/expense', { ...EXPENSE, picture: Buffer.alloc(10 * 1_048_576 + 1) }, 'picture'],
    ['/trip', { ...TRIP, distance_km: 'NaN' }, 'distance_km'],
    ['/trip', { ...TRIP, distance_km: '10001' }, 'distance_km'],
    ['/trip', { ...TRIP, distance_km: '1.2345' }, 'distance_km'],
    ['/trip', { ...TRIP, distance_km: '' }, 'distance_km'],
    ['/trip', { ...TRIP, destination: '' }, 'destination'],
    ['/trip', { ...TRIP, rate: '0' }, 'rate'],
    ['/trip', { ...TRIP, trip_date: '' }, 'trip_date'],
  ];
  for (const [path, fields, at] of wrong) {
    const { status, text } = await post(path, fields);
    expect([path, at, status, text.includes(`id="field-${at}-error"`)]).toEqual([path, at, 422, true]);
  }
  const strange = await post('/expense', { ...EXPENSE, category: 'yacht', picture: Buffer.alloc(0) });
  expect([strange.status, (await post('/expense', EXPENSE)).status]).toEqual([400, 400]);
  expect([await expenses(), await trips(), kept()]).toEqual([[], [], 0]);
});

it('a trip’s amount is distance times rate, and the next one is suggested that rate', async () => {
  const { get, post, trips } = await office();
  await post('/trip', TRIP).expect(303);
  expect(await trips()).toMatchObject([{ amount: 1100 }]);
  const { text } = await get('/trip');
  expect(text).toContain('name="rate" type="text" value="0.88"');
  expect((await get()).text).toContain('Trip to Brunswick, 12.5 km');
});

it('a claim is withdrawn with its receipt, until it is decided, and by nobody else', async () => {
  const { organization, at, get, post, expenses, trips, audited } = await office();
  await post('/expense', { ...EXPENSE, picture: await photo() }).expect(303);
  await post('/trip', TRIP).expect(303);
  const [[claim], [trip]] = [await expenses(), await trips()];
  const colleague = await portal.someone('tutor', { organization });
  expect((await post(`/expenses/${claim!.id}/withdraw`, {}, colleague.cookie)).status).toBe(404);
  expect((await post(`/mileage/${trip!.id}/withdraw`, {}, colleague.cookie)).status).toBe(404);
  await post(`/expenses/${claim!.id}/withdraw`, {}).expect(303);
  expect([await expenses(), await make.query('SELECT FROM files WHERE organization_id = $1', [at])]).toEqual([[], []]);
  await make.query(`UPDATE mileage_trips SET status = 'approved' WHERE organization_id = $1`, [at]);
  await post(`/mileage/${trip!.id}/withdraw`, {}).expect(303);
  expect(await trips()).toHaveLength(1);
  expect((await get()).text).not.toContain('Withdraw');
  expect(await audited()).toEqual(['POST /v1/expenses', 'POST /v1/mileage', 'DELETE /v1/expenses/:claim_id']);
});
