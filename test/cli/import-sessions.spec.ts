import { randomUUID } from 'node:crypto';
import { ImportFixture } from '../support/data/import-fixture.js';
import type { Row } from '../support/database/schema-fixture.js';

describe('imported sessions', () => {
  let imports: ImportFixture;

  beforeAll(async () => {
    imports = await ImportFixture.open();
  });
  beforeEach(() => imports.renew());
  afterAll(() => imports.close());

  const lesson = (hours: [from: number, to: number], more: Row = {}): Row => ({
    id: randomUUID(),
    tutor_id: imports.school.tutor.id,
    starts_at: new Date(Date.UTC(2026, 4, 4, hours[0])).toISOString(),
    ends_at: new Date(Date.UTC(2026, 4, 4, hours[1])).toISOString(),
    duration_minutes: (hours[1] - hours[0]) * 60,
    ...more,
  });

  const marked = async (rows: Row[]) => {
    const stored = await imports.database.all('SELECT id, overlap_allowed AS marked FROM sessions');
    return rows.map(({ id }) => stored.find((row) => row.id === id)!.marked);
  };

  it('may overlap, and are marked where they do, beside each other and beside those that exist', async () => {
    const first = [
      lesson([9, 10]),
      lesson([10, 12]),
      lesson([11, 13]),
      lesson([8, 20], { status: 'cancelled' }),
      lesson([9, 13], { tutor_id: null, status: 'pending' }),
    ];
    await imports.load(imports.school.with({ sessions: first }));
    expect(await marked(first)).toEqual([false, false, true, false, false]);
    const second = [lesson([8, 10]), lesson([13, 14]), lesson([12, 13])];
    await imports.load({ sessions: second });
    expect(await marked(second)).toEqual([true, false, true]);
    // The same again changes nothing.
    await imports.load({ sessions: [...first, ...second] });
    expect(await marked([...first, ...second])).toEqual([false, false, true, false, false, true, false, true]);
  });

  it('have the pay that the file says, or else that of their rate, once they are completed', async () => {
    const done = { status: 'completed', tutor_pay_rate_cents: 5030 };
    const wanted: [Row, number | null][] = [
      [
        lesson([1, 2], {
          ...done,
          ends_at: new Date(Date.parse(String(lesson([1, 2]).starts_at)) + 45 * 60_000).toISOString(),
          duration_minutes: 45,
        }),
        3773,
      ],
      [lesson([2, 3], { ...done, tutor_pay_cents: 0 }), 0],
      [lesson([3, 4], { ...done, tutor_pay_cents: 700, tutor_pay_rate_cents: null }), 700],
      [lesson([4, 5], { ...done, tutor_pay_rate_cents: null }), null],
      [lesson([5, 6], { ...done, status: 'scheduled' }), null],
      [lesson([6, 7], { tutor_pay_rate_cents: 5030 }), null],
    ];
    await imports.load(imports.school.with({ sessions: wanted.map(([row]) => row) }));
    const stored = await imports.database.all('SELECT id, tutor_pay_cents::integer AS pay FROM sessions');
    expect(wanted.map(([{ id }]) => stored.find((row) => row.id === id)!.pay)).toEqual(wanted.map(([, pay]) => pay));
  });

  it('have their only student as a participant, unless a file has another', async () => {
    const student_id = imports.school.student.id;
    const sessions = [
      lesson([1, 2], { student_id, status: 'completed', student_rate_cents: 8000 }),
      lesson([2, 3], { student_id, status: 'cancelled', cancelled_at: '2026-05-01T00:00:00Z' }),
      lesson([3, 4], { student_id }),
    ];
    const own = { id: randomUUID(), session_id: sessions[2]!.id, student_id, status: 'declined' };
    const report = await imports.load(imports.school.with({ sessions, lesson_participants: [own] }));
    expect(report.lesson_participants).toMatchObject({ inserted: 1 });
    const places = await imports.database.all(`SELECT p.id, p.status, p.attendance, p.rate_cents::integer, p.cancelled_at IS NULL AS open
      FROM lesson_participants p JOIN sessions s ON s.id = p.session_id WHERE s.id = ANY ('{${sessions.map(({ id }) => String(id)).join()}}') ORDER BY s.starts_at`);
    expect(places).toMatchObject([
      { status: 'accepted', attendance: 'attended', rate_cents: 8000, open: true },
      { status: 'cancelled', attendance: null, rate_cents: null, open: false },
      { id: own.id, status: 'declined', rate_cents: null },
    ]);
    for (const { id } of places.slice(0, 2)) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab]/);
  });
});
