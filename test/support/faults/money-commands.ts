import fc from 'fast-check';
import type { ShownInvoice } from '../data/money-fixture.js';
import type { MoneyBooks } from './money-books.js';

const KINDS = {
  book: 4,
  complete: 6,
  reopen: 2,
  cancel: 1,
  draft: 4,
  line: 1,
  unline: 1,
  finalize: 6,
  void: 2,
  pay: 5,
  refund: 3,
  adjust: 1,
  unadjust: 1,
  'pay out': 2,
} as const;
type Kind = keyof typeof KINDS;

/** A choice among what there is when it is made. */
export interface Command {
  kind: Kind;
  which: number;
  /** Picks among variants of a command. */
  variant: number;
  cents: number;
}

const command = fc.record<Command>({
  kind: fc.oneof(...Object.entries(KINDS).map(([kind, weight]) => ({ weight, arbitrary: fc.constant(kind as Kind) }))),
  which: fc.nat(999),
  variant: fc.nat(11),
  cents: fc.integer({ min: 1, max: 9_000 }),
});

/** Rounds of commands, those of one at the same time. */
export const history = fc.array(fc.array(command, { minLength: 1, maxLength: 8, size: 'max' }), { minLength: 4, maxLength: 8, size: 'max' });

/** A request as it is sent. */
export interface Wish {
  kind: Kind;
  /** The record that it is about. */
  id?: string;
  /** The line that is removed. */
  line?: { id: string; cents: number; session: string | null };
  body?: Partial<{
    tutor_id: string;
    student_id: string;
    student_ids: string[];
    parent_id: string;
    invoice_id: string;
    session_id: string;
    starts_at: string;
    duration_minutes: number;
    student_rate_cents: number;
    tutor_pay_rate_cents: number;
    allow_overlap: boolean;
    participants: { student_id: string; attendance: string }[];
    charge_percent: number;
    description: string;
    quantity: number;
    unit_amount_cents: number;
    lines: { description: string; quantity?: number; unit_amount_cents: number }[];
    due_date: string;
    rebill: boolean;
    amount_cents: number;
    payment_type: string;
    period_start: string;
    period_end: string;
  }>;
}

/** An answer, whose body depends on the request. */
export interface Answer {
  status: number;
  body: object;
}

export const PATHS: Record<Kind, (wish: Wish) => string> = {
  book: () => '/v1/sessions',
  complete: ({ id }) => `/v1/sessions/${id}/complete`,
  reopen: ({ id }) => `/v1/sessions/${id}/reopen`,
  cancel: ({ id }) => `/v1/sessions/${id}/cancel`,
  draft: () => '/v1/invoices',
  line: ({ id }) => `/v1/invoices/${id}/lines`,
  unline: ({ id, line }) => `/v1/invoices/${id}/lines/${line!.id}`,
  finalize: ({ id }) => `/v1/invoices/${id}/finalize`,
  void: ({ id }) => `/v1/invoices/${id}/void`,
  pay: () => '/v1/payments',
  refund: ({ id }) => `/v1/payments/${id}/refund`,
  adjust: () => '/v1/adjustments',
  unadjust: ({ id }) => `/v1/adjustments/${id}/void`,
  'pay out': () => '/v1/payouts',
};

export const methodOf = ({ kind }: Wish): string => (kind === 'complete' ? 'PUT' : kind === 'unline' ? 'DELETE' : 'POST');

const NOBODY = '0190a6f2-5c1e-7d3a-9b4f-2e8c6d1a7f30';
const MINUTES = [45, 50, 60, 35];
const DAY_MS = 86_400_000;

/** Who there is to teach and to pay. */
export interface People {
  tutors: string[];
  students: string[];
  parents: string[];
}

/** What is done instead, nearly always, if there is nothing yet that a command could be about. */
const MAKER = {
  ...{ complete: 'book', reopen: 'book', cancel: 'book', 'pay out': 'book' },
  ...{ line: 'draft', unline: 'draft', finalize: 'draft', void: 'draft', refund: 'pay', unadjust: 'adjust' },
} as const satisfies Partial<Record<Kind, Kind>>;

