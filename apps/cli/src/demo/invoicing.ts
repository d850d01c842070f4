import { DAY } from './clock.js';
import { pricesOf } from './prices.js';
import { type School } from './school.js';
import { allSessions, lessons, PAST_DAYS, type Session } from './sessions.js';

/** Families are billed every four weeks; the last time was a week ago. What was taught since then is on drafts. */
const RUN_DAYS = 28;
const LAST_RUN = 7;
const RUNS = PAST_DAYS / RUN_DAYS;

/** Days until an invoice is due. */
export const TERMS_DAYS = 14;

const HOUR = 3_600_000;

export interface Line {
  description: string;
  quantity: number;
  /** Cents. */
  unit: number;
  type: string | null;
  sessionId: string | null;
}

export interface Receipt {
  status: 'pending' | 'succeeded' | 'refunded' | 'failed' | 'disputed' | 'canceled';
  /** Cents. */
  amount: number;
  refunded: number;
  at: number;
}

export interface Invoice {
  status: 'draft' | 'open' | 'paid' | 'void' | 'uncollectible';
  student: number;
  lines: Line[];
  /** Cents. */
  due: number;
  paid: number;
  receipts: Receipt[];
  createdAt: number;
  /** The day relative to today; null for a draft. */
  issuedOn: number | null;
}

const EXTRAS = [
  { description: 'Study guide', quantity: 1, unit: 3_495, type: 'material' },
  { description: 'Printed past papers', quantity: 2, unit: 1_200, type: 'material' },
  { description: 'Sibling discount', quantity: 1, unit: -1_500, type: 'discount' },
  { description: 'Room hire, shared', quantity: 2, unit: 750, type: 'other' },
  { description: 'Carried over', quantity: 1, unit: 500, type: null },
];

/**
 * Every invoice, in the order of their numbers: what was billed for lessons is on exactly one of them. Another run at another time
 * makes the same ones, because all of it depends on days before today.
 */
export function* allInvoices(school: School): Generator<Invoice> {
  const runs = lessonsByRun(school);
  const lessonAt = lessons(school);
  const days = new Intl.DateTimeFormat('en-AU', { dateStyle: 'long', timeZone: school.profile.timeZone });
  let number = 0;
  for (let run = RUNS - 1; run >= -1; run--) {
    const families = [...(runs.get(run) ?? [])].sort(([one], [other]) => one - other);
    const issuedOn = run < 0 ? null : -LAST_RUN - run * RUN_DAYS;
    for (const [place, [student, billed]] of families.entries()) {
      const lines = billed.map(([index, cents]) => lineOf(lessonAt(index), cents, days));
      // From nine to five; the drafts are of today.
      const createdAt =
        issuedOn === null
          ? school.clock.at(0, 0)
          : school.clock.at(issuedOn, 9 * 60) + Math.floor((place / families.length) * 8 * HOUR);
      yield invoice(school, number++, { student, lines, createdAt, issuedOn }, run);
    }
    // Once a term somebody bills an enrolment twice, and voids it.
    if (run % 3 === 0) {
      const student = school.someStudent(run * 5);
      const lines = [{ description: 'Enrolment fee', quantity: 1, unit: 9_500, type: 'fee', sessionId: null }];
      const createdAt = school.clock.at(issuedOn!, 17 * 60 + 30);
      yield { student, lines, createdAt, issuedOn, status: 'void', due: 9_500, paid: 0, receipts: [] };
      number++;
    }
  }
}

/** A lesson, by its index, and what it costs. */
type Billed = [index: number, cents: number];

