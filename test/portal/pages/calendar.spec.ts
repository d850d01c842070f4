import { addDays, dayOf, instantAt, occurrences } from '@app/scheduling';
import { CalendarFixture } from '../../support/data/calendar-fixture.js';
import { TestApi } from '../../support/http/api.js';
import { eventsAt as eventsIn, feedOf } from '../../support/portal/feeds.js';
import { TestPortal } from '../../support/portal/portal.js';

const portal = await TestPortal.shared();
const api = await TestApi.shared();
const { make } = portal;

const DAY = 86_400_000;
const soon = (days: number) => new Date(Math.floor(Date.now() / 60_000) * 60_000 + days * DAY);

const addressOf = (userId: string, school: string) => feedOf(portal, userId, school);
const eventsAt = (path: string) => eventsIn(portal, path);

/** An organization with a tutor who has an address, and its first lesson in ten days. */
async function open() {
  const at = await CalendarFixture.open(api);
  const path = await addressOf(at.t1, at.school);
  const names = async (id: string, first: string, last: string) =>
    make.query('UPDATE users SET first_name = $2, last_name = $3 WHERE id = $1', [id, first, last]);
  await names(at.t1, 'Samira', 'Okafor');
  await names(at.students[0], 'Mia', 'Nguyen');
  await names(at.students[1], 'Leo', 'Papadopoulos');
  const { body } = await at.book(soon(10).toISOString(), { title: 'Methods', student_ids: [at.students[0], at.students[1]] });
  return { at, path, id: body.id };
}

