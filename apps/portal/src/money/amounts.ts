import { decimalOf } from '@app/exports';

/** Amounts of money as people write them. Computed with integers: no float ever holds an amount. */

/** `$12.27`, in this currency. */
export function moneyIn(currency: string): (cents: number) => string {
  const format = new Intl.NumberFormat('en-AU', { style: 'currency', currency, minimumFractionDigits: 2 });
  return (cents) => format.format(decimalOf(BigInt(cents)) as `${number}`);
}

const AMOUNT = /^(\d{1,10})(?:[.,](\d{1,2}))?$/;

/** The cents of `12`, `12.5`, `12.50` or `12,50`; null for anything else. */
export function centsOf(text: string): number | null {
  const [, whole, part = ''] = AMOUNT.exec(text) ?? [];
  return whole === undefined ? null : Number(whole + part.padEnd(2, '0'));
}
