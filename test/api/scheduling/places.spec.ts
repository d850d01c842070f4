import { CalendarFixture } from '../../support/data/calendar-fixture.js';
import { TestApi } from '../../support/http/api.js';

const api = await TestApi.shared();
const { make } = api;
const ROOM = 'https://meet.example.org/one';
const OTHER = 'https://meet.example.org/two';

type Placed = { id: string; meeting_url: string | null; location_id: string | null };

async function open() {
  const at = await CalendarFixture.open(api);
  const room = (tutor: string, url: string | null) => at.send('put', `/v1/tutors/${tutor}`, { meeting_url: url }, { key });
  const key = await api.key(at.school, { scopes: ['read', 'tutors:write', 'accounts:write', 'settings:write'] });
  expect((await room(at.t1, ROOM)).status).toBe(200);
  expect((await room(at.t2, OTHER)).body).toMatchObject({ meeting_url: OTHER });
  let day = 0;
  const book = async (more: object = {}) => {
    const { status, body } = await at.book(`2027-03-${String(++day).padStart(2, '0')}T05:00:00Z`, more);
    return { status, body: body as unknown as Placed };
  };
  return { at, key, book };
}

const place = ({ body }: { body: object }) => {
  const { meeting_url, location_id } = body as Placed;
  return [meeting_url, location_id];
};

describe('where a session takes place', () => {
  it('is the tutor’s link, which follows tutor and mode until somebody sets another', async () => {
    const { at, book } = await open();
    const session = await book();
    expect(place(session)).toEqual([ROOM, null]);
    const { id } = session.body;
    expect(place(await at.put(id, { tutor_id: at.t2 }))).toEqual([OTHER, null]);
    expect(place(await at.put(id, { mode: 'in_person' }))).toEqual([null, null]);
    expect(place(await at.put(id, { tutor_id: at.t1, mode: 'online' }))).toEqual([ROOM, null]);
    const own = 'https://zoom.example.org/j/1';
    expect(place(await at.put(id, { meeting_url: own }))).toEqual([own, null]);
    expect(place(await at.put(id, { tutor_id: at.t2 }))).toEqual([own, null]);
    expect(place(await at.put(id, { meeting_url: null }))).toEqual([null, null]);
    expect(place(await at.put(id, { tutor_id: at.t1 }))).toEqual([null, null]);
    expect(place(await book({ mode: 'online', meeting_url: own }))).toEqual([own, null]);
    expect(place(await book({ mode: 'in_person' }))).toEqual([null, null]);
    expect((await at.put(id, { meeting_url: 'http://meet.example.org' })).body.detail[0]!.loc).toEqual(['body', 'meeting_url']);
  });

  it('is a location of the organization alone, and nowhere once that is deleted', async () => {
    const { at, key, book } = await open();
    const { id: room } = await make.row('locations', { organizationId: at.school, label: 'Room 2' });
    const others = await make.row('locations', { organizationId: (await make.organization()).id, label: 'Elsewhere' });
    const { body } = await book({ mode: 'in_person', location_id: room });
    expect(body.location_id).toBe(room);
    expect((await book({ location_id: others.id })).status).toBe(404);
    expect((await at.put(body.id, { location_id: others.id })).status).toBe(404);
    expect(place(await at.put(body.id, { location_id: null }))).toEqual([null, null]);
    expect(place(await at.put(body.id, { location_id: room }))).toEqual([null, room]);
    expect((await at.send('delete', `/v1/locations/${room}`, undefined, { key })).status).toBe(204);
    expect(place(await at.send('get', `/v1/sessions/${body.id}`))).toEqual([null, null]);
  });

  it('goes over with the lessons of a tutor who leaves, and ends with them', async () => {
    const { at, key, book } = await open();
    const { body } = await book();
    const leave = (tutor: string, how: object) => at.send('post', `/v1/tutors/${tutor}/offboard`, how, { key });
    expect((await leave(at.t1, { sessions: 'hand_over', hand_over_to: at.t2 })).status).toBe(200);
    expect(place(await at.send('get', `/v1/sessions/${body.id}`))).toEqual([OTHER, null]);
    expect((await leave(at.t2, { sessions: 'unassign' })).status).toBe(200);
    expect(place(await at.send('get', `/v1/sessions/${body.id}`))).toEqual([null, null]);
  });

  it('is the same for all sessions of a series', async () => {
    const { at } = await open();
    const repeated = { tutor_id: at.t1, student_id: at.students[0], starts_at: '2027-05-03T05:00:00Z', duration_minutes: 60 };
    const { body } = await at.send<{ data: Placed[] }>('post', '/v1/session-series', { ...repeated, every_weeks: 1, count: 3 });
    expect(body.data.map(({ meeting_url }) => meeting_url)).toEqual([ROOM, ROOM, ROOM]);
  });
});
