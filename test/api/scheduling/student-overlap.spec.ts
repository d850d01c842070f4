import { CalendarFixture, type ShownSession } from '../../support/data/calendar-fixture.js';
import { TestApi } from '../../support/http/api.js';

interface Series {
  data: ShownSession[];
  skipped: { starts_at: string; session_id: string }[];
}

const api = await TestApi.shared();
const { make } = api;
const at = await CalendarFixture.open(api);
const [s1, s2, s3] = at.students;
let day = 0;
/** A time of a day of its own. */
const time = (hour: number, week = 0) => new Date(Date.UTC(2027, 6, day + 7 * week, hour)).toISOString();
const strict = { allow_student_overlap: false };

beforeEach(() => {
  day++;
});

describe('with allow_student_overlap false', () => {
  it('a student who has another lesson is not booked, whoever teaches it', async () => {
    const { id } = (await at.book(time(1), { student_ids: [s1, s2] })).body;
    const other = { tutor_id: at.t2 };
    const clash = await at.book(time(1), { ...other, student_ids: [s2, s3], ...strict });
    expect(clash).toMatchObject({ status: 409, body: { error: { code: 'session_overlap', details: { session_id: id, student_id: s2 } } } });
    expect(clash.body.error.message).toContain('A student');
    // Who is in a group was not named by the request, and is not named to it.
    const group = await make.group(at.school, { tutorId: at.t2 });
    await make.groupMember(group.id, s1);
    expect((await at.book(time(1), { ...other, group_id: group.id, ...strict })).body.error.details).toEqual({ session_id: id });
    expect((await at.book(time(1), { ...other, student_ids: [s3], ...strict })).status).toBe(201);
    expect((await at.book(time(2), { ...other, ...strict })).status).toBe(201);
    expect((await at.book(time(1), { ...other, student_ids: [s2], allow_overlap: true })).status).toBe(201);
    // The tutor's own lesson is told first; both are in the way.
    const both = await at.book(time(1), { ...strict });
    expect(both.body.error).toMatchObject({ details: { session_id: id }, message: expect.stringContaining('The tutor') as string });
    expect((await at.book(time(1), { ...strict, allow_overlap: true })).body.error.message).toContain('A student');
  });

  it('lessons that do not take place for them are not in the way', async () => {
    const cancelled = (await at.book(time(1))).body;
    await at.send('post', `/v1/sessions/${cancelled.id}/cancel`);
    const declined = (await at.book(time(1), { student_ids: [s1, s2] })).body;
    const [place] = (await at.participants(declined.id)).filter(({ student_id }) => student_id === s1);
    await at.send('patch', `/v1/lesson-participants/${place!.id}`, { status: 'declined' });
    // Another organization has the same child at this time, and says nothing of it here.
    const elsewhere = await make.organization();
    await make.member(elsewhere.id, { user: { id: s1 } });
    const tutor = await make.tutor(elsewhere.id);
    const session = await make.session(elsewhere.id, { tutorId: tutor.id, startsAt: new Date(time(1)) });
    await make.participant(elsewhere.id, session.id, s1, { status: 'accepted' });
    expect((await at.book(time(1), { tutor_id: at.t2, ...strict })).status).toBe(201);
  });

  it('a move is refused, and so is joining somebody who is elsewhere', async () => {
    const busy = (await at.book(time(1), { student_ids: [s1, s2] })).body;
    const { id } = (await at.book(time(3), { tutor_id: at.t2, student_ids: [s2, s3] })).body;
    const moved = await at.put(id, { starts_at: time(1), ...strict });
    expect(moved).toMatchObject({ status: 409, body: { error: { code: 'session_overlap', details: { session_id: busy.id } } } });
    expect((await at.put(id, { starts_at: time(1), student_ids: [s3], ...strict })).status).toBe(200);
    const joined = await at.put(id, { student_ids: [s3, s1], ...strict });
    expect(joined).toMatchObject({ status: 409, body: { error: { details: { session_id: busy.id, student_id: s1 } } } });
    expect((await at.put(id, { student_ids: [s3, s1] })).status).toBe(200);
    // What was allowed once is not asked about again, until the time or who takes part changes.
    expect((await at.put(id, { title: 'Both', tutor_id: at.t2, student_ids: [s3, s1], ...strict })).status).toBe(200);
    expect((await at.put(id, { duration_minutes: 30, ...strict })).status).toBe(409);
    expect((await at.put(id, { starts_at: time(5), ...strict })).status).toBe(200);
  });

  it('a series leaves such times out if it may, or is refused as a whole', async () => {
    const busy = (await at.book(time(1, 1))).body;
    const series = { tutor_id: at.t2, student_id: s1, starts_at: time(1), duration_minutes: 60, every_weeks: 1, count: 3, ...strict };
    const refused = await at.send('post', '/v1/session-series', series);
    expect(refused).toMatchObject({ status: 409, body: { error: { details: { session_id: busy.id, student_id: s1 } } } });
    const { status, body } = await at.send<Series>('post', '/v1/session-series', { ...series, skip_conflicts: true });
    expect([status, body.data.length]).toEqual([201, 2]);
    expect(body.skipped).toMatchObject([{ starts_at: time(1, 1), session_id: busy.id }]);
  });

  it('of ten tutors who want one student at once, one has them', async () => {
    const tutors = await Promise.all(Array.from({ length: 10 }, () => make.tutor(at.school)));
    const answers = await Promise.all(tutors.map(({ id }) => at.book(time(1), { tutor_id: id, student_ids: [s1, s2], ...strict })));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array<number>(9).fill(409)]);
  });
});
