import { billOf, isBilled, payOf, shareOf } from '@app/billing';
import { takesPart } from '@app/database';
import { settleRates } from '@app/scheduling';
import { bandOf, rateTable, tierOf } from './rate-rows.js';
import type { School } from './school.js';
import type { Session } from './sessions.js';

const ANSWERS = [
  'accepted',
  'accepted',
  'pending',
  'accepted',
  'declined',
  'accepted',
  'cancelled',
  'removed',
] as const;
const ATTENDANCES = ['attended', 'attended', 'attended', 'excused', 'attended', 'attended', 'no_show'] as const;

/** What a late cancellation costs, in hundredths of a percent of the lesson. */
const LATE_FEE = 5_000n;

/** A student in a lesson, with their price (cents). */
export interface Participant {
  student: number;
  status: (typeof ANSWERS)[number];
  attendance: (typeof ATTENDANCES)[number] | null;
  rate: number | null;
  surcharge: number | null;
  /** For the lesson, or for having cancelled it late. */
  billed: number;
}

/** What a lesson costs and pays (cents): what the service would have settled, billed and paid. */
export interface Prices {
  participants: Participant[];
  /** The hourly price that all have. */
  rate: number | null;
  /** What the tutor gets: an hour, or that percentage of what is billed. */
  payRate: number | null;
  payPct: number | null;
  /** Null for a lesson that is not over. */
  owed: number | null;
  pay: number | null;
}

export function pricesOf(school: School, index: number, one: Session): Prices {
  const { participants, tutor, group, classroomId, subject, inPerson, status, minutes } = one;
  const settled = settleRates(
    {
      tierId: tierOf(school, tutor.index),
      groupRateCents: group?.rate ?? null,
      students: participants.map((student) => ({ id: String(student), bandId: bandOf(school, student) })),
      cells: rateTable(school),
    },
    {
      subjectId: subject.id,
      mode: inPerson ? 'in_person' : 'online',
      groupId: group?.id ?? null,
      classroomId,
    },
  );
  const places = settled.participants.map(({ rateCents, surchargeCents }, place) => {
    const asked = one.student === null ? ANSWERS[(index + place) % ANSWERS.length]! : 'accepted';
    const came = status === 'completed' && takesPart({ status: asked });
    return {
      student: participants[place]!,
      status: status === 'cancelled' && takesPart({ status: asked }) ? ('cancelled' as const) : asked,
      attendance: came ? ATTENDANCES[(Math.floor(index / 5) + place) % ATTENDANCES.length]! : null,
      price: { rateCents: centsOf(rateCents), surchargeCents: centsOf(surchargeCents) },
      asked,
    };
  });
  const length = BigInt(minutes);
  const billed = places.map(({ price, asked, attendance }) => {
    const bill = isBilled({ status: asked, attendance }) ? billOf(price, length) : 0n;
    return status === 'completed' ? bill : one.late ? shareOf(bill, LATE_FEE) : 0n;
  });
  const { payRateCents, payPct } = settled.pay;
  const terms = { rateCents: centsOf(payRateCents), hundredths: payPct === null ? null : BigInt(payPct) * 100n };
  const paying = places.filter(isBilled).map(({ price }) => price);
  const rates = new Set(places.flatMap(({ status: answer, price }) => (answer === 'removed' ? [] : [price.rateCents])));
  return {
    participants: places.map(({ price, asked: _, ...place }, at) => ({
      ...place,
      rate: numberOf(price.rateCents),
      surcharge: numberOf(price.surchargeCents),
      billed: Number(billed[at]!),
    })),
    rate: rates.size === 1 ? numberOf([...rates][0]!) : null,
    payRate: numberOf(terms.rateCents),
    payPct: payPct === null ? null : Number(payPct),
    owed: status === 'completed' || one.late ? Number(billed.reduce((sum, cents) => sum + cents, 0n)) : null,
    pay: status === 'completed' ? Number(payOf(terms, paying, length)) : null,
  };
}

const centsOf = (cents: string | number | null): bigint | null => (cents === null ? null : BigInt(cents));
const numberOf = (cents: bigint | null): number | null => (cents === null ? null : Number(cents));
