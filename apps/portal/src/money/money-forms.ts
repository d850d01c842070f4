import type { Received, WrittenLine } from '@app/billing';
import { canonicalUuid, parseDate } from '@app/database';
import type { Refusal } from '@app/rules';
import type { Errors, Read } from '../web/answered.js';
import type { Form } from '../web/form.js';
import { PageError } from '../web/page-error.js';
import { centsOf } from './amounts.js';

/** The ways in which money reaches an organization outside of this service. */
export const PAYMENT_TYPES = { bank_transfer: 'Bank transfer', cash: 'Cash', external: 'Another way' } as const;

type PaymentType = keyof typeof PAYMENT_TYPES;
type TypedPayment = Pick<Received, 'amountCents' | 'type' | 'receivedOn' | 'receipt'>;

const AMOUNT = 'Enter an amount such as 12.50.';
const DAY = 'Enter a day.';
const MOST_UNIT = 1_000_000_000;

/** The rows of the form that makes a draft, as they follow the names of its fields. More lines are added to the draft. */
export const ROWS = ['', '-2', '-3'] as const;

export function readPayment(form: Form): Read<TypedPayment> {
  const [amount, type, day] = [readAmount(form), form.text('payment_type'), readDay(form, 'received_on')];
  const known = Object.hasOwn(PAYMENT_TYPES, type);
  if (amount !== null && known && day !== undefined)
    return {
      value: {
        amountCents: amount,
        type: type as PaymentType,
        receivedOn: day,
        receipt: form.text('receipt') === 'yes',
      },
    };
  return {
    errors: {
      ...(amount === null && { amount: AMOUNT }),
      ...(!known && { payment_type: 'Choose how it was paid.' }),
      ...(day === undefined && { received_on: DAY }),
    },
  };
}

/** What asks for a second yes: more than twice of what is due. @param money how amounts are written */
export function doubtOf(
  form: Form,
  amountCents: number,
  dueCents: number,
  money: (cents: number) => string,
): Errors | null {
  // A yes is for the amount that it was asked about.
  if (dueCents <= 0 || amountCents <= 2 * dueCents || form.text('sure') === form.text('amount')) return null;
  return {
    sure: `${money(amountCents)} is more than twice the ${money(dueCents)} that is due. The rest would become credit.`,
  };
}

export function readRefund(form: Form): Read<number> {
  const amount = readAmount(form);
  return amount === null ? { errors: { amount: AMOUNT } } : { value: amount };
}

/** What a page has named, each with the sum that it showed of it: `id:cents id:cents`. @throws PageError for anything else */
export function readSums(form: Form, name: string, most: number): { id: string; cents: bigint }[] {
  const typed = form
    .text(name)
    .split(' ')
    .slice(0, most + 1);
  const sums = typed.flatMap((one) => {
    const [, id = '', cents = ''] = /^([0-9a-f-]{36}):(\d{1,15})$/.exec(one) ?? [];
    const named = canonicalUuid(id);
    return named === null ? [] : [{ id: named, cents: BigInt(cents) }];
  });
  const ids = new Set(sums.map(({ id }) => id));
  if (sums.length !== typed.length || sums.length > most || ids.size < sums.length) throw PageError.badForm();
  return sums;
}

/** A correction of what a tutor earned: a deduction if negative. */
export function readAdjustment(form: Form): Read<{ amountCents: number; note: string }> {
  const [typed, note] = [form.text('amount'), form.text('note')];
  const size = centsOf(typed.replace(/^[-−]/, ''));
  const errors: Errors = {
    ...(!size && { amount: 'Enter an amount such as 12.50, or -12.50 for a deduction.' }),
    ...((note === '' || note.length > 500) && { note: 'Say what it is for, in up to 500 characters.' }),
  };
  if (!size || Object.keys(errors).length > 0) return { errors };
  return { value: { amountCents: /^[-−]/.test(typed) ? -size : size, note } };
}

export function readReason(form: Form): Read<string> {
  const reason = form.text('reason');
  const long = reason.length > 500;
  return reason === '' || long ? { errors: { reason: 'Say why, in up to 500 characters.' } } : { value: reason };
}

/** A day, or null for the one that the organization's terms give. */
export function readDueDate(form: Form): Read<string | null> {
  const day = readDay(form, 'due_date');
  return day === undefined ? { errors: { due_date: DAY } } : { value: day };
}

/** The lines of a new draft. Rows in which nothing is written are left out, but for the first if all are. */
export function readLines(form: Form): Read<WrittenLine[]> {
  const filled = ROWS.filter((row) => form.text(`description${row}`) !== '' || form.text(`unit${row}`) !== '');
  const lines = (filled.length > 0 ? filled : ROWS.slice(0, 1)).map((row) => readLine(form, row));
  const errors = Object.assign({}, ...lines.map((line) => ('errors' in line ? line.errors : {}))) as Errors;
  if (Object.keys(errors).length > 0) return { errors };
  return { value: lines.flatMap((line) => ('value' in line ? [line.value] : [])) };
}

/** A negative amount is a discount. @param row follows the names of the fields */
export function readLine(form: Form, row = ''): Read<WrittenLine> {
  const field = (name: string) => form.text(`${name}${row}`);
  const [description, quantity, typed] = [field('description'), field('quantity') || '1', field('unit')];
  const size = centsOf(typed.replace(/^[-−]/, ''));
  const errors: Errors = {
    ...((description === '' || description.length > 500) && {
      [`description${row}`]: 'Say what it is for, in up to 500 characters.',
    }),
    ...((!/^\d{1,4}$/.test(quantity) || +quantity < 1 || +quantity > 1_000) && {
      [`quantity${row}`]: 'Enter a number up to 1,000.',
    }),
    ...((size === null || size > MOST_UNIT) && {
      [`unit${row}`]: 'Enter an amount such as 12.50, or -12.50 for a discount.',
    }),
  };
  if (size === null || Object.keys(errors).length > 0) return { errors };
  const unitCents = BigInt(/^[-−]/.test(typed) ? -size : size);
  const said = field('tax');
  const tax = said === 'taxable' || said === 'free' ? said : null;
  return { value: { description, quantity: Number(quantity), unitCents, tax } };
}

/** Where the reasons of the rules are shown. */
const FIELDS: Record<string, string> = { amount_cents: 'amount', received_on: 'received_on', invoice_id: 'payer' };

export const fieldOf = ({ at }: Refusal): string => FIELDS[at.join('.')] ?? 'form';

function readAmount(form: Form): number | null {
  return centsOf(form.text('amount')) || null;
}

/** A day, YYYY-MM-DD; null for an empty field, undefined for anything else. */
function readDay(form: Form, name: string): string | null | undefined {
  const text = form.text(name);
  if (text === '') return null;
  return parseDate(text)?.wholeDay ? text : undefined;
}
