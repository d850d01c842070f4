import type { Scope } from '@app/access';
import { pointOf, refreshed, RoadFixture } from '../../support/data/road-fixture.js';

const { api, routing, school } = await RoadFixture.open();
const { make } = api;

describe('road times', () => {
  it('are computed once for a postcode, for tutors who live in a known one and teach in person', async () => {
    const own = await school('A1', 'A1', 'A4');
    for (const [home, profile] of [['A1', { teachingMode: 'online' }], ['A1', { teachingMode: null }], ['0000', {}], [null, {}]] as const) await own.tutor(home, profile); // prettier-ignore
    await make.tutor(own.id, { status: 'archived', profile: { teachingMode: 'both', homePostcode: 'A2' } });
    const before = await own.roads();
    for (const road of Object.values(before)) expect([road.road_km, road.road_minutes]).toEqual([null, null]);

    expect(await own.refresh()).toMatchObject({ status: 200, body: refreshed(3, 0, 0) });
    expect(routing.places.map(([home]) => home).sort()).toEqual([pointOf('A1'), pointOf('A4')]);
    const after = await own.roads();
    const [near, , far] = own.tutors.map((id) => after[id]!);
    expect([near!.road_km, near!.road_minutes, near!.reasons.includes('6 minutes by road')]).toEqual([11.1, 6, true]);
    // 31.2 minutes: more than the half hour that was asked for.
    expect([far!.road_km, far!.road_minutes]).toEqual([null, null]);
    for (const [id, { score }] of Object.entries(after)) expect(score).toBe(before[id]!.score);
    expect(Object.fromEntries((await own.kept()).map(({ postcode, reached }) => [postcode, Object.keys(reached).sort()]))).toEqual({
      A1: ['A1', 'A2', 'A3'],
      A4: ['A3', 'A4'],
    });

    routing.asked.length = 0;
    expect((await own.refresh()).body).toEqual(refreshed(0, 3, 0));
    expect((await own.refresh('?minutes=20')).body).toEqual(refreshed(0, 3, 0));
    expect(routing.asked).toEqual([]);
  });

  it('are computed anew for a longer drive, after 30 days, and where somebody moved; where nobody lives any more is forgotten', async () => {
    const own = await school('A1', 'A4');
    await own.refresh();
    expect((await own.refresh('?minutes=45')).body).toEqual(refreshed(2, 0, 0));
    const [, mover] = own.tutors;
    expect((await own.roads())[mover!]).toMatchObject({ road_km: 57.7, road_minutes: 31 });
    await make.query(`UPDATE isochrones SET computed_at = now() - interval '31 days' WHERE organization_id = $1 AND postcode = 'A1'`, [own.id]);
    expect((await own.refresh()).body).toEqual(refreshed(1, 1, 0));
    await make.query(`UPDATE tutor_profiles SET home_postcode = 'A3' WHERE organization_id = $1 AND user_id = $2`, [own.id, mover]);
    expect((await own.roads())[mover!]).toMatchObject({ road_km: null, road_minutes: null });
    expect((await own.refresh()).body).toEqual(refreshed(1, 1, 0));
    expect((await own.roads())[mover!]).toMatchObject({ road_km: 22.2, road_minutes: 12 });
    expect((await own.kept()).map(({ postcode }) => postcode).sort()).toEqual(['A1', 'A3']);
  });

  it('are computed for the tutors of a subject, by its id or code', async () => {
    const own = await school('A1', 'A2');
    const subject = await make.subject(own.id, { code: 'physics' });
    await make.tutorSubject(own.id, own.tutors[0]!, subject.id);
    const foreign = await make.subject((await make.organization()).id);
    for (const unknown of ['chemistry', foreign.id]) expect((await own.refresh(`?subject=${unknown}`)).body).toEqual(refreshed(0, 0, 0));
    expect((await own.refresh('?subject=physics')).body).toEqual(refreshed(1, 0, 0));
    expect((await own.refresh(`?subject=${subject.id}`)).body).toEqual(refreshed(0, 1, 0));
    // The other tutors' road times stay.
    expect((await own.refresh()).body).toEqual(refreshed(1, 1, 0));
    expect((await own.refresh('?subject=physics')).body).toEqual(refreshed(0, 1, 0));
    expect(await own.kept()).toHaveLength(2);
  });

  it('belong to an organization: another one computes its own, and sees no others', async () => {
    const [one, other] = [await school('A1'), await school('A1')];
    await one.refresh();
    expect((await other.roads())[other.tutors[0]!]).toMatchObject({ road_km: null, road_minutes: null });
    expect((await other.refresh()).body).toEqual(refreshed(1, 0, 0));
    await make.query(`DELETE FROM tutor_profiles WHERE organization_id = $1`, [other.id]);
    expect((await other.refresh()).body).toEqual(refreshed(0, 0, 0));
    expect([await one.kept(), await other.kept()].map(({ length }) => length)).toEqual([1, 0]);
  });

  it('need write, and a sensible number of minutes: whoever is refused makes nobody ask', async () => {
    const own = await school('A1');
    for (const scopes of [['read'], ['leads:write'], ['tutors:write']] as Scope[][]) {
      expect((await own.refresh('', await api.key(own.id, { scopes }))).status).toBe(403);
    }
    for (const query of ['?minutes=abc', '?minutes=0', '?minutes=241', '?minutes=', '?postcode=A1'])
      expect((await own.refresh(query)).status).toBe(422);
    expect((await own.refresh('', `tk_live_${'0'.repeat(64)}`)).status).toBe(401);
    expect(routing.asked).toEqual([]);
  });

  it('are written once for an Idempotency-Key, whose answer is replayed, and by any number of refreshes at the same time', async () => {
    const own = await school('A1', 'A2');
    for (const time of [1, 2])
      expect([time, (await own.refresh('', own.key, { 'Idempotency-Key': 'once' })).body]).toEqual([time, refreshed(2, 0, 0)]);
    const racing = await school('A1', 'A2', 'A3', 'A4');
    const answers = await Promise.all(Array.from({ length: 8 }, () => racing.refresh()));
    for (const { status, body } of answers) expect([status, body.considered, body.failed]).toEqual([200, 4, 0]);
    expect(await racing.kept()).toHaveLength(4);
  });

  it('of many postcodes are computed in parts, with at most 100 places in a call', async () => {
    await make.query(`INSERT INTO places (postcode, lat, lng) SELECT 'N' || n, 10 + n * 0.001, 100 FROM generate_series(1, 250) n`);
    const own = await school(...Array.from({ length: 25 }, (_, n) => `N${n + 1}`));
    expect((await own.refresh()).body).toEqual(refreshed(20, 0, 5));
    expect(Math.max(...routing.places.map(({ length }) => length))).toBe(100);
    expect(routing.asked).toHaveLength(20 * 3);
    expect((await own.refresh()).body).toEqual(refreshed(5, 20, 0));
    for (const { reached } of await own.kept()) expect(Object.keys(reached)).toHaveLength(250);
  });
});
