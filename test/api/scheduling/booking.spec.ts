import { v7 as uuidv7 } from 'uuid';
import { CalendarFixture, type ShownParticipant } from '../../support/data/calendar-fixture.js';
import { TestApi } from '../../support/http/api.js';

const api = await TestApi.shared();
const { make } = api;

describe('a session', () => {
  it('is booked once, moved, and cancelled', async () => {
    const at = await CalendarFixture.open(api);
    const [s1] = at.students;
    const first = await at.book('2027-03-01T05:00:00Z');
    expect(first).toMatchObject({
      status: 201,
      body: { status: 'scheduled', ends_at: '2027-03-01T06:00:00.000Z', duration_minutes: 60, amount_owed_cents: null },
    });
    const { id } = first.body;
    expect(await at.participants(id)).toMatchObject([{ student_id: s1, status: 'accepted', attendance: null }]);

    const taken = await at.book('2027-03-01T05:30:00Z');
    expect(taken).toMatchObject({ status: 409, body: { error: { code: 'session_overlap', details: { session_id: id } } } });
    expect((await at.book('2027-03-01T05:30:00Z', { tutor_id: at.t2 })).status).toBe(201);
    expect((await at.book('2027-03-01T06:00:00Z')).status).toBe(201);
    const beside = await at.book('2027-03-01T05:30:00Z', { allow_overlap: true });
    expect(beside.status).toBe(201);

    expect(await at.put(id, { starts_at: '2027-03-01T08:00:00Z' })).toMatchObject({
      status: 200,
      body: { starts_at: '2027-03-01T08:00:00.000Z', ends_at: '2027-03-01T09:00:00.000Z', duration_minutes: 60 },
    });
    const back = await at.put(id, { starts_at: '2027-03-01T06:30:00Z' });
    expect(back).toMatchObject({ status: 409, body: { error: { code: 'session_overlap' } } });
    for (const change of [{ ends_at: '2027-03-01T07:00:00Z' }, { starts_at: '9999-12-31T23:59:00Z' }])
      expect((await at.put(id, change)).status).toBe(422);
    expect(await at.put(id, {})).toMatchObject({ status: 200, body: { starts_at: '2027-03-01T08:00:00.000Z' } });
    expect((await at.put(id, { duration_minutes: 90 })).body).toMatchObject({ ends_at: '2027-03-01T09:30:00.000Z', duration_minutes: 90 });

    for (let time = 0; time < 2; time++) {
      expect(await cancel(at, id, { reason: 'Ill' })).toMatchObject({ status: 200, body: { id, status: 'cancelled' } });
    }
    const [participant] = await at.participants(id);
    expect(participant).toMatchObject({ status: 'cancelled' });
    expect(participant!.cancelled_at).not.toBeNull();
    const late = await at.put(id, { title: 'Later' });
    expect(late.status).toBe(409);
    expect(late.body.error).toMatchObject({ code: 'invalid_state', details: { state: 'cancelled', allowed: ['pending', 'scheduled'] } });
    expect((await at.book('2027-03-01T08:00:00Z')).status).toBe(201);
  });

  it('is confirmed once, and never becomes pending again', async () => {
    const at = await CalendarFixture.open(api);
    const { body } = await at.book('2027-03-02T05:00:00Z', { status: 'pending' });
    expect((await at.put(body.id, { status: 'pending' })).body.status).toBe('pending');
    expect((await at.put(body.id, { status: 'scheduled' })).body.status).toBe('scheduled');
    expect((await at.put(body.id, { status: 'scheduled' })).status).toBe(200);
    const again = await at.put(body.id, { status: 'pending' });
    expect([again.status, again.body.error.code]).toEqual([409, 'invalid_state']);
  });

  it('is booked for several students, a group or a classroom, and found by each student', async () => {
    const at = await CalendarFixture.open(api);
    const { school, students } = at;
    const [s1, s2, s3] = students;
    const { body: together } = await at.book('2027-03-03T05:00:00Z', { student_ids: students });
    expect(together.student_id).toBeNull();
    expect((await at.sessions(`student_id=${s2}`)).map(({ id }) => id)).toEqual([together.id]);

    const group = await make.group(school, { tutorId: at.t1, ratePerStudentCents: 4500 });
    for (const student of [s1, s3]) await make.groupMember(group.id, student);
    await make.groupMember(group.id, (await make.student(school, { status: 'archived' })).id);
    const { body: ofGroup } = await at.book('2027-03-03T06:00:00Z', { group_id: group.id });
    expect(ofGroup).toMatchObject({ group_id: group.id, student_id: null, student_rate_cents: 4500 });
    expect((await at.participants(ofGroup.id)).map(({ student_id }) => student_id)).toEqual([s1, s3].sort());

    const room = await make.classroom(school);
    const nobody = await at.book('2027-03-03T07:00:00Z', { classroom_id: room.id });
    expect([nobody.status, nobody.body.detail[0]!.loc]).toEqual([422, ['body', 'classroom_id']]);
    await make.classroomMember(school, room.id, s2);
    const { body: inRoom } = await at.book('2027-03-03T07:00:00Z', { classroom_id: room.id });
    expect(inRoom).toMatchObject({ classroom_id: room.id, student_id: s2 });

    // Who is missing is removed, and may come back.
    expect((await at.put(together.id, { student_ids: [s1] })).body.student_id).toBe(s1);
    expect(statuses(await at.participants(together.id))).toEqual(statusesOf({ [s1]: 'accepted', [s2]: 'removed', [s3]: 'removed' }));
    expect((await at.sessions(`student_id=${s2}`)).map(({ id }) => id)).toEqual([inRoom.id]);
    expect((await at.put(together.id, { student_ids: [s1, s2] })).body.student_id).toBeNull();
    expect(statuses(await at.participants(together.id))).toEqual(statusesOf({ [s1]: 'accepted', [s2]: 'accepted', [s3]: 'removed' }));
  });

  it('has a subject, named by its id or its code', async () => {
    const at = await CalendarFixture.open(api);
    const subject = await make.subject(at.school, { code: 'methods_34' });
    const { body } = await at.book('2027-03-08T05:00:00Z', { subject_id: 'methods_34' });
    expect(body).toMatchObject({ subject_id: subject.id });
    expect((await at.put(body.id, { subject_id: null })).body).toMatchObject({ subject_id: null });
    expect((await at.put(body.id, { subject_id: subject.id })).body).toMatchObject({ subject_id: subject.id });
    expect((await at.put(body.id, { subject_id: 'physics' })).status).toBe(404);
  });

  /** What is another organization's is for api/tenancy/tenancy-writes.spec.ts. */
  it('is refused for those who are not accepted, or are something else', async () => {
    const at = await CalendarFixture.open(api);
    const [archived, left] = [await make.student(at.school, { status: 'archived' }), await make.tutor(at.school, { status: 'archived' })];
    const wrong = [{ tutor_id: left.id }, { tutor_id: at.students[0] }, { student_ids: [archived.id] }, { student_ids: [at.t2] }];
    for (const more of wrong) expect([more, (await at.book('2027-03-04T05:00:00Z', more)).status]).toEqual([more, 404]);
    const { body } = await at.book('2027-03-04T05:00:00Z');
    for (const more of wrong) expect([more, (await at.put(body.id, more)).status]).toEqual([more, 404]);
    expect(await at.sessions()).toHaveLength(1);
  });

  it.each([
    ['seconds', { starts_at: '2027-03-05T05:00:30Z' }, 'starts_at'],
    ['two lengths', { ends_at: '2027-03-05T06:00:00Z', duration_minutes: 60 }, 'ends_at'],
    ['no length', { duration_minutes: undefined }, 'duration_minutes'],
    ['an end before the start', { ends_at: '2027-03-05T04:00:00Z', duration_minutes: undefined }, 'ends_at'],
    ['four minutes', { duration_minutes: 4 }, 'duration_minutes'],
    ['half a day and a minute', { duration_minutes: 721 }, 'duration_minutes'],
    ['students twice', { student_ids: ['0190a6f2-5c1e-7d3a-9b4f-2e8c6d1a7f30', '0190a6f2-5c1e-7d3a-9b4f-2e8c6d1a7f30'] }, 'student_ids'],
    ['nobody', { student_ids: [] }, 'student_ids'],
    [
      'two ways to say who',
      { student_id: '0190a6f2-5c1e-7d3a-9b4f-2e8c6d1a7f30', student_ids: ['0190a6f2-5c1e-7d3a-9b4f-2e8c6d1a7f30'] },
      'student_ids',
    ],
    ['another state', { status: 'completed' }, 'status'],
    ['a price above the bound', { student_rate_cents: 10_000_001 }, 'student_rate_cents'],
    ['an end after the calendar', { starts_at: '9999-12-31T23:59:00Z' }, 'starts_at'],
  ])('is refused with %s', async (_what, more, field) => {
    const at = await CalendarFixture.open(api);
    const { status, body } = await at.book('2027-03-05T05:00:00Z', more);
    expect([status, body.detail.map(({ loc }) => loc[1])]).toEqual([422, [field]]);
  });

  it('is deleted unless it is completed or named elsewhere', async () => {
    const at = await CalendarFixture.open(api);
    const { body: mistake } = await at.book('2027-03-06T05:00:00Z');
    const remove = (id: string) => at.delete(`/v1/sessions/${id}`);
    expect((await remove(mistake.id)).status).toBe(204);
    expect((await remove(mistake.id)).status).toBe(404);
    expect(await at.participants(mistake.id)).toEqual([]);

    const { body: paid } = await at.book('2027-03-06T05:00:00Z');
    await make.payment(at.school, { sessionId: paid.id, studentId: at.students[0] });
    expect(await remove(paid.id)).toMatchObject({
      status: 409,
      body: { error: { code: 'still_referenced', details: { referenced_by: 'payments' } } },
    });
    expect(await at.participants(paid.id)).toHaveLength(1);

    const done = await make.session(at.school, { status: 'completed' });
    expect((await remove(done.id)).body.error).toMatchObject({ code: 'invalid_state', details: { state: 'completed' } });
  });
});

