import type { Env } from '@app/config';
import { type VALUES } from '@app/database';
import { day, FIELDS, isFault, type Kind } from '@app/fields';
import { Refused } from '@app/rules';
import { centsOf } from '../money/amounts.js';
import type { Form } from '../web/form.js';
import { PageError } from '../web/page-error.js';
import { readFields } from '../web/read-field.js';

const { vendor, amount_cents } = FIELDS.expense_claims;
const { distance_km, destination, rate_cents } = FIELDS.mileage_trips;

/** What an expense was for, in words. */
export const CATEGORIES = {
  parking: 'Parking',
  tolls: 'Tolls',
  materials: 'Materials',
  training: 'Training',
  other: 'Other',
} satisfies Record<(typeof VALUES.expense_claims.category)[number], string>;

/** @throws Refused at each field */
export function readExpense(form: Form, env: Env) {
  const category = form.text('category');
  if (!Object.hasOwn(CATEGORIES, category)) throw PageError.badForm();
  return {
    ...readFields(form, env, { expense_date: day }, { vendor }),
    category,
    amount_cents: readAmount(form, env, 'amount', amount_cents),
  };
}

/** @throws Refused at each field */
export function readTrip(form: Form, env: Env) {
  const named = readFields(form, env, { trip_date: day, destination }, {});
  const km = Number(form.text('distance_km').replace(',', '.') || NaN);
  if (isFault(distance_km.parse(km, env)) || km === 0)
    throw Refused.invalid('Enter a distance in km, such as 12.5.', 'distance_km');
  return { ...named, distance_km: km, rate_cents: readAmount(form, env, 'rate', rate_cents) };
}

function readAmount(form: Form, env: Env, name: string, kind: Kind<number>): number {
  const cents = centsOf(form.text(name));
  if (!cents || isFault(kind.parse(cents, env))) throw Refused.invalid('Enter an amount such as 12.50.', name);
  return cents;
}
