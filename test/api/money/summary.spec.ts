import { TestApi } from '../../support/http/api.js';

const HOUR = 3_600_000;

const api = await TestApi.shared();
const { make } = api;

async function school(timeZone = 'Australia/Melbourne'): Promise<{ id: string; summary: () => Promise<Summary> }> {
  const { id } = await make.organization({ timeZone });
  const key = await api.key(id);
  return { id, summary: async () => (await api.get('/v1/reports/summary', key)).body as Summary };
}

interface Summary {
  active_tutors: number;
  active_students: number;
  sessions_today: number;
  settled_this_week_cents: number;
  outstanding_cents: number;
  pending_approvals: { mileage: number; expenses: number; total: number };
}

const NOTHING: Summary = {
  active_tutors: 0,
  active_students: 0,
  sessions_today: 0,
  settled_this_week_cents: 0,
  outstanding_cents: 0,
  pending_approvals: { mileage: 0, expenses: 0, total: 0 },
};

/** The local date in the time zone, such as `2026-05-01`. */
function dateIn(timeZone: string, at: number): string {
  return new Intl.DateTimeFormat('en-CA', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' }).format(at);
}

/** The first millisecond whose local date is not before `date`, found without offset arithmetic. */
function beginningOf(date: string, timeZone: string, near: number): number {
  let [before, from] = [near - 240 * HOUR, near + 240 * HOUR];
  while (from - before > 1) {
    const middle = Math.floor((before + from) / 2);
    if (dateIn(timeZone, middle) < date) before = middle;
    else from = middle;
  }
  return from;
}

/** The date this many calendar days later. */
function daysFrom(date: string, days: number): string {
  return new Date(Date.parse(date) + days * 24 * HOUR).toISOString().slice(0, 10);
}

/** Repeats the test if midnight passed during it. */
async function withinOneDay(timeZone: string, test: (today: string) => Promise<void>): Promise<void> {
  for (;;) {
    const today = dateIn(timeZone, Date.now());
    try {
      await test(today);
      return;
    } catch (error) {
      if (dateIn(timeZone, Date.now()) === today) throw error;
    }
  }
}

// Ahead of and behind UTC, by whole and partial hours: in some zone it is always another day than in UTC.
const ZONES = ['Australia/Melbourne', 'America/New_York', 'Pacific/Kiritimati', 'Pacific/Pago_Pago', 'Asia/Kathmandu', 'UTC'];

describe('the summary', () => {
  it('counts accepted tutors and students, and owners and admins only if they teach', async () => {
    const { id, summary } = await school();
    await make.tutor(id);
    await make.tutor(id, { role: 'owner' });
    await make.member(id, { role: 'owner' });
    await make.member(id, { role: 'admin' });
    for (const status of ['pending', 'archived'] as const) {
      await make.tutor(id, { status });
      await make.student(id, { status });
    }
    for (let n = 0; n < 3; n++) await make.student(id);
    await make.parent(id, { children: [(await make.student(id)).id] });
    expect(await summary()).toEqual({ ...NOTHING, active_tutors: 2, active_students: 4 });
  });

  it.each(ZONES)('counts sessions that begin today in %s and are not cancelled', async (timeZone) => {
    await withinOneDay(timeZone, async (today) => {
      const { id, summary } = await school(timeZone);
      const start = beginningOf(today, timeZone, Date.now());
      const end = beginningOf(daysFrom(today, 1), timeZone, Date.now());
      expect([22, 23, 24, 25, 26]).toContain((end - start) / HOUR);
      const at = async (time: number, status: 'scheduled' | 'completed' | 'cancelled' = 'scheduled') => {
        await make.session(id, { startsAt: new Date(time), status });
        return (await summary()).sessions_today;
      };
      expect(await at(start - 1)).toBe(0);
      expect(await at(end)).toBe(0);
      expect(await at(start + HOUR, 'cancelled')).toBe(0);
      expect(await at(start)).toBe(1);
      expect(await at(end - 1)).toBe(2);
      expect(await at(start + 12 * HOUR, 'completed')).toBe(3);
    });
  });

  it.each(ZONES)('sums payments since Monday in %s', async (timeZone) => {
    await withinOneDay(timeZone, async (today) => {
      const { id, summary } = await school(timeZone);
      // Sunday is 0 and ends the week that began six days earlier.
      const monday = daysFrom(today, -((new Date(today).getUTCDay() + 6) % 7));
      const start = beginningOf(monday, timeZone, Date.parse(monday));
      const paid = async (time: number, amountCents: number, more: object = {}) => {
        await make.payment(id, { createdAt: new Date(time), amountCents, ...more });
        return (await summary()).settled_this_week_cents;
      };
      expect(await paid(start - 1, 1)).toBe(0);
      expect(await paid(start, 20)).toBe(20);
      expect(await paid(Date.now(), 300)).toBe(320);
      for (const status of ['pending', 'failed', 'refunded']) expect(await paid(Date.now(), 4_000, { status })).toBe(320);
    });
  });

  it('sums what is outstanding on open invoices', async () => {
    const { id, summary } = await school();
    const { id: student } = await make.student(id);
    await make.invoice(id, student, { status: 'open', amountDueCents: 10_000, amountPaidCents: 2_500 });
    await make.invoice(id, student, { status: 'open', amountDueCents: 1_000_000_000_000 });
    for (const status of ['draft', 'paid', 'void'] as const) await make.invoice(id, student, { status });
    expect(await summary()).toEqual({ ...NOTHING, active_students: 1, outstanding_cents: 1_000_000_007_500 });
  });

  it('counts mileage and expenses waiting for approval', async () => {
    const { id, summary } = await school();
    const { id: tutor } = await make.tutor(id);
    for (const status of ['logged', 'logged', 'approved', 'rejected', 'reimbursed'] as const) {
      await make.mileage(id, tutor, { status });
    }
    for (const status of ['logged', 'approved', 'rejected', 'reimbursed'] as const) await make.expense(id, tutor, { status });
    const pending_approvals = { mileage: 2, expenses: 1, total: 3 };
    expect(await summary()).toEqual({ ...NOTHING, active_tutors: 1, pending_approvals });
  });

  it('does not count other organizations’ records', () => withinOneDay('Australia/Melbourne', async () => {
    const [one, other] = [await school(), await school()];
    const { id: tutor } = await make.tutor(other.id);
    const { id: student } = await make.student(other.id);
    await make.session(other.id, { startsAt: new Date(), tutorId: tutor, studentId: student });
    await make.payment(other.id);
    await make.invoice(other.id, student);
    await make.mileage(other.id, tutor);
    await make.expense(other.id, tutor);
    expect(await one.summary()).toEqual(NOTHING);
    expect(Object.values(await other.summary())).not.toContain(0);
  })); // prettier-ignore
});
