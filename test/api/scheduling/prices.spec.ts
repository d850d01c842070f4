import { CalendarFixture } from '../../support/data/calendar-fixture.js';
import { TestApi } from '../../support/http/api.js';

const api = await TestApi.shared();
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

describe('who joins or leaves', () => {
  /** Two students online, at the prices of a table that has one for one and another for several. */
  async function two(more: object = {}) {
    const at = await CalendarFixture.open(api);
    const [a, b, c] = at.students;
    await at.cell({ session_kind: '1on1_online', student_rate_cents: 6_001, tutor_pay_mode: 'percentage', tutor_pay_pct: 61.25 });
    await at.cell({ session_kind: 'group', student_rate_cents: 4_007, tutor_pay_mode: 'flat', tutor_flat_rate_cents: 5_003 });
    const wanted = { tutor_id: at.t1, student_ids: [a, b], starts_at: '2026-03-02T05:00:00Z', duration_minutes: 60, mode: 'online', ...more };
    const { id } = (await at.send('post', '/v1/sessions', wanted)).body;
    const patch = async (student: string, change: object) => {
      const rows = await make.query<{ id: string }>(`SELECT id FROM lesson_participants WHERE session_id = $1 AND student_id = $2`, [id, student]);
      expect((await at.send('patch', `/v1/lesson-participants/${rows[0]!.id}`, change)).status).toBe(200);
    };
    const stored = async () => {
      const [session] = await make.query(
        `SELECT student_id, student_rate_cents::integer AS rate, tutor_pay_rate_cents::integer AS pay, tutor_pay_pct::float8 AS pct
          FROM sessions WHERE id = $1`,
        [id],
      );
      const places = await make.query<{ student: string; rate: number }>(
        `SELECT student_id AS student, rate_cents::integer AS rate FROM lesson_participants WHERE session_id = $1 AND status <> 'removed'`,
        [id],
      );
      return { ...session, places: new Map(places.map(({ student, rate }) => [student, rate])) };
    };
    return { at, a, b, c, id, patch, stored };
  }

  it('pays the set price of the session, also once one participant pays another', async () => {
    const { at, a, b, c, id, patch, stored } = await two({ student_rate_cents: 5_000 });
    await patch(a, { rate_cents: 4_000 });
    expect((await at.put(id, { student_ids: [a, b, c] })).status).toBe(200);
    expect((await stored()).places).toEqual(new Map([[a, 4_000], [b, 5_000], [c, 5_000]]));
    // Whoever comes back joins anew, by either way.
    await patch(a, { status: 'removed' });
    await patch(a, { status: 'accepted' });
    expect((await stored()).places.get(a)).toBe(5_000);
    expect((await at.put(id, { student_rate_cents: null })).status).toBe(200);
    expect(new Set((await stored()).places.values())).toEqual(new Set([4_007]));
  }); // prettier-ignore

  it('settles prices and pay alike by PATCH and by PUT', async () => {
    const [patched, put] = [await two(), await two()];
    await patched.patch(patched.b, { status: 'removed' });
    await put.at.put(put.id, { student_ids: [put.a] });
    const alone = { rate: 6_001, pay: null, pct: 61.25 };
    expect(await patched.stored()).toEqual({ ...alone, student_id: patched.a, places: new Map([[patched.a, 6_001]]) });
    expect(await put.stored()).toEqual({ ...alone, student_id: put.a, places: new Map([[put.a, 6_001]]) });
    await patched.patch(patched.b, { status: 'accepted' });
    await put.at.put(put.id, { student_ids: [put.a, put.b] });
    for (const { a, b, stored } of [patched, put]) {
      expect(await stored()).toEqual({ student_id: null, rate: 4_007, pay: 5_003, pct: null, places: new Map([[a, 4_007], [b, 4_007]]) });
    }
  }); // prettier-ignore

  it('leaves a completed session with its only student, also once it is reopened', async () => {
    const { at, a, b, id, patch, stored } = await two();
    expect((await at.send('put', `/v1/sessions/${id}/complete`, {})).status).toBe(200);
    await patch(b, { status: 'removed' });
    expect(await stored()).toMatchObject({ student_id: a });
    expect((await at.send('post', `/v1/sessions/${id}/reopen`)).status).toBe(200);
    expect(await stored()).toMatchObject({ student_id: a });
    await patch(a, { status: 'removed' });
    expect(await stored()).toMatchObject({ student_id: null, rate: null });
  });

  it('shows what the tutor gets once a session is completed', async () => {
    const { at, b, id, patch } = await two();
    await patch(b, { status: 'removed' });
    const shown = async () => (await at.send('get', `/v1/sessions/${id}`)).body as unknown as Record<string, number | null>;
    expect(await shown()).toMatchObject({ tutor_pay_rate_cents: null, tutor_pay_cents: null });
    await at.send('put', `/v1/sessions/${id}/complete`, {});
    expect(await shown()).toMatchObject({ tutor_pay_rate_cents: 3_676, tutor_pay_cents: 3_676 });
    await at.send('post', `/v1/sessions/${id}/reopen`);
    expect(await shown()).toMatchObject({ tutor_pay_rate_cents: null, tutor_pay_cents: null });
  });
});
