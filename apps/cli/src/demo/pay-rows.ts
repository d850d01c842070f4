import { dayOf } from '@app/scheduling';
import { DAY } from './clock.js';
import type { Row, Rows, TableRows } from './rows.js';
import { iso, perTeacher, type School } from './school.js';
import { pricesOf } from './prices.js';
import { allSessions, PAST_DAYS, type Session } from './sessions.js';

/** Tutors are paid every two weeks, for the sessions of two weeks. Period 0 ended yesterday and is not paid yet. */
const PERIOD_DAYS = 14;
const PERIODS = PAST_DAYS / PERIOD_DAYS;

/** The days of a period, relative to today. */
const daysOf = (period: number) => ({ first: -PERIOD_DAYS * (period + 1), last: -PERIOD_DAYS * period - 1 });

/** The period of an instant; -1 for what is yet to be paid for, and PERIODS for what is older than the demo. */
function periodOf(school: School, at: number): number {
  for (let period = -1; period < PERIODS; period++) {
    if (at >= school.clock.at(daysOf(period).first, 0)) return period;
  }
  return PERIODS;
}

/** This tutor is paid session by session; the others period by period. */
const paidBySession = (school: School) => school.teachers[2]!;

interface Adjustment {
  row: Row;
  period: number;
  /** 0 if it is voided. */
  counts: number;
}

function adjustment(school: School, tutor_id: string, number: number): Adjustment {
  const period = number % PERIODS;
  const { first, last } = daysOf(period);
  const createdAt = school.clock.at(last + 1, 9 * 60) - (number % 1_000) * 60_000;
  const voided = number % 5 === 4;
  const deduction = number % 3 === 1;
  const amount_cents = deduction ? -2_500 - (number % 7) * 100 : 4_000 + (number % 9) * 500;
  const row = {
    id: school.id('adjustment', number),
    tutor_id,
    period_start: school.clock.date(first),
    period_end: school.clock.date(last),
    amount_cents,
    note: deduction ? 'Overpaid in the last run' : number % 4 === 0 ? null : 'Holiday workshop bonus',
    voided,
    voided_at: voided ? iso(Math.min(createdAt + DAY, school.now)) : null,
    created_at: iso(Math.min(createdAt, school.now)),
  };
  return { row, period, counts: voided ? 0 : amount_cents };
}

/** Manual credits and deductions, some of them voided. */
function* adjustments(school: School): Rows {
  for (const { tutor, number } of perTeacher(school)) yield adjustment(school, tutor.id, number).row;
}

function* payouts(school: School): Rows {
  const { currency } = school.profile;
  const earned = new Map(school.teachers.map(({ id }) => [id, Array<number>(PERIODS).fill(0)]));
  const casual = paidBySession(school).id;
  for (const [index, lesson] of allSessions(school)) {
    const period = periodOf(school, lesson.startsAt);
    if (lesson.status !== 'completed' || period < 0 || period >= PERIODS) continue;
    const { id: tutor_id } = lesson.tutor;
    const pay = pricesOf(school, index, lesson).pay!;
    if (tutor_id !== casual) {
      earned.get(tutor_id)![period]! += pay;
    } else if (period > 0 && pay > 0) {
      const paidAt = iso(lesson.startsAt + DAY);
      yield {
        id: school.id('session-payout', index),
        tutor_id,
        session_id: lesson.id,
        amount_cents: pay,
        currency,
        is_group: lesson.student === null,
        paid_at: paidAt,
        created_at: paidAt,
      };
    }
  }
  for (const { tutor, number } of perTeacher(school)) {
    const { period, counts } = adjustment(school, tutor.id, number);
    earned.get(tutor.id)![period]! += counts;
  }
  for (const [place, { id: tutor_id }] of school.teachers.entries()) {
    let due = 0;
    for (let period = PERIODS - 1; period > 0; period--) {
      due += earned.get(tutor_id)![period]!;
      // Nobody pays back: what was deducted beyond a period's pay is left for the next one.
      if (due <= 0) continue;
      const paidAt = iso(school.clock.at(daysOf(period).last + 2, 10 * 60));
      yield {
        id: school.id('payout', place * PERIODS + period),
        tutor_id,
        session_id: null,
        amount_cents: due,
        currency,
        is_group: null,
        paid_at: paidAt,
        created_at: paidAt,
      };
      due = 0;
    }
  }
}

