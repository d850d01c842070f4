import type { CellEdit } from '@app/billing';
import { MOST_CENTS, VALUES } from '@app/database';
import type { Values } from '@app/rows';
import { centsOf } from '../money/amounts.js';
import type { Form } from '../web/form.js';
import type { PriceRow } from './prices.queries.js';

/** What is wrong, by the names of the fields. */
export type Errors = Record<string, string>;

/** Empty rows at the end of the table. */
export const NEW = ['new-1', 'new-2', 'new-3'] as const;

/** What a row is for: the fields of a new one, and their columns. */
const KEYS = { level: 'band_id', tier: 'tutor_tier_id', subject: 'subject_id', kind: 'session_kind' } as const;

const AMOUNT = 'Enter an amount such as 80.00.';
const PAY = 'Enter an amount such as 45.00, or a part such as 60%.';
const PERCENT = /^(\d{1,3}(?:[.,]\d{1,2})?)\s*%$/;

/** Cents as somebody would type them. */
const amountOf = (cents: string | null): string =>
  cents === null ? '' : `${cents.slice(0, -2) || '0'}.${cents.slice(-2).padStart(2, '0')}`;

/** What the fields of a stored row show. */
export function typedOf({ price, surcharge, pct, flat }: PriceRow): Record<'price' | 'surcharge' | 'pay', string> {
  const pay = pct === null ? amountOf(flat) : `${Number(pct)}%`;
  return { price: amountOf(price), surcharge: amountOf(surcharge), pay };
}

/** What the form changes of the rows that its page showed. */
export function readPrices(form: Form, shown: readonly PriceRow[]): { edits: CellEdit[] } | { errors: Errors } {
  const errors: Errors = {};
  const edits = [
    ...shown.flatMap((row): CellEdit[] => {
      const { id } = row;
      if (form.text(`remove-${id}`) === 'yes') return [{ at: id, id, values: null }];
      const before = typedOf(row);
      const same = Object.entries(before).every(([name, text]) => form.text(`${name}-${id}`) === text);
      return same ? [] : [{ at: id, id, values: amountsIn(form, id, errors) }];
    }),
    ...NEW.flatMap((row): CellEdit[] => {
      const keys = Object.entries(KEYS).map(([name, column]) => [column, form.text(`${name}-${row}`) || null] as const);
      const isEmpty = ['price', 'surcharge', 'pay'].every((name) => form.text(`${name}-${row}`) === '');
      if (isEmpty && keys.every(([, value]) => value === null)) return [];
      if (isEmpty) errors[`price-${row}`] = AMOUNT;
      if (
        !VALUES.rate_cells.session_kind.some(
          (kind) => kind === form.text(`kind-${row}`) || form.text(`kind-${row}`) === '',
        )
      )
        errors[`kind-${row}`] = 'Choose one of these.';
      return [{ at: row, id: null, values: { ...Object.fromEntries(keys), ...amountsIn(form, row, errors) } }];
    }),
  ];
  return Object.keys(errors).length > 0 ? { errors } : { edits };
}

/** The amounts of a row, by column. Empty ones become null. @param errors is told what cannot be read */
function amountsIn(form: Form, row: string, errors: Errors): Values {
  const cents = (name: string, reason: string) => {
    const text = form.text(`${name}-${row}`);
    const read = text === '' ? null : centsOf(text);
    if (text !== '' && (read === null || read > MOST_CENTS)) errors[`${name}-${row}`] = reason;
    return read;
  };
  const amounts = {
    student_rate_cents: cents('price', AMOUNT),
    inperson_surcharge_cents: cents('surcharge', AMOUNT),
  };
  const [, percent] = PERCENT.exec(form.text(`pay-${row}`)) ?? [];
  if (percent !== undefined && Number(percent.replace(',', '.')) <= 100)
    return {
      ...amounts,
      tutor_pay_mode: 'percentage',
      tutor_pay_pct: percent.replace(',', '.'),
      tutor_flat_rate_cents: null,
    };
  const flat = cents('pay', PAY);
  return {
    ...amounts,
    tutor_pay_mode: flat === null ? null : 'flat',
    tutor_pay_pct: null,
    tutor_flat_rate_cents: flat,
  };
}

/** The fields of the form that a refused value belongs to. */
const FIELDS: Record<string, string> = {
  student_rate_cents: 'price',
  inperson_surcharge_cents: 'surcharge',
  ...{ tutor_pay_pct: 'pay', tutor_flat_rate_cents: 'pay', tutor_pay_mode: 'pay', band_id: 'price' },
};

/** @param at the path to a refused value: the row, and its column */
export const fieldAt = ([row, column]: readonly (string | number)[]): string =>
  row === undefined ? 'form' : `${FIELDS[String(column)] ?? 'price'}-${row}`;
