import supertest from 'supertest';
import { v7 as uuidv7 } from 'uuid';
import type { Scope } from '@app/access';
import { Random } from '../../support/data/random.js';
import type { TutorWish } from '../../support/data/factories.js';
import { TestApi } from '../../support/http/api.js';

interface ShownTutor {
  id: string;
  distance_km: number | null;
  covers_area: boolean | null;
}

const api = await TestApi.shared();
const { make } = api;
const { id: school } = await make.organization();
const key = await api.key(school);
const methods = await make.subject(school, { name: 'Mathematical Methods', code: 'methods' });

// Made up: a tenth of a degree of latitude is 11.1 km.
await make.query(`INSERT INTO places (postcode, suburb, lat, lng) VALUES
  ('9001', 'Northside', -37.0, 145.0), ('9002', 'Middleton', -37.1, 145.0), ('9003', 'Southbank', -37.5, 145.0)
  ON CONFLICT (postcode) DO UPDATE SET suburb = excluded.suburb`);

type Profile = NonNullable<TutorWish['profile']>;

/** An accepted tutor with this profile, who teaches Methods unless said otherwise. */
async function tutor(profile: Profile, teaches = true, more: TutorWish = {}): Promise<string> {
  const { id } = await make.tutor(school, { ...more, profile });
  if (teaches) await make.tutorSubject(school, id, methods.id);
  return id;
}

const everywhere = await tutor({ teachingMode: 'in_person', servesAllAreas: true });
const byName = await tutor({ teachingMode: 'both', servicePostcodes: ['9002'], inPersonArrangements: ['at_home'] });
const near = await tutor({ teachingMode: 'in_person', homePostcode: '9001', maxTravelKm: 12 }, false);
const notQuite = await tutor({ teachingMode: 'both', homePostcode: '9001', maxTravelKm: 11 });
const online = await tutor({ teachingMode: 'online', servesAllAreas: true, servicePostcodes: ['9002'], homePostcode: '9002', maxTravelKm: 50 });
const undecided = await tutor({ servesAllAreas: true }, false);
await tutor({ teachingMode: 'both', servesAllAreas: true }, true, { status: 'archived' });
await tutor({ teachingMode: 'both', servesAllAreas: true }, true, { status: 'pending' });
await make.member(school, { role: 'admin' });
const { id: elsewhere } = await make.organization();
await make.tutor(elsewhere, { profile: { teachingMode: 'both', servesAllAreas: true } });

async function get<Body>(path: string): Promise<Body> {
  const { status, body } = (await api.get(`/v1/coverage/${path}`, key)) as { status: number; body: unknown };
  if (status !== 200) throw new Error(`${path} ${status} ${JSON.stringify(body)}`);
  return body as Body;
}
const tutors = async (query = '') => (await get<{ data: ShownTutor[] }>(`tutors?${query}`)).data;
const ids = async (query = '') => (await tutors(query)).map(({ id }) => id).sort();
const status = async (path: string) => (await api.get(`/v1/coverage/${path}`, key)).status;

