import { dayOf } from '@app/scheduling';
import { DAY } from './clock.js';
import type { Row, Rows, TableRows } from './people-rows.js';
import { each, iso, type School } from './school.js';
import { session, sessionCount } from './teaching-rows.js';

interface Line {
  description: string;
  quantity: number;
  unit: number;
  type: string | null;
  session: string | null;
}

interface Invoice {
  id: string;
  status: 'draft' | 'open' | 'paid' | 'void' | 'uncollectible';
  student: number;
  lines: Line[];
  due: number;
  paid: number;
  createdAt: number;
}

const EXTRAS = [
  { description: 'Study guide', quantity: 1, unit: 3_495, type: 'material' },
  { description: 'Late cancellation', quantity: 1, unit: 2_000, type: 'fee' },
  { description: 'Sibling discount', quantity: 1, unit: -1_500, type: 'discount' },
  { description: 'Room hire, shared', quantity: 2, unit: 750, type: 'other' },
  { description: 'Carried over', quantity: 1, unit: 500, type: null },
];

const FEES = [
  { description: 'Enrolment fee', unit: 9_500 },
  { description: 'Holiday workshop', unit: 6_500 },
  { description: 'Printed past papers', unit: 2_400 },
];

/** Of four invoices, three are open or paid, with at least one per student. The fourth may have any status. */
function invoiceCount(school: School): number {
  const students = school.crowded ? Math.ceil(school.students / 2) : school.students;
  return Math.max(20, Math.ceil((students * 4) / 3));
}

/** The number of lines depends only on the index, so that another run adds no lines to existing invoices. */
function invoice(school: School, index: number): Invoice {
  const createdAt = school.spread('invoice', index, invoiceCount(school), 60, 2);
  const other = index % 4 === 3;
  // Starts with the newest students, because their parents come first in lists.
  const place = other ? index : index - Math.floor((index + 1) / 4);
  const student = school.students - 1 - (place % school.students);
  const status = other
    ? (['draft', 'void', 'uncollectible', 'paid', 'open'] as const)[(index >> 2) % 5]!
    : (['open', 'paid', 'paid'] as const)[index % 3]!;
  const wanted = other ? 1 : 1 + (index % 3);
  const lines = other || place >= school.students ? [] : lessonsOf(school, student, createdAt, wanted);
  while (lines.length < wanted) {
    lines.push({ ...FEES[lines.length]!, quantity: 1, type: 'fee', session: null });
  }
  const extra = EXTRAS[index % 8];
  if (extra) lines.push({ ...extra, session: null });
  const due = lines.reduce((sum, line) => sum + line.quantity * line.unit, 0);
  return {
    id: school.id('invoice', index),
    status,
    student,
    lines,
    due,
    // Some open invoices are partly paid.
    paid: status === 'paid' ? due : status === 'open' && index % 2 === 0 ? Math.floor(due / 2) : 0,
    createdAt,
  };
}

/** Lessons that the student had before that time, with their prices. */
function lessonsOf(school: School, student: number, before: number, most: number): Line[] {
  const lines: Line[] = [];
  for (let index = student; index < sessionCount(school) && lines.length < most; index += school.students) {
    const lesson = session(school, index);
    if (lesson.student !== student || lesson.status !== 'completed' || lesson.startsAt > before) continue;
    const description = `${school.subject(student).name} lesson, ${lesson.minutes} minutes`;
    lines.push({ description, quantity: 1, unit: lesson.owed, type: 'session', session: lesson.id });
  }
  return lines;
}

/** Issued invoices are numbered without gaps: every twentieth one is a draft, beginning with the fourth. */
function invoiceNumber(index: number): string {
  const number = index + 1 - Math.floor((index + 16) / 20);
  return `INV-${String(number).padStart(6, '0')}`;
}

function* invoices(school: School): Rows {
  for (const [index, { id, status, student, due, paid, createdAt }] of each(school, invoiceCount(school), invoice)) {
    yield {
      id,
      invoice_number: status === 'draft' ? null : invoiceNumber(index),
      tutor_id: school.teacherOf(student).id,
      student_id: school.studentId(student),
      status,
      amount_due_cents: due,
      amount_paid_cents: paid,
      currency: school.profile.currency,
      due_date: status === 'draft' ? null : school.clock.date(14 - Math.floor((school.now - createdAt) / DAY)),
      sent_at: status === 'draft' ? null : iso(createdAt + 3_600_000),
      paid_at: status === 'paid' ? iso(createdAt + DAY + 3_600_000) : null,
      created_at: iso(createdAt),
    };
  }
}

function* invoiceLines(school: School): Rows {
  for (const [index, { id: invoice_id, lines }] of each(school, invoiceCount(school), invoice)) {
    for (const [position, { description, quantity, unit, type, session: session_id }] of lines.entries()) {
      yield {
        id: school.id('invoice-line', index * 4 + position),
        invoice_id,
        position,
        description,
        quantity,
        unit_amount_cents: unit,
        amount_cents: quantity * unit,
        item_type: type,
        session_id,
      };
    }
  }
}

/** Payments of invoices, and this week's single payments in every status. */
function* payments(school: School): Rows {
  const types = ['card', 'bank_transfer', 'cash', 'external'];
  const statuses = ['succeeded', 'succeeded', 'pending', 'failed', 'refunded', 'disputed', 'canceled'];
  const payment = (index: number, student: number, amount: number, at: number, status: string, more: Row = {}): Row => {
    const type = types[index % 4]!;
    const id = school.id('payment', index);
    return {
      id,
      student_id: school.studentId(student),
      tutor_id: school.teacherOf(student).id,
      amount_cents: amount,
      refund_amount_cents: status === 'refunded' ? amount : null,
      currency: school.profile.currency,
      payment_type: type,
      status,
      stripe_payment_intent_id: type === 'card' ? `pi_demo_${id.replaceAll('-', '')}` : null,
      received_on: dayOf(new Date(at), school.profile.timeZone),
      created_at: iso(at),
      ...more,
    };
  };
  const count = invoiceCount(school);
  for (let index = 0; index < count; index++) {
    const { id: invoice_id, student, paid, createdAt } = invoice(school, index);
    if (paid > 0) yield payment(index, student, paid, createdAt + DAY, 'succeeded', { invoice_id });
  }
  // Every fifth session is a workshop. The last ones are in the future, so they are paid in advance without an invoice.
  const workshops = Math.floor(sessionCount(school) / 5);
  for (let index = 0; index < Math.min(workshops, Math.max(10, Math.ceil(school.students / 50))); index++) {
    const at = Math.max(school.clock.monday, school.now - (index % 48) * 3_600_000);
    const lesson = session(school, 5 * (workshops - index) - 1);
    const status = lesson.status === 'cancelled' ? 'refunded' : statuses[index % statuses.length]!;
    yield payment(count + index, lesson.participants[0]!, lesson.owed, at, status, {
      session_id: lesson.id,
    });
  }
}

export const moneyRows: TableRows = {
  invoices,
  invoice_lines: invoiceLines,
  payments,
};