/** What a command wishes for in the present state. @param shown the invoices, as the API shows them */
export function wishOf(command: Command, books: MoneyBooks, shown: readonly ShownInvoice[], people: People): Wish {
  const { which, variant, cents } = command;
  const some: Partial<Record<Kind, number>> = {
    book: books.lessons.size,
    draft: shown.length,
    pay: books.money.length,
    adjust: books.adjustments.size,
  };
  const maker = command.kind in MAKER ? MAKER[command.kind as keyof typeof MAKER] : null;
  const kind = maker && some[maker] === 0 && variant < 11 ? maker : command.kind;
  const one = <T>(of: readonly T[]): T | undefined => of[which % Math.max(of.length, 1)];
  const student = people.students[which % people.students.length]!;
  const [session, lesson] = one([...books.lessons]) ?? [NOBODY, undefined];
  const invoice = one(shown);
  // Most of what is done is done with what is not finished.
  const draft = variant < 9 ? (one(shown.filter(({ status }) => status === 'draft')) ?? invoice) : invoice;
  const open = variant < 9 ? (one(shown.filter(({ status }) => status === 'open')) ?? invoice) : invoice;
  const tutor_id = people.tutors[which % people.tutors.length]!;
  switch (kind) {
    case 'book': {
      const student_ids = people.students.filter((_, index) => index === which % 3 || (variant >> index) % 2 === 1);
      const starts_at = new Date(Math.floor(Date.now() / DAY_MS) * DAY_MS - 3 * DAY_MS).toISOString();
      const terms = { student_rate_cents: cents, tutor_pay_rate_cents: cents % 97 === 0 ? 0 : cents + 11 };
      return { kind, body: { tutor_id, student_ids, starts_at, duration_minutes: MINUTES[variant % 4]!, ...terms, allow_overlap: true } };
    }
    case 'complete': {
      const absent = variant % 3 === 0 && lesson ? [{ student_id: one(lesson.students)!, attendance: variant < 6 ? 'excused' : 'no_show' }] : [];
      return { kind, id: session, body: { participants: absent } };
    }
    case 'reopen':
      return { kind, id: session };
    case 'cancel':
      return { kind, id: session, body: { charge_percent: [0, 33, 50, 100][variant % 4]! } };
    case 'draft': {
      const lines = [{ description: 'Books', quantity: 1 + (variant % 3), unit_amount_cents: cents }];
      const discount = { description: 'Discount', unit_amount_cents: -cents * (1 + (variant % 2)) };
      return { kind, body: { student_id: student, lines: variant > 9 ? [] : variant > 7 ? [...lines, discount] : lines } };
    }
    case 'line':
      return { kind, id: draft?.id ?? NOBODY, body: { description: 'More', quantity: 1, unit_amount_cents: variant % 4 === 0 ? -cents : cents } };
    case 'unline': {
      const line = draft && one(draft.line_items);
      return {
        kind,
        id: draft?.id ?? NOBODY,
        line: line ? { id: line.id, cents: line.amount_cents, session: line.session_id } : { id: NOBODY, cents: -1, session: null },
      };
    }
    case 'finalize':
      return { kind, id: draft?.id ?? NOBODY, body: variant % 3 === 0 ? { due_date: `2030-01-0${1 + (cents % 4)}` } : {} };
    case 'void':
      return { kind, id: open?.id ?? NOBODY, body: { rebill: variant % 2 === 0 } };
    case 'pay': {
      const payer = variant % 3 === 0 ? { parent_id: people.parents[which % people.parents.length]! } : { student_id: student };
      const named = variant % 4 === 0 && open ? { invoice_id: open.id } : {};
      return { kind, body: { ...payer, ...named, amount_cents: cents * (1 + (variant % 2)), payment_type: 'cash' } };
    }
    case 'refund': {
      const payment = one(books.money);
      const all = payment && variant % 3 === 0 ? Math.max(1, payment.cents - payment.refunded) : cents;
      return { kind, id: payment?.id ?? NOBODY, body: { amount_cents: all } };
    }
    case 'adjust': {
      const period = { period_start: '2026-04-13', period_end: '2026-04-26' };
      return { kind, body: { tutor_id, ...period, amount_cents: variant % 2 === 0 ? cents : -cents } };
    }
    case 'unadjust':
      return { kind, id: one([...books.adjustments.keys()]) ?? NOBODY };
    case 'pay out': {
      if (!lesson || variant % 4 === 0) return { kind, body: { tutor_id, amount_cents: cents } };
      return { kind, body: { tutor_id: lesson.tutor, session_id: session, amount_cents: lesson.pay || cents } };
    }
  }
}