describe('the tutors', () => {
  it('are the accepted staff with a profile, filtered by subject, by way and by arrangement', async () => {
    const all = [everywhere, byName, near, notQuite, online, undecided].sort();
    expect(await ids()).toEqual(all);
    expect(await ids('mode=either')).toEqual(all.filter((id) => id !== undecided));
    expect(await ids('mode=online')).toEqual([byName, notQuite, online].sort());
    expect(await ids('mode=in_person')).toEqual([everywhere, byName, near, notQuite].sort());
    expect(await ids('mode=in_person&arrangement=at_home')).toEqual([byName]);
    expect(await ids('mode=online&arrangement=at_home')).toEqual([byName, notQuite, online].sort());
    for (const subject of ['methods', methods.id]) expect(await ids(`subject=${subject}`)).toEqual([everywhere, byName, notQuite, online].sort());
    for (const subject of ['physics', uuidv7()]) expect(await ids(`subject=${subject}`)).toEqual([]);
  });

  it('are neither near nor far without a place', async () => {
    for (const { distance_km, covers_area } of await tutors()) expect([distance_km, covers_area]).toEqual([null, null]);
    const { body } = (await api.get('/v1/tutors', key)) as { body: { data: ShownTutor[] } };
    for (const shown of body.data) expect([shown.distance_km, shown.covers_area]).toEqual([null, null]);
  });

  it('cover a place everywhere, by name, or from near enough, but never online', async () => {
    const shown = new Map((await tutors('postcode=9002')).map((one) => [one.id, [one.distance_km, one.covers_area]]));
    expect(Object.fromEntries(shown)).toEqual({
      [everywhere]: [null, true],
      [byName]: [null, true],
      [near]: [11.1, true],
      [notQuite]: [11.1, false],
      [online]: [0, false],
      [undecided]: [null, true],
    });
    expect(await ids('postcode=9002&mode=in_person')).toEqual([everywhere, byName, near].sort());
    const unknown = await tutors('postcode=0000');
    expect(
      unknown
        .filter(({ covers_area }) => covers_area)
        .map(({ id }) => id)
        .sort(),
    ).toEqual([everywhere, undecided].sort());
    expect(unknown.map(({ distance_km }) => distance_km)).toEqual(Array(6).fill(null));
  });

  it('come in pages of 100, at most 500, newest first', async () => {
    const { meta } = await get<{ meta: object }>('tutors');
    expect(meta).toEqual({ limit: 100, offset: 0, count: 6 });
    expect([await status('tutors?limit=500'), await status('tutors?limit=501')]).toEqual([200, 422]);
    for (const query of ['mode=both', 'postcode=', 'region=1', `postcode=${'1'.repeat(21)}`]) expect(await status(`tutors?${query}`)).toBe(422);
    const first = await get<{ data: ShownTutor[]; meta: { next_cursor: string } }>('tutors?cursor=start&limit=4&postcode=9002');
    const second = await get<{ data: ShownTutor[] }>(`tutors?cursor=${first.meta.next_cursor}&limit=4&postcode=9002`);
    expect([...first.data, ...second.data].map(({ id }) => id)).toEqual((await tutors()).map(({ id }) => id));
  });
});

describe('the summary', () => {
  it('counts who teaches both ways in both, and everybody as covering nowhere in particular', async () => {
    const all = { subject_id: null, postcode: null, total: 6, in_person: 4, online: 3, covering_area: 6 };
    expect(await get('summary')).toEqual(all);
    expect(await get('summary?postcode=9002')).toEqual({ ...all, postcode: '9002', covering_area: 4 });
    const taught = { subject_id: methods.id, postcode: '9003', total: 4, in_person: 3, online: 3, covering_area: 1 };
    for (const subject of ['methods', methods.id]) expect(await get(`summary?subject=${subject}&postcode=9003`)).toEqual(taught);
    const foreign = (await make.subject(elsewhere)).id;
    for (const subject of ['physics', uuidv7(), foreign]) {
      expect(await get(`summary?subject=${subject}`)).toEqual({ ...all, total: 0, in_person: 0, online: 0, covering_area: 0 });
    }
  });
});

describe('the gaps', () => {
  it('are the postcodes with requests and too few tutors, those with the most demand first', async () => {
    const { id: organizationId } = await make.organization();
    const own = await api.key(organizationId);
    const gaps = async (query = '') => (await api.get(`/v1/coverage/gaps?${query}`, own)).body as { data: object[]; meta: object };
    const subject = await make.subject(organizationId, { code: 'physics' });
    const student = async (postcode: string | null, isDefault = true) => {
      const { id } = await make.student(organizationId);
      await make.row('locations', { organizationId, ownerType: 'student', studentId: id, suburb: 'Said so', postcode, isDefault });
      return id;
    };
    const ask = (studentId: string | null, status: 'pending' | 'matched' | 'declined' | 'expired', more = {}) =>
      make.row('booking_requests', { organizationId, studentId, status, subjectId: subject.id, ...more });
    const [north, middle, unknown, moved] = [await student('9001'), await student('9002'), await student('0000'), await student('9003', false)];
    for (const one of ['pending', 'declined', 'matched'] as const) await ask(north, one);
    await ask(middle, 'pending');
    await ask(middle, 'expired', { subjectId: null });
    await ask(unknown, 'matched');
    await ask(north, 'pending', { createdAt: new Date(Date.now() - 181 * 86_400_000) });
    await ask(moved, 'pending');
    await ask(null, 'pending');

    const item = (postcode: string, suburb: string, demand_score: number, request_count: number, supply_count = 0, subject_id: string | null = subject.id) => ({
      postcode, suburb, subject_id, demand_score, request_count, supply_count,
    }); // prettier-ignore
    const wanted = [
      item('9001', 'Northside', 1.75, 3),
      item('9002', 'Middleton', 1, 1),
      item('9002', 'Middleton', 0.5, 1, 0, null),
      item('0000', 'Said so', 0.25, 1),
    ];
    expect(await gaps()).toEqual({ data: wanted, meta: { limit: 50, offset: 0, count: 4 } });
    expect((await gaps('subject=physics&limit=2')).data).toEqual([wanted[0], wanted[1]]);
    expect((await gaps('subject=chemistry')).data).toEqual([]);

    const { id: tutorId } = await make.tutor(organizationId, { profile: { teachingMode: 'both', homePostcode: '9001', maxTravelKm: 5 } });
    await make.tutorSubject(organizationId, tutorId, subject.id);
    expect((await gaps()).data).toEqual(wanted.slice(1));
    expect((await gaps('min_tutors=2')).data).toEqual([item('9001', 'Northside', 1.75, 3, 1), ...wanted.slice(1)]);
    for (const query of ['limit=201', 'min_tutors=0', 'offset=0', 'min_tutors=x']) {
      expect((await api.get(`/v1/coverage/gaps?${query}`, own)).status).toBe(422);
    }
  });
});