/** The lessons that students are to pay with each run; -1 is what has not been billed yet. Their lines would take ten times the memory. */
function lessonsByRun(school: School): Map<number, Map<number, Billed[]>> {
  const runs = new Map<number, Map<number, Billed[]>>();
  const [today, billed] = [school.clock.at(0, 0), school.clock.at(-LAST_RUN, 0)];
  for (const [index, lesson] of allSessions(school)) {
    if (lesson.startsAt >= today) continue;
    for (const { student, billed: cents } of pricesOf(school, index, lesson).participants) {
      if (cents === 0) continue;
      const run = lesson.startsAt >= billed ? -1 : runOf(school, lesson.startsAt);
      const families = runs.get(run) ?? new Map<number, Billed[]>();
      runs.set(run, families.set(student, [...(families.get(student) ?? []), [index, cents]]));
    }
  }
  return runs;
}

function runOf(school: School, at: number): number {
  let run = 0;
  while (at < school.clock.at(-LAST_RUN - (run + 1) * RUN_DAYS, 0)) run++;
  return Math.min(run, RUNS - 1);
}

function lineOf({ id, late, subject, startsAt, minutes }: Session, cents: number, days: Intl.DateTimeFormat): Line {
  return {
    description: late ? 'late cancellation' : `${subject.name} lesson on ${days.format(startsAt)}, ${minutes} minutes`,
    quantity: 1,
    unit: cents,
    type: late ? 'fee' : 'session',
    sessionId: id,
  };
}

type Issued = Pick<Invoice, 'student' | 'lines' | 'createdAt' | 'issuedOn'>;

function invoice(school: School, number: number, billed: Issued, run: number): Invoice {
  const extra = EXTRAS[number % 8];
  const sum = billed.lines.reduce((total, { unit }) => total + unit, 0);
  const lines = extra && sum + extra.unit > 0 ? [...billed.lines, { ...extra, sessionId: null }] : billed.lines;
  const due = lines.reduce((total, { quantity, unit }) => total + quantity * unit, 0);
  const issued = { ...billed, lines, due, paid: 0, receipts: [] };
  if (run < 0) return { ...issued, status: 'draft' };
  if (run >= 3 && number % 29 === 11) return { ...issued, status: 'uncollectible' };
  // Of the last run about half are paid; of older ones few are not.
  const open = run === 0 ? number % 2 === 1 : run < 3 && number % 7 === 3;
  const receipts = open ? owing(number, issued) : settled(number, issued);
  const paid = receipts.reduce((total, one) => total + (one.status === 'succeeded' ? one.amount - one.refunded : 0), 0);
  return {
    ...issued,
    status: open ? 'open' : 'paid',
    paid,
    receipts: receipts.map((one) => ({ ...one, at: Math.min(one.at, school.now) })),
  };
}

/** What was received for an invoice that is not paid. */
function owing(number: number, { due, createdAt }: Pick<Invoice, 'due' | 'createdAt'>): Receipt[] {
  const receipt = { amount: due, refunded: 0, at: createdAt + 5 * DAY };
  const states = ['pending', 'succeeded', 'disputed', null, 'failed', 'canceled'] as const;
  const status = states[(number >> 1) % states.length] ?? null;
  return status === null
    ? []
    : [{ ...receipt, status, ...(status === 'succeeded' && { amount: Math.floor(due / 2) }) }];
}

/** How an invoice was paid: at once as a rule, also in two parts, too much, or twice; what was too much went back. */
function settled(number: number, { due, createdAt }: Pick<Invoice, 'due' | 'createdAt'>): Receipt[] {
  const receipt: Receipt = { status: 'succeeded', amount: due, refunded: 0, at: createdAt + (1 + (number % 7)) * DAY };
  const later = receipt.at + HOUR;
  if (number % 16 === 4) {
    const half = Math.floor(due / 2);
    return [
      { ...receipt, amount: half },
      { ...receipt, amount: due - half, at: later },
    ];
  }
  if (number % 32 === 6) return [{ ...receipt, amount: due + 2_000, refunded: 2_000 }];
  if (number % 32 === 14) return [receipt, { ...receipt, status: 'refunded', refunded: due, at: later }];
  if (number % 32 === 22)
    return [
      { ...receipt, status: 'failed' },
      { ...receipt, at: later },
    ];
  return [receipt];
}