describe('a price', () => {
  it('is what the request says, else the group’s, else the best cell’s, else nothing', async () => {
    const at = await CalendarFixture.open(api);
    const [s1, s2] = at.students;
    expect((await at.book('2027-04-01T05:00:00Z')).body.student_rate_cents).toBeNull();
    const [band] = await make.insert('rate_bands', [{ id: uuidv7(), organization_id: at.school, name: 'Senior' }]);
    await make.query('UPDATE members SET rate_band_id = $1 WHERE organization_id = $2 AND user_id = $3', [band!.id, at.school, s1]);
    await at.cell({ session_kind: '1on1_online', student_rate_cents: 8000, tutor_pay_mode: 'flat', tutor_flat_rate_cents: 4000 });
    await at.cell({ session_kind: '1on1_online', band_id: band!.id, student_rate_cents: 9000 });
    await at.cell({ session_kind: 'group', student_rate_cents: 5000 });
    expect((await at.book('2027-04-01T06:00:00Z')).body.student_rate_cents).toBe(9000);
    const { body: plain } = await at.book('2027-04-01T07:00:00Z', { student_ids: [s2] });
    expect(plain).toMatchObject({ student_rate_cents: 8000, tutor_pay_rate_cents: 4000 });
    expect((await at.book('2027-04-01T08:00:00Z', { student_rate_cents: 0 })).body.student_rate_cents).toBe(0);

    // Siblings of whom one pays another price.
    const { body: both } = await at.book('2027-04-01T09:00:00Z', { student_ids: [s1, s2] });
    expect(both.student_rate_cents).toBe(5000);
    const sibling = (await at.participants(both.id)).find(({ student_id }) => student_id === s2)!;
    const patched = await at.send<ShownParticipant>('patch', `/v1/lesson-participants/${sibling.id}`, { rate_cents: 2500 });
    expect([patched.status, patched.body.rate_cents]).toEqual([200, 2500]);
    expect((await at.put(both.id, { title: 'Siblings' })).body.student_rate_cents).toBeNull();
    // It stays when prices are settled anew, because somebody has set it.
    await at.put(both.id, { tutor_id: at.t2 });
    expect(rates(await at.participants(both.id))).toEqual({ [s1]: 5000, [s2]: 2500 });
  });

  it('stays when the table of rates changes, until the session does', async () => {
    const at = await CalendarFixture.open(api);
    await at.cell({ session_kind: '1on1_online', student_rate_cents: 8000 });
    const { body } = await at.book('2027-04-02T05:00:00Z');
    await make.query('UPDATE rate_cells SET student_rate_cents = 9000 WHERE organization_id = $1', [at.school]);
    const same = { tutor_id: at.t1, student_ids: [at.students[0]], starts_at: '2027-04-02T06:00:00Z' };
    expect((await at.put(body.id, same)).body.student_rate_cents).toBe(8000);
    await at.cell({ session_kind: '1on1_inperson', student_rate_cents: 9500, inperson_surcharge_cents: 1000 });
    expect((await at.put(body.id, { mode: 'in_person' })).body.student_rate_cents).toBe(9500);
    const [row] = await make.query<{ surcharge_cents: string }>('SELECT surcharge_cents FROM lesson_participants WHERE session_id = $1', [body.id]);
    expect(Number(row!.surcharge_cents)).toBe(1000);
    expect((await at.put(body.id, { student_rate_cents: 7000, tutor_pay_rate_cents: 3000 })).body).toMatchObject({
      student_rate_cents: 7000,
      tutor_pay_rate_cents: 3000,
    });
    expect((await at.put(body.id, { mode: 'online' })).body).toMatchObject({ student_rate_cents: 7000, tutor_pay_rate_cents: 3000 });
    expect((await at.put(body.id, { student_rate_cents: null })).body.student_rate_cents).toBe(9000);
  });
});

