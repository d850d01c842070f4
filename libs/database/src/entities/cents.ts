import type { ValueTransformer } from 'typeorm';

/**
 * Amounts of money: integer cents, bigint in PostgreSQL, whose driver hands that out as text. The schema bounds every
 * amount at 10^12, so it stays below 2^53 and is exact as a number.
 */
export const cents: ValueTransformer = {
  to: (amount: unknown) => amount,
  from: (stored: string | null) => (stored === null ? null : Number(stored)),
};
