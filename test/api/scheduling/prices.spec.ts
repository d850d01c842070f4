import { CalendarFixture } from '../../support/data/calendar-fixture.js';
import { TestApi } from '../../support/http/api.js';
import { fixture } from '../../support/process/fixture.js';

const api = await fixture(TestApi.start());
const { make } = api;

/** An in-person session whose prices all come from the table, which has changed since. */
async function priced(where: 'student' | 'group' | 'classroom') {
  const at = await CalendarFixture.open(api);
  const [s1, s2] = at.students;
  const group = await make.group(at.school, { tutorId: at.t1 });
  const classroom = await make.classroom(at.school, { tutorId: at.t1 });
  for (const student of [s1, s2]) {
    await make.groupMember(group.id, student);
    await make.classroomMember(at.school, classroom.id, student);
  }
  const price = { student_rate_cents: 8_000, inperson_surcharge_cents: 500, tutor_pay_mode: 'flat', tutor_flat_rate_cents: 4_000 };
  await at.cell(price);
  const who = { student: { student_id: s1 }, group: { group_id: group.id }, classroom: { classroom_id: classroom.id } }[where];
  const all = { tutor_id: at.t1, mode: 'in_person', ...who };
  const { id } = (await at.send('post', '/v1/sessions', { starts_at: '2098-03-01T05:00:00Z', duration_minutes: 60, ...all })).body;
  await make.query(
    `UPDATE rate_cells SET student_rate_cents = 9000, inperson_surcharge_cents = 600, tutor_flat_rate_cents = 5000 WHERE organization_id = $1`,
    [at.school],
  );
  /** What each pays an hour and once, and what the tutor gets. */
  const prices = () =>
    make.query<Record<string, number>>(
      `SELECT p.rate_cents::integer AS rate, p.surcharge_cents::integer AS surcharge, s.tutor_pay_rate_cents::integer AS pay
      FROM lesson_participants p JOIN sessions s ON s.id = p.session_id WHERE s.id = $1 AND p.status = 'accepted' ORDER BY p.student_id`,
      [id],
    );
  const put = async (change: object) => {
    expect((await at.put(id, change)).status).toBe(200);
    return prices();
  };
  return { at, all, group, classroom, put };
}

const KEPT = { rate: 8_000, surcharge: 500, pay: 4_000 };
const NEW = { rate: 9_000, surcharge: 600, pay: 5_000 };

it.each(['student', 'group', 'classroom'] as const)('prices of a %s’s session stay when a PUT names what it has already', async (where) => {
  const { all, put } = await priced(where);
  const kept = where === 'student' ? [KEPT] : [KEPT, KEPT];
  expect(await put(all)).toEqual(kept);
  expect(await put({ ...all, starts_at: '2098-03-02T05:00:00Z', title: 'Moved' })).toEqual(kept);
  expect(await put({ mode: 'online' })).toEqual(kept.map(() => ({ ...NEW, surcharge: null })));
});

it('prices are settled anew when a group has other students than the session', async () => {
  const { at, group, all, put } = await priced('group');
  await make.groupMember(group.id, at.students[2]);
  expect(await put(all)).toEqual([NEW, NEW, NEW]);
});

it('a price that a PUT sets leaves surcharge and pay alone; null settles it by the table', async () => {
  const { put } = await priced('student');
  expect(await put({ student_rate_cents: 7_000 })).toEqual([{ ...KEPT, rate: 7_000 }]);
  expect(await put({ tutor_pay_rate_cents: 3_000 })).toEqual([{ rate: 7_000, surcharge: 500, pay: 3_000 }]);
  expect(await put({ student_rate_cents: null })).toEqual([{ ...NEW, pay: 3_000 }]);
  expect(await put({ tutor_pay_rate_cents: null })).toEqual([NEW]);
});
