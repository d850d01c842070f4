import type { ShownInvoice, ShownPayment } from '../data/money-fixture.js';
import type { ShownSession } from '../data/calendar-fixture.js';
import type { Answer, Wish } from './money-commands.js';

interface Line {
  cents: number;
  session: string | null;
}

interface Bill {
  /** Null for a collecting draft that no answer has named yet. */
  id: string | null;
  student: string;
  status: 'draft' | 'open' | 'paid' | 'void';
  number: string | null;
  due: string | null;
  paid: number;
  collecting: boolean;
  /** When it was voided. */
  rebilled?: boolean;
  lines: Line[];
  /** Lines that were removed by their ids. */
  gone: Set<string>;
}

interface Money {
  id: string;
  student: string | null;
  family: readonly string[];
  at: string;
  cents: number;
  refunded: number;
  credit: number;
  sentFor: string | null;
  /** In the order in which it was applied. */
  applied: { bill: Bill; cents: number }[];
}

interface Lesson {
  tutor: string;
  minutes: number;
  rate: number;
  payRate: number;
  students: string[];
  status: 'scheduled' | 'completed' | 'cancelled';
  /** Who came, once it is completed. */
  came: Map<string, string>;
  owed: number | null;
  pay: number | null;
  /** What was charged for cancelling it, in percent. */
  charged: number;
  paidOut: boolean;
}

/** An organization's money, recomputed from what was answered. It shares no code with the service. */
export class MoneyBooks {
  readonly bills: Bill[] = [];
  readonly money: Money[] = [];
  readonly lessons = new Map<string, Lesson>();
  readonly adjustments = new Map<string, { tutor: string; cents: number; voided: boolean }>();
  readonly payouts: { tutor: string; cents: number }[] = [];

  /** @param families the students of each parent */
  constructor(readonly families: ReadonlyMap<string, readonly string[]>) {}

  /** The status that a wish gets in the present state. */
  verdict({ kind, id = '', body = {}, line }: Wish): number {
    const [lesson, payment] = [this.lessons.get(id), this.money.find((one) => one.id === id)];
    const bill = this.billOf(id);
    switch (kind) {
      case 'complete': {
        if (!lesson) return 404;
        if (lesson.status !== 'completed') return lesson.status === 'scheduled' ? 200 : 409;
        return body.participants!.every((one) => lesson.came.get(one.student_id) === one.attendance) ? 200 : 409;
      }
      case 'reopen': {
        if (!lesson) return 404;
        const issued = this.bills.some(({ status, lines }) => ['open', 'paid'].includes(status) && lines.some(({ session }) => session === id));
        return lesson.status === 'cancelled' || (lesson.status === 'completed' && issued) ? 409 : 200;
      }
      case 'cancel':
        if (!lesson) return 404;
        return lesson.status === 'completed' || (lesson.status === 'cancelled' && body.charge_percent !== lesson.charged) ? 409 : 200;
      case 'line':
        return bill ? (bill.status === 'draft' ? 201 : 409) : 404;
      case 'unline':
        if (!bill || bill.status !== 'draft') return bill ? 409 : 404;
        return bill.gone.has(line!.id) || !bill.lines.some((one) => isLine(one, line!)) ? 404 : 204;
      case 'finalize':
        if (!bill) return 404;
        if (bill.status === 'draft') return bill.lines.length === 0 || sum(bill.lines) < 0 ? 409 : 200;
        return bill.status === 'void' || (body.due_date && body.due_date !== bill.due) ? 409 : 200;
      case 'void':
        if (bill?.status === 'void') return body.rebill === bill.rebilled ? 200 : 409;
        return bill ? (bill.status === 'open' ? 200 : 409) : 404;
      case 'pay': {
        if (!body.invoice_id) return 201;
        const named = this.billOf(body.invoice_id);
        return !named ? 404 : !this.familyOf(body).includes(named.student) ? 422 : named.status === 'open' ? 201 : 409;
      }
      case 'refund':
        if (!payment) return 404;
        return payment.refunded === payment.cents ? 409 : body.amount_cents! > payment.cents - payment.refunded ? 422 : 200;
      case 'pay out': {
        const session = body.session_id ? this.lessons.get(body.session_id) : null;
        return session === undefined ? 404 : !session ? 201 : session.status !== 'completed' ? 409 : session.paidOut ? 422 : 201;
      }
      case 'unadjust':
        return this.adjustments.has(id) ? 200 : 404;
      default:
        return 201;
    }
  }