it('gaps have as many tutors as the summary of their subject and postcode', async () => {
  const random = new Random(40);
  const { id: organizationId } = await make.organization();
  const own = await api.key(organizationId);
  const postcodes = ['9001', '9002', '90 03', '9003', '0000', '9009'];
  await make.query(`INSERT INTO places (postcode, lat, lng) VALUES ('90 09', -37.05, 145.05) ON CONFLICT DO NOTHING`);
  const subjects = [await make.subject(organizationId), await make.subject(organizationId)];
  for (let n = 0; n < 25; n++) {
    const profile: Profile = {
      teachingMode: random.pick(['online', 'in_person', 'both', null]),
      homePostcode: random.pick([null, '9001', '9003', '9009', '0000']),
      maxTravelKm: random.pick([null, 0, 6, 20, 60]),
      servesAllAreas: random.chance(0.1),
      servicePostcodes: postcodes.filter(() => random.chance(0.1)),
    };
    const { id } = await make.tutor(organizationId, { profile, status: random.pick(['accepted', 'accepted', 'accepted', 'pending', 'archived']) });
    for (const subject of subjects) if (random.chance(0.5)) await make.tutorSubject(organizationId, id, subject.id);
    const { id: studentId } = await make.student(organizationId);
    await make.row('locations', { organizationId, ownerType: 'student', studentId, postcode: random.pick(postcodes), isDefault: true });
    await make.row('booking_requests', {
      organizationId,
      studentId,
      status: 'pending',
      subjectId: random.pick([null, ...subjects.map((one) => one.id)]),
    });
  }
  const get = async <Data>(path: string) => (await api.get(`/v1/coverage/${path}`, own)).body as Data;
  const { data } = await get<{ data: { postcode: string; subject_id: string | null; supply_count: number }[] }>('gaps?min_tutors=1000');
  expect(data.length).toBeGreaterThan(8);
  for (const gap of data) {
    const query = new URLSearchParams({ postcode: gap.postcode, ...(gap.subject_id && { subject: gap.subject_id }) });
    const { covering_area } = await get<{ covering_area: number }>(`summary?${query.toString()}`);
    expect([gap, covering_area]).toEqual([gap, gap.supply_count]);
    for (const enough of [gap.supply_count, gap.supply_count + 1].filter((one) => one > 0)) {
      const { data: fewer } = await get<{ data: object[] }>(`gaps?limit=200&min_tutors=${enough}`);
      expect(fewer.some((one) => JSON.stringify(one) === JSON.stringify(gap))).toBe(gap.supply_count < enough);
    }
  }
});

describe('refreshing isochrones', () => {
  const refresh = async (query: string, scopes: Scope[]) =>
    supertest(api.server)
      .post(`/v1/coverage/isochrones/refresh${query}`)
      .set('Authorization', `Token token=${await api.key(school, { scopes })}`);

  it('says that there is no routing service', async () => {
    for (const query of ['', '?subject=methods&minutes=30']) {
      const { status, body } = (await refresh(query, ['write'])) as { status: number; body: unknown };
      expect([status, body]).toEqual([200, { enabled: false, considered: 0, computed: 0, cached: 0, failed: 0 }]);
    }
    for (const scopes of [['read'], ['leads:write'], ['tutors:write']] as Scope[][]) expect((await refresh('', scopes)).status).toBe(403);
    for (const query of ['?minutes=abc', '?minutes=0', '?postcode=9001']) expect((await refresh(query, ['write'])).status).toBe(422);
  });
});
