import { refreshed, RoadFixture } from '../../support/data/road-fixture.js';

const { api, school } = await RoadFixture.open();
const { make } = api;
await make.query(`INSERT INTO places (postcode, lat, lng) VALUES ('SW1A 1AA', 51.5, -0.1), ('SW1A 2AA', 51.6, -0.1)`);

/** Ways in which people write the same postcode. */
const spellings = (postcode: string) => [
  postcode,
  postcode.toLowerCase(),
  postcode.replace(' ', ''),
  `  ${postcode.replace(' ', '   ').toLowerCase()} `,
];

describe.each(spellings('SW1A 1AA'))('a tutor in "%s"', (home) => {
  it('is as far from a place, and covers it, however that is written, too', async () => {
    const own = await school();
    const near = await own.tutor(home, { maxTravelKm: 12 });
    const named = await own.tutor(null, { servicePostcodes: ['3056', home] });
    for (const [there, km] of [['SW1A 2AA', 11.1], ['SW1A 1AA', 0]] as const) {
      for (const asked of spellings(there)) {
        const answer = await api.get(`/v1/coverage/tutors?postcode=${encodeURIComponent(asked)}`, own.reading);
        const { data } = answer.body as { data: { id: string; distance_km: number | null; covers_area: boolean }[] };
        const shown = new Map(data.map(({ id, distance_km, covers_area }) => [id, [distance_km, covers_area]]));
        expect([asked, shown.get(near), shown.get(named)]).toEqual([asked, [km, true], [null, km === 0]]);
        const summary = await api.get(`/v1/coverage/summary?postcode=${encodeURIComponent(asked)}`, own.reading);
        expect(summary.body).toMatchObject({ covering_area: km === 0 ? 2 : 1 });
      }
    }
  }); // prettier-ignore

  it.each(spellings('SW1A 2AA'))('drives to a student in "%s"', async (postcode) => {
    const own = await school(home);
    await make.query('UPDATE locations SET postcode = $2 WHERE organization_id = $1', [own.id, postcode]);
    expect((await own.refresh()).body).toEqual(refreshed(1, 0, 0));
    expect((await own.refresh()).body).toEqual(refreshed(0, 1, 0));
    const [road] = Object.values(await own.roads());
    expect(road).toMatchObject({ road_km: 11.1, road_minutes: 6, distance_km: 11.1 });
  });
});

it('students whose postcode is written differently are one gap, with the name of the place', async () => {
  const own = await school();
  for (const postcode of spellings('SW1A 2AA').slice(1)) {
    const { id: studentId } = await make.student(own.id);
    await make.row('locations', { organizationId: own.id, ownerType: 'student', studentId, postcode, isDefault: true });
    await make.row('booking_requests', { organizationId: own.id, studentId });
  }
  const answer = await api.get('/v1/coverage/gaps', own.reading);
  expect((answer.body as { data: object[] }).data).toMatchObject([
    { postcode: 'SW1A 2AA', request_count: 3, supply_count: 0 },
    { postcode: 'A2', request_count: 1 },
  ]);
});