  /** Does what was wished for. @param answer null if it never arrived */
  apply({ kind, id = '', body = {}, line }: Wish, answer: Answer | null): void {
    const lesson = this.lessons.get(id)!;
    const bill = this.billOf(id);
    if (kind === 'book') {
      const { duration_minutes: minutes, student_rate_cents: rate, tutor_pay_rate_cents: payRate, student_ids: students, tutor_id: tutor } = body;
      const booked = { tutor: tutor!, minutes: minutes!, rate: rate!, payRate: payRate!, students: students! };
      const fresh = { status: 'scheduled' as const, came: new Map<string, string>(), owed: null, pay: null, charged: 0, paidOut: false };
      this.lessons.set(idOf(answer), { ...booked, ...fresh });
    } else if (kind === 'complete' && lesson.status === 'scheduled') {
      const named = new Map(body.participants!.map((one) => [one.student_id, one.attendance]));
      lesson.came = new Map(lesson.students.map((student) => [student, named.get(student) ?? 'attended']));
      this.charge(id, lesson, (student) => (lesson.came.get(student) === 'excused' ? 0 : hourly(lesson.rate, lesson.minutes)));
      Object.assign(lesson, { status: 'completed', pay: hourly(lesson.payRate, lesson.minutes) });
    } else if (kind === 'reopen' && lesson.status === 'completed') {
      for (const one of this.bills) if (one.status === 'draft') one.lines = one.lines.filter(({ session }) => session !== id);
      Object.assign(lesson, { status: 'scheduled', came: new Map(), owed: null, pay: null });
    } else if (kind === 'cancel' && lesson.status === 'scheduled') {
      const percent = body.charge_percent!;
      if (percent > 0) this.charge(id, lesson, () => halfUp(hourly(lesson.rate, lesson.minutes) * percent, 100));
      Object.assign(lesson, { status: 'cancelled', charged: percent });
    } else if (kind === 'draft') {
      const lines = body.lines!.map(lineOf);
      this.bills.push({ ...blank(body.student_id!), id: idOf(answer), collecting: false, lines });
    } else if (kind === 'line') {
      bill!.lines.push(lineOf(body));
    } else if (kind === 'unline') {
      bill!.gone.add(line!.id);
      bill!.lines.splice(
        bill!.lines.findIndex((one) => isLine(one, line!)),
        1,
      );
    } else if (kind === 'finalize' && bill!.status === 'draft') {
      const issued = this.bills.filter(({ number }) => number !== null).length;
      const due = body.due_date ?? (answer?.body as ShownInvoice | undefined)?.due_date ?? null;
      const status = sum(bill!.lines) === 0 ? 'paid' : 'open';
      Object.assign(bill!, { status, collecting: false, due, number: `INV-${String(issued + 1).padStart(6, '0')}` });
    } else if (kind === 'void' && bill!.status === 'open') {
      Object.assign(bill!, { status: 'void', rebilled: body.rebill });
      for (const payment of this.money) {
        payment.credit += sum(payment.applied.filter((one) => one.bill === bill));
        payment.applied = payment.applied.filter((one) => one.bill !== bill);
      }
      bill!.paid = 0;
      if (body.rebill && bill!.lines.length > 0) this.collecting(bill!.student).lines.push(...bill!.lines.map((one) => ({ ...one })));
    } else if (kind === 'pay') {
      const { student_id: student = null, amount_cents: cents, invoice_id: sentFor = null } = body;
      const at = (answer!.body as { created_at: string }).created_at;
      const fresh = { cents: cents!, credit: cents!, refunded: 0, applied: [] };
      this.money.push({ id: idOf(answer), student, family: this.familyOf(body), at, sentFor, ...fresh });
    } else if (kind === 'refund') {
      this.refund(
        this.money.find((one) => one.id === id)!,
        body.amount_cents!,
      );
    } else if (kind === 'adjust') {
      this.adjustments.set(idOf(answer), { tutor: body.tutor_id!, cents: body.amount_cents!, voided: false });
    } else if (kind === 'unadjust') {
      this.adjustments.get(id)!.voided = true;
    } else if (kind === 'pay out') {
      this.payouts.push({ tutor: body.tutor_id!, cents: body.amount_cents! });
      if (body.session_id) this.lessons.get(body.session_id)!.paidOut = true;
    }
    this.settle();
  }

  /** What must be answered of a record, and what was, in the same form; null for answers that show none of these. */
  compared({ kind, id = '' }: Wish, { body }: Answer): [unknown, unknown] | null {
    if (['book', 'complete', 'reopen', 'cancel'].includes(kind)) {
      const { status, amount_owed_cents } = body as ShownSession;
      const lesson = this.lessons.get(id || idOf({ status: 200, body }))!;
      return [
        { status: lesson.status, owed: lesson.owed },
        { status, owed: amount_owed_cents },
      ];
    }
    if (['draft', 'line', 'finalize', 'void'].includes(kind)) {
      const told = body as ShownInvoice;
      return [shownOf(this.billOf(told.id)!), toldOf(told)];
    }
    if (['pay', 'refund'].includes(kind)) {
      const { id: payment, status, refund_amount_cents } = body as ShownPayment;
      const { cents, refunded } = this.money.find((one) => one.id === payment)!;
      return [
        { status: refunded === cents ? 'refunded' : 'succeeded', refunded },
        { status, refunded: refund_amount_cents ?? 0 },
      ];
    }
    return null;
  }

