import type { CellEdit } from '@app/billing';
import type { Env } from '@app/config';
import { canonicalUuid, VALUES } from '@app/database';
import { decimalOf } from '@app/exports';
import { FIELDS, isFault } from '@app/fields';
import type { Values } from '@app/rows';
import type { Refusal } from '@app/rules';
import { centsOf } from '../money/amounts.js';
import type { Errors } from '../web/answered.js';
import type { Form } from '../web/form.js';
import { PageError } from '../web/page-error.js';
import type { PriceRow } from './prices.queries.js';

/** Empty rows at the end of the table. */
export const NEW = ['new-1', 'new-2', 'new-3'] as const;

const isId = (value: string) => canonicalUuid(value) !== null;

/** What a new row is for: its fields, their columns, and what a page can offer there. */
const KEYS: [field: string, column: string, offered: (value: string) => boolean][] = [
  ['level', 'band_id', isId],
  ['tier', 'tutor_tier_id', isId],
  ['subject', 'subject_id', () => true],
  ['kind', 'session_kind', (value) => VALUES.rate_cells.session_kind.some((kind) => kind === value)],
];

const AMOUNT = 'Enter an amount such as 80.00.';
const PAY = 'Enter an amount such as 45.00, or a part such as 60%.';
const PERCENT = /^(\d{1,3}(?:[.,]\d{1,2})?)\s*%$/;

/** Cents as somebody would type them. */
const amountOf = (cents: string | null): string => (cents === null ? '' : decimalOf(BigInt(cents)));

/** What the fields of a stored row show. */
export function typedOf({ price, surcharge, pct, flat }: PriceRow): Record<'price' | 'surcharge' | 'pay', string> {
  const pay = pct === null ? amountOf(flat) : `${Number(pct)}%`;
  return { price: amountOf(price), surcharge: amountOf(surcharge), pay };
}

/** What the form changes of the rows that its page showed. @throws PageError for a choice that no page offers */
export function readPrices(
  form: Form,
  shown: readonly PriceRow[],
  env: Env,
): { edits: CellEdit[] } | { errors: Errors } {
  const errors: Errors = {};
  const edits = [
    ...shown.flatMap((row): CellEdit[] => {
      const { id } = row;
      if (form.text(`remove-${id}`) === 'yes') return [{ at: id, id, values: null }];
      const before = typedOf(row);
      const same = Object.entries(before).every(([name, text]) => form.text(`${name}-${id}`) === text);
      return same ? [] : [{ at: id, id, values: amountsIn(form, id, env, errors) }];
    }),
    ...NEW.flatMap((row): CellEdit[] => {
      const keys = KEYS.map(([name, column, offered]) => {
        const chosen = form.text(`${name}-${row}`) || null;
        if (chosen !== null && !offered(chosen)) throw PageError.badForm();
        return [column, chosen] as const;
      });
      const isEmpty = ['price', 'surcharge', 'pay'].every((name) => form.text(`${name}-${row}`) === '');
      if (isEmpty && keys.every(([, value]) => value === null)) return [];
      if (isEmpty) errors[`price-${row}`] = AMOUNT;
      return [{ at: row, id: null, values: { ...Object.fromEntries(keys), ...amountsIn(form, row, env, errors) } }];
    }),
  ];
  return Object.keys(errors).length > 0 ? { errors } : { edits };
}

/** The amounts of a row, by column. Empty ones become null. @param errors is told what the API would refuse, too */
function amountsIn(form: Form, row: string, env: Env, errors: Errors): Values {
  const read = (name: string, column: keyof typeof FIELDS.rate_cells, reason: string, typed: number | null) => {
    if (form.text(`${name}-${row}`) === '') return null;
    const value = FIELDS.rate_cells[column].parse(typed, env);
    if (!isFault(value)) return value;
    errors[`${name}-${row}`] = reason;
    return null;
  };
  const cents = (name: string) => centsOf(form.text(`${name}-${row}`));
  const [, percent] = PERCENT.exec(form.text(`pay-${row}`)) ?? [];
  const pct = percent === undefined ? null : read('pay', 'tutor_pay_pct', PAY, Number(percent.replace(',', '.')));
  const flat = percent === undefined ? read('pay', 'tutor_flat_rate_cents', PAY, cents('pay')) : null;
  return {
    student_rate_cents: read('price', 'student_rate_cents', AMOUNT, cents('price')),
    inperson_surcharge_cents: read('surcharge', 'inperson_surcharge_cents', AMOUNT, cents('surcharge')),
    tutor_pay_mode: pct === null ? (flat === null ? null : 'flat') : 'percentage',
    tutor_pay_pct: pct,
    tutor_flat_rate_cents: flat,
  };
}

/** The fields of the form that a refused value belongs to. */
const FIELD_OF: Record<string, string> = {
  student_rate_cents: 'price',
  inperson_surcharge_cents: 'surcharge',
  ...{ tutor_pay_pct: 'pay', tutor_flat_rate_cents: 'pay', tutor_pay_mode: 'pay', band_id: 'price' },
};

/** Where the page shows what is refused: at a field, at a column of a row, or above. */
export function fieldAt({ at: [row, column] }: Refusal): string {
  if (row === undefined) return 'form';
  return column === undefined ? String(row) : `${FIELD_OF[String(column)] ?? 'price'}-${row}`;
}
