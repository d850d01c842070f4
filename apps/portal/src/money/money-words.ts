import { formats } from '../web/formats.js';
import { decimalOf } from '@app/exports';
import { moneyIn } from './amounts.js';

/** How the templates of money write amounts and days. */
export function moneyWords(currency: string) {
  const { date } = formats('UTC');
  return {
    money: moneyIn(currency),
    /** A day, YYYY-MM-DD, in words. */
    day: (day: string): string => date(new Date(day)),
    /** Cents, as people type them. */
    decimal: (cents: number): string => decimalOf(BigInt(cents)),
    currency,
  };
}