describe('a register', () => {
  it('takes attendance and answers, and nothing of a cancelled session', async () => {
    const at = await CalendarFixture.open(api);
    const { body } = await at.book('2027-04-03T05:00:00Z', { student_ids: at.students });
    const [one] = await at.participants(body.id);
    const patch = (change: object) => at.send<ShownParticipant>('patch', `/v1/lesson-participants/${one!.id}`, change);
    expect((await patch({ attendance: 'no_show' })).body).toMatchObject({ id: one!.id, attendance: 'no_show', status: 'accepted' });
    expect((await patch({ status: 'declined', attendance: null })).body).toMatchObject({ status: 'declined', attendance: null });
    const read = await at.send<ShownParticipant>('get', `/v1/lesson-participants/${one!.id}`);
    expect([read.status, read.body.status]).toEqual([200, 'declined']);
    await cancel(at, body.id);
    expect(statuses(await at.participants(body.id))).toMatchObject({ [one!.student_id]: 'declined' });
    const late = await patch({ attendance: 'attended' });
    expect([late.status, late.body.error.code]).toEqual([409, 'invalid_state']);
  });

  it('keeps the price of a completed session', async () => {
    const at = await CalendarFixture.open(api);
    const done = await make.session(at.school, { status: 'completed' });
    const place = await make.participant(at.school, done.id, at.students[0], { status: 'accepted' });
    const patch = (change: object) => at.send<ShownParticipant>('patch', `/v1/lesson-participants/${place.id}`, change);
    expect((await patch({ attendance: 'excused' })).body.attendance).toBe('excused');
    expect((await patch({ rate_cents: 1 })).status).toBe(409);
  });
});

const cancel = (at: CalendarFixture, id: string, body?: object) => at.send('post', `/v1/sessions/${id}/cancel`, body);
const statuses = (all: ShownParticipant[]) => statusesOf(Object.fromEntries(all.map((one) => [one.student_id, one.status])));
const statusesOf = (byStudent: Record<string, string>) => byStudent;
const rates = (all: ShownParticipant[]) => Object.fromEntries(all.map((one) => [one.student_id, one.rate_cents]));
