import { CalendarFixture } from '../../support/data/calendar-fixture.js';
import { TestApi } from '../../support/http/api.js';

const api = await TestApi.shared();
const { make } = api;

type Row = Record<string, unknown>;

async function rows(at: CalendarFixture, path: string): Promise<Row[]> {
  const { status, body } = await at.send<{ data: Row[] }>('get', path);
  expect([path, status]).toEqual([path, 200]);
  return body.data;
}

describe('rate cells', () => {
  it('show what tutors get only if asked', async () => {
    const at = await CalendarFixture.open(api);
    await at.cell({ session_kind: 'group', student_rate_cents: 4500, tutor_pay_mode: 'percentage', tutor_pay_pct: 62.5 });
    await at.cell({ student_rate_cents: 8000, inperson_surcharge_cents: 1000, tutor_pay_mode: 'flat', tutor_flat_rate_cents: 4000 });
    const price = { student_rate_cents: 4500, inperson_surcharge_cents: null };
    const hidden = { tutor_pay_mode: null, tutor_pay_pct: null, tutor_flat_rate_cents: null };
    for (const query of ['', '&include_pay=false']) {
      expect((await rows(at, `/v1/rate-cells?session_kind=group${query}`))[0]).toMatchObject({ ...price, ...hidden });
    }
    const shown = await rows(at, '/v1/rate-cells?include_pay=true');
    expect(shown).toMatchObject([
      { session_kind: null, tutor_pay_mode: 'flat', tutor_pay_pct: null, tutor_flat_rate_cents: 4000 },
      { session_kind: 'group', tutor_pay_mode: 'percentage', tutor_pay_pct: 62.5, tutor_flat_rate_cents: null },
    ]);
  });

  it('are found by band, tier, subject and kind', async () => {
    const at = await CalendarFixture.open(api);
    const [band, tier] = [await make.rateBand(at.school), await make.tutorTier(at.school)];
    const subject = await make.subject(at.school, { code: 'methods_34' });
    await at.cell({ band_id: band.id });
    await at.cell({ tutor_tier_id: tier.id, subject_id: subject.id });
    const count = async (query: string) => (await rows(at, `/v1/rate-cells?${query}`)).length;
    expect(await count(`band_id=${band.id}`)).toBe(1);
    expect(await count(`tutor_tier_id=${tier.id}&subject_id=methods_34`)).toBe(1);
    expect(await count(`subject_id=${subject.id}`)).toBe(1);
    expect(await count(`band_id=${band.id}&subject_id=${subject.id}`)).toBe(0);
    expect(await count('subject_id=physics')).toBe(0);
  });
});

it.each([
  ['rate-bands', 'rate_bands'],
  ['tutor-tiers', 'tutor_tiers'],
])('%s are listed in their order, then by name', async (path, table) => {
  const [at, other] = [await CalendarFixture.open(api), await CalendarFixture.open(api)];
  for (const [name, sort_order] of [['C', 1], ['B', 2], ['A', 2], ['D', 0]] as const) {
    await make.insert(table, [{ name, sort_order }], { organization_id: at.school });
  } // prettier-ignore
  await make.insert(table, [{ name: 'Z' }], { organization_id: other.school });
  expect((await rows(at, `/v1/${path}`)).map(({ name }) => name)).toEqual(['D', 'C', 'A', 'B']);
  expect((await rows(at, `/v1/${path}?limit=1&offset=2`)).map(({ name }) => name)).toEqual(['A']);
});

it('one rate cell shows what tutors get, as its writes do, and has a version', async () => {
  const at = await CalendarFixture.open(api);
  const key = await api.key(at.school, { scopes: ['read', 'settings:write'] });
  const pay = { tutor_pay_mode: 'percentage', tutor_pay_pct: 62.5 };
  const made = await at.send<Row>('post', '/v1/rate-cells', { student_rate_cents: 8000, ...pay }, { key });
  expect(made).toMatchObject({ status: 201, body: { ...pay, tutor_flat_rate_cents: null } });
  const one = `/v1/rate-cells/${String(made.body.id)}`;
  const read = await at.send<Row>('get', one, undefined, { key });
  expect(read.body).toEqual(made.body);
  expect(read.headers.etag).toBe(made.headers.etag);
  const changed = await at.send<Row>('patch', one, { tutor_pay_pct: 65 }, { key });
  expect(changed).toMatchObject({ status: 200, body: { ...pay, tutor_pay_pct: 65 } });
  expect(changed.headers.etag).not.toBe(read.headers.etag);
  expect(await rows(at, '/v1/rate-cells?include_pay=true')).toMatchObject([{ student_rate_cents: 8000, ...pay, tutor_pay_pct: 65 }]);
});
