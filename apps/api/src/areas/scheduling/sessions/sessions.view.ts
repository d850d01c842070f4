import type { Resettled } from '@app/scheduling';
import { BOOLEAN, kept, objectOf, orNull, type Shape, UUID } from '../../../http/kit.js';

const CENTS = (example: number) => orNull({ type: 'integer', minimum: 0, examples: [example] });

const PRICES = objectOf({
  participants: {
    type: 'array',
    items: objectOf({ student_id: UUID, rate_cents: CENTS(8500), surcharge_cents: CENTS(1000) }),
  },
  tutor_pay_rate_cents: CENTS(4500),
  tutor_pay_pct: orNull({ type: 'number', minimum: 0, maximum: 100, examples: [60] }),
});

/** What settling prices anew changed. */
export const settledShape: Shape = {
  name: 'SettledPrices',
  schema: objectOf({
    dry_run: BOOLEAN,
    sessions: { type: 'integer', minimum: 0, examples: [12], description: 'How many were looked at.' },
    changed: kept({
      type: 'array',
      items: objectOf({ session_id: UUID, before: orNull(PRICES), after: PRICES }),
    }),
  }),
};

export const shownAs = ({ sessionId, before, after }: Resettled) => ({
  session_id: sessionId,
  before: pricesOf(before),
  after: pricesOf(after),
});

const pricesOf = ({ participants, payRateCents, payPct }: Resettled['after']) => ({
  participants: participants.map(({ studentId, rateCents, surchargeCents }) => {
    return { student_id: studentId, rate_cents: rateCents, surcharge_cents: surchargeCents };
  }),
  tutor_pay_rate_cents: payRateCents,
  tutor_pay_pct: payPct,
});
