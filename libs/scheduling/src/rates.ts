/** An amount of integer cents as PostgreSQL writes a bigint; null for no price, which bills nothing. */
export type Cents = string | number | null;

/** The kinds of session that prices differ by. */
export type SessionKind = '1on1_online' | '1on1_inperson' | 'group' | 'classroom';

/** A cell of the organization's table of rates. A key that is null fits everything. */
export interface RateCell {
  bandId: string | null;
  tierId: string | null;
  subjectId: string | null;
  kind: SessionKind | null;
  rateCents: Cents;
  surchargeCents: Cents;
  payMode: 'percentage' | 'flat' | null;
  payPct: Cents;
  flatRateCents: Cents;
}

/** What a price depends on, besides the student. */
export interface PricedSession {
  tierId: string | null;
  subjectId: string | null;
  kind: SessionKind;
  inPerson: boolean;
}

/** The price of one student's place: an hour, and once for the session. */
export interface Price {
  rateCents: Cents;
  surchargeCents: Cents;
}

/** What the tutor gets: an hour, or a percentage of what is billed. */
export interface Pay {
  payRateCents: Cents;
  payPct: Cents;
}

export const NO_PAY: Pay = { payRateCents: null, payPct: null };

/** A session without a mode counts as online, which has no surcharge. */
export function kindOf(where: {
  classroom: boolean;
  group: boolean;
  students: number;
  mode: string | null;
}): SessionKind {
  if (where.classroom) return 'classroom';
  if (where.group || where.students > 1) return 'group';
  return where.mode === 'in_person' ? '1on1_inperson' : '1on1_online';
}

/** The most specific cell that fits: a band counts more than a tier, a tier more than a subject, a subject more than a kind. */
export function bestCell(cells: readonly RateCell[], bandId: string | null, session: PricedSession): RateCell | null {
  const wanted = { bandId, ...session };
  const keys = ['bandId', 'tierId', 'subjectId', 'kind'] as const;
  const fitting = cells.filter((cell) => keys.every((key) => cell[key] === null || cell[key] === wanted[key]));
  const weight = (cell: RateCell) => keys.reduce((sum, key) => sum * 2 + Number(cell[key] !== null), 0);
  return fitting.reduce<RateCell | null>((best, cell) => (best && weight(best) >= weight(cell) ? best : cell), null);
}

/** What a group asks of everybody wins over the cells, which alone have a surcharge. */
export function priceOf(cell: RateCell | null, groupRateCents: Cents, { inPerson }: PricedSession): Price {
  const surchargeCents = inPerson ? (cell?.surchargeCents ?? null) : null;
  return { rateCents: groupRateCents ?? cell?.rateCents ?? null, surchargeCents };
}

export function payOf(cell: RateCell | null): Pay {
  if (cell?.payMode === 'flat') return { payRateCents: cell.flatRateCents, payPct: null };
  return cell?.payMode === 'percentage' ? { payRateCents: null, payPct: cell.payPct } : NO_PAY;
}

/** The price that all have; null if they differ. */
export function commonRate(prices: readonly Pick<Price, 'rateCents'>[]): Cents {
  const [first, ...others] = prices.map(({ rateCents }) => rateCents);
  return others.every((rate) => String(rate) === String(first)) ? (first ?? null) : null;
}