  /** Takes the ids of invoices that nobody has named yet: each is the collecting draft of its student. */
  identify(shown: readonly ShownInvoice[]): void {
    for (const { id, student_id } of shown.filter(({ id }) => !this.billOf(id))) {
      const draft = this.bills.find((bill) => bill.id === null && bill.student === student_id);
      if (draft) draft.id = id;
    }
  }

  private billOf(id: string): Bill | undefined {
    return this.bills.find((bill) => bill.id === id);
  }

  private familyOf({ student_id, parent_id }: NonNullable<Wish['body']>): readonly string[] {
    return student_id ? [student_id] : this.families.get(parent_id!)!;
  }

  private collecting(student: string): Bill {
    const found = this.bills.find((bill) => bill.collecting && bill.student === student);
    if (found) return found;
    this.bills.push(blank(student));
    return this.bills.at(-1)!;
  }

  private charge(session: string, lesson: Lesson, priceOf: (student: string) => number): void {
    lesson.owed = 0;
    for (const student of lesson.students) {
      const cents = priceOf(student);
      lesson.owed += cents;
      if (cents > 0) this.collecting(student).lines.push({ cents, session });
    }
  }

  private refund(payment: Money, cents: number): void {
    payment.refunded += cents;
    const credit = Math.min(cents, payment.credit);
    payment.credit -= credit;
    for (let left = cents - credit; left > 0;) {
      const newest = payment.applied.at(-1)!;
      const taken = Math.min(left, newest.cents);
      newest.cents -= taken;
      newest.bill.paid -= taken;
      newest.bill.status = 'open';
      if (newest.cents === 0) payment.applied.pop();
      left -= taken;
    }
  }

  /** All money that is left pays what it can: students' own before parents', the oldest first. */
  private settle(): void {
    const order = ({ student, at, id }: Money) => `${student === null ? 1 : 0} ${at} ${id}`;
    for (const payment of this.money.filter(({ credit }) => credit > 0).sort((a, b) => (order(a) < order(b) ? -1 : 1))) {
      const rank = ({ id, due }: Bill) => (id === payment.sentFor ? '' : `${due} ${id}`);
      const open = this.bills.filter(({ status, student }) => status === 'open' && payment.family.includes(student));
      for (const bill of open.sort((a, b) => (rank(a) < rank(b) ? -1 : 1))) {
        const cents = Math.min(payment.credit, sum(bill.lines) - bill.paid);
        if (cents === 0) continue;
        payment.credit -= cents;
        bill.paid += cents;
        payment.applied.push({ bill, cents });
        if (bill.paid === sum(bill.lines)) bill.status = 'paid';
      }
    }
  }
}

export const sum = (of: readonly { cents: number }[]): number => of.reduce((total, { cents }) => total + cents, 0);

/** What an invoice must show. */
export function shownOf({ id, student, status, number, due, paid, lines }: Bill): object {
  return { id, student, status, number, due, paid, cents: sum(lines), lines: lines.map(({ cents, session }) => `${cents} ${session}`).sort() };
}

/** What it shows, in the same form. */
export function toldOf(told: ShownInvoice): object {
  const lines = told.line_items.map(({ amount_cents, session_id }) => `${amount_cents} ${session_id}`).sort();
  const { id, student_id: student, status, invoice_number: number, due_date: due, amount_paid_cents: paid, amount_due_cents: cents } = told;
  return { id, student, status, number, due, paid, cents, lines };
}

const blank = (student: string): Bill => {
  return { id: null, student, status: 'draft', number: null, due: null, paid: 0, collecting: true, lines: [], gone: new Set() };
};

const idOf = (answer: Answer | null): string => (answer!.body as { id: string }).id;
const lineOf = ({ unit_amount_cents = 0, quantity = 1 }) => ({ cents: unit_amount_cents * quantity, session: null });
const isLine = (one: Line, { cents, session }: Line) => one.cents === cents && one.session === session;

/** Half a cent up; for amounts that are not negative. */
const halfUp = (dividend: number, divisor: number): number => Math.floor((2 * dividend + divisor) / (2 * divisor));
const hourly = (rate: number, minutes: number): number => halfUp(rate * minutes, 60);