const DECIDED = ['approved', 'reimbursed', 'rejected'] as const;

/** Claims of the last two weeks wait for a decision. */
function decision(school: School, number: number, createdAt: number) {
  const status = createdAt > school.clock.at(-PERIOD_DAYS, 0) ? 'logged' : DECIDED[number % DECIDED.length]!;
  const approved = status === 'approved' || status === 'reimbursed';
  return { status, approved, approved_at: approved ? iso(Math.min(createdAt + DAY, school.now)) : null };
}

/** The last sessions of each tutor that took place in person: at most three. */
function visits(school: School): Map<string, Session[]> {
  const found = new Map(school.teachers.map(({ id }) => [id, [] as Session[]]));
  for (const [, lesson] of allSessions(school)) {
    if (lesson.status !== 'completed' || !lesson.inPerson) continue;
    const known = found.get(lesson.tutor.id)!;
    known.push(lesson);
    known.sort((one, other) => other.startsAt - one.startsAt).splice(3);
  }
  return found;
}

/** Drives to sessions, and to the bookshop. */
function* mileageTrips(school: School): Rows {
  const driven = visits(school);
  for (const { tutor, number } of perTeacher(school)) {
    const lesson = number % 3 === 2 ? undefined : driven.get(tutor.id)![number % 3];
    const at = lesson?.startsAt ?? school.clock.at(-2 - (number % 60), 9 * 60);
    const createdAt = Math.min(at + 3 * 3_600_000, school.now);
    const random = school.random('trip', number);
    const metres = random.int(12, 340) * 100;
    const { status, approved_at } = decision(school, number, createdAt);
    yield {
      id: school.id('trip', number),
      tutor_id: tutor.id,
      session_id: lesson?.id ?? null,
      trip_date: dayOf(new Date(at), school.profile.timeZone),
      destination: random.pick(school.profile.places).suburb,
      distance_km: metres / 1_000,
      duration_minutes: number % 4 === 3 ? null : Math.ceil(metres / 600),
      vehicle: number % 2 === 0 ? 'Own car' : null,
      tracking_method: number % 3 === 0 ? 'gps' : 'manual',
      status,
      rate_cents: 88,
      amount_cents: Math.round((metres * 88) / 1_000),
      approved_at,
      created_at: iso(createdAt),
    };
  }
}

const RECEIPTS = [
  ['materials', 'Officeworks'],
  ['training', 'Campus bookshop'],
  ['parking', 'City parking'],
  ['tolls', 'Eastern toll road'],
  ['other', null],
  [null, null],
] as const;

function* expenseClaims(school: School): Rows {
  for (const { tutor, number } of perTeacher(school)) {
    const days = 1 + ((number * 7) % 75);
    const createdAt = school.clock.at(-days, 18 * 60) - (number % 1_000) * 1_000;
    const { status, approved, approved_at } = decision(school, number, createdAt);
    const amount = school.random('expense', number).int(800, 9_000);
    const [category, vendor] = RECEIPTS[number % RECEIPTS.length]!;
    yield {
      id: school.id('expense', number),
      tutor_id: tutor.id,
      session_id: null,
      expense_date: school.clock.date(-days),
      category,
      vendor,
      amount_cents: amount,
      approved_amount_cents: approved ? amount - (number % 2) * 100 : null,
      status,
      receipt_photo_url: number % 2 === 0 ? `https://files.example.com/receipts/${number}.jpg` : null,
      approved_at,
      created_at: iso(createdAt),
    };
  }
}

export const payRows: TableRows = {
  adjustments,
  payouts,
  mileage_trips: mileageTrips,
  expense_claims: expenseClaims,
};