describe('a calendar address', () => {
  it('shows tutors the first names of their students, and each change as the same event', async () => {
    const { at, path, id } = await open();
    const [event, ...others] = await eventsAt(path);
    expect(others).toEqual([]);
    expect(event).toMatchObject({ uid: id, summary: 'Methods: Mia, Leo', status: 'CONFIRMED' });
    let last = Number(event!.sequence);
    const next = async (expected: object) => {
      const [now] = await eventsAt(path);
      expect(now).toMatchObject({ uid: id, ...expected });
      expect(Number(now!.sequence)).toBeGreaterThan(last);
      last = Number(now!.sequence);
    };
    const moved = soon(12);
    await at.put(id, { starts_at: moved.toISOString() });
    await next({ start: moved });
    await at.put(id, { title: 'Test' });
    await next({ summary: 'Test: Mia, Leo' });
    await at.send('post', `/v1/sessions/${id}/cancel`);
    await next({ status: 'CANCELLED' });
    await at.delete(`/v1/sessions/${id}`);
    await next({ status: 'CANCELLED', start: moved });
    await make.query(`UPDATE removed_sessions SET removed_at = now() - interval '31 days' WHERE session_id = $1`, [id]);
    expect(await eventsAt(path)).toEqual([]);
  });

  it('shows families the lessons of their own children alone, without whole names', async () => {
    const { at, id } = await open();
    const [mia, leo, other] = at.students;
    const parent = await make.parent(at.school, { children: [mia, other], status: 'accepted' });
    const [theirs, own] = [await addressOf(parent.id, at.school), await addressOf(leo, at.school)];
    await at.book(soon(11).toISOString(), { student_id: leo, title: 'Leo alone', meeting_url: 'https://meet.example.org/leo' });
    expect((await eventsAt(theirs)).map(({ uid, summary }) => [uid, summary])).toEqual([[id, 'Mia: Methods with Samira O.']]);
    expect((await eventsAt(own)).map(({ summary }) => summary)).toEqual(['Methods with Samira O.', 'Leo alone with Samira O.']);
    for (const path of [theirs, own]) {
      const { text } = await portal.get(path);
      for (const hidden of ['Nguyen', 'Papadopoulos', 'Okafor', ...(path === theirs ? ['Leo'] : ['Mia'])]) expect(text).not.toContain(hidden);
    }
    // Who declines, or is taken out, sees it no more.
    await at.put(id, { student_ids: [leo] });
    expect(await eventsAt(theirs)).toEqual([]);
  });

  it('says where a lesson is: to families at once, to tutors a day before', async () => {
    const { at, path } = await open();
    const room = await make.row('locations', { organizationId: at.school, label: 'Library', suburb: 'Brunswick', postcode: '3056' });
    await at.book(new Date(soon(0).getTime() + 7_200_000).toISOString(), { location_id: room.id, mode: 'in_person' });
    await at.book(soon(3).toISOString(), { location_id: room.id, mode: 'in_person' });
    expect((await eventsAt(path)).map(({ location }) => location || null)).toEqual(['Library, Brunswick', null, null]);
    const places = (await eventsAt(await addressOf(at.students[0], at.school))).map(({ location }) => location || null);
    expect(places).toEqual(['Library, Brunswick', 'Library, Brunswick', null]);
  });

  it('has lessons of 60 days back and a year ahead, and what was cancelled in the last 30 days', async () => {
    const { at, path, id } = await open();
    const one = async (days: number, wish: object = {}) => {
      const [startsAt, endsAt] = [soon(days), new Date(soon(days).getTime() + 3_600_000)];
      return (await make.session(at.school, { tutorId: at.t1, startsAt, endsAt, durationMinutes: 60, status: 'scheduled', ...wish })).id;
    };
    const cancelled = (daysAgo: number) => ({ status: 'cancelled', cancelledAt: soon(-daysAgo) });
    const shown = [await one(-59), await one(364), await one(5, cancelled(29)), id];
    for (const hidden of [one(-61), one(367), one(6, cancelled(31))]) await hidden;
    expect((await eventsAt(path)).map(({ uid }) => uid).sort()).toEqual(shown.sort());
  });

  it('keeps the clock of each zone across both changes', async () => {
    for (const timeZone of ['Australia/Melbourne', 'Europe/Berlin', 'America/New_York', 'Pacific/Auckland', 'America/Santiago']) {
      const { id: school } = await make.organization({ timeZone });
      const tutor = await make.tutor(school);
      // An hour that no change of the clock skips.
      const first = instantAt(addDays(dayOf(new Date(), timeZone), 1), '16:00', timeZone);
      const times = occurrences({ startsAt: first, zone: timeZone, everyWeeks: 1, count: 51 });
      for (const startsAt of times) {
        const endsAt = new Date(startsAt.getTime() + 3_600_000);
        await make.session(school, { tutorId: tutor.id, startsAt, endsAt, durationMinutes: 60, status: 'scheduled' });
      }
      const events = await eventsAt(await addressOf(tutor.id, school));
      expect(events.map(({ start }) => start.getTime())).toEqual(times.map((time) => time.getTime()));
      const clock = new Intl.DateTimeFormat('en-AU', { timeZone, timeStyle: 'short', hourCycle: 'h23' });
      expect(new Set(events.map(({ start }) => clock.format(start))).size).toBe(1);
      expect(new Set(events.map(({ start }) => start.toISOString().slice(11, 16))).size).toBe(2);
    }
  });

  it('costs nothing while nothing has changed, is never logged, and is stored as a hash', async () => {
    const { at, path, id } = await open();
    const { headers } = await portal.get(path).expect(200);
    expect(headers).toMatchObject({ 'content-type': 'text/calendar; charset=utf-8', 'cache-control': 'private, max-age=900' });
    const again = () => portal.get(path).set('If-None-Match', headers.etag!);
    expect((await again().expect(304)).text).toBe('');
    await at.put(id, { title: 'Changed' });
    await again().expect(200);
    const token = path.slice('/calendar/'.length, -'.ics'.length);
    expect(portal.logged.join('')).not.toContain(token);
    const [stored] = await make.query<{ text: string }>('SELECT row_to_json(f)::text AS text FROM calendar_feeds f WHERE user_id = $1', [at.t1]);
    expect(stored!.text).not.toContain(token);
  });

  it('shows nothing once it is replaced or revoked, by its person or a manager, who sees that there is one', async () => {
    const { at, path } = await open();
    const second = await addressOf(at.t1, at.school);
    await portal.get(path).expect(404);
    const cookie = await portal.session(at.t1);
    const organization = { ...(await make.query<{ slug: string }>('SELECT slug FROM organizations WHERE id = $1', [at.school]))[0]! };
    expect((await portal.get('/account/calendar', cookie).expect(200)).text).toContain('There has been an address since');
    await portal.post('/account/calendar/revoke', { organization: organization.slug }, cookie).expect(303);
    await portal.get(second).expect(404);

    const third = await addressOf(at.t1, at.school);
    const owner = await make.member(at.school, { role: 'owner', status: 'accepted' });
    const page = `/o/${organization.slug}/people/${at.t1}`;
    const theirs = await portal.session(owner.id);
    expect((await portal.get(page, theirs).expect(200)).text).toContain('Calendar address');
    await portal.post(`${page}/revoke-calendar`, {}, theirs).expect(303);
    await portal.get(third).expect(404);
    expect(await portal.audited(at.school)).toContainEqual(expect.objectContaining({ operation: 'revoke calendar', by: owner.id }));
    expect((await portal.get(page, theirs).expect(200)).text).not.toContain('Calendar address');
  });

  it('ends with the membership, and with the last link to a child', async () => {
    const { at, path } = await open();
    const parent = await make.parent(at.school, { children: [at.students[0], at.students[1]], status: 'accepted' });
    const theirs = await addressOf(parent.id, at.school);
    const key = await api.key(at.school, { scopes: ['read', 'accounts:write'] });
    const unlink = (child: string) => at.send('delete', `/v1/parents/${parent.id}/students/${child}`, undefined, { key });
    await unlink(at.students[0]);
    await portal.get(theirs).expect(200);
    await unlink(at.students[1]);
    await portal.get(theirs).expect(404);
    await at.send('post', `/v1/tutors/${at.t1}/offboard`, { sessions: 'unassign' }, { key });
    await portal.get(path).expect(404);
    // Also once they are back.
    expect(await make.query('SELECT FROM calendar_feeds WHERE organization_id = $1', [at.school])).toEqual([]);
  });

  it('is not found unless it is one', async () => {
    for (const name of ['x', 'x.ics', `${'A'.repeat(43)}.ics`, 'A'.repeat(43)]) await portal.get(`/calendar/${name}`).expect(404);
    const { at } = await open();
    const stranger = await portal.someone('tutor');
    const [organization] = await make.query<{ slug: string }>('SELECT slug FROM organizations WHERE id = $1', [at.school]);
    await portal.post('/account/calendar/make', { organization: organization!.slug }, stranger.cookie).expect(404);
  });
});
