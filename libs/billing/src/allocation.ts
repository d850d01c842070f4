/** An invoice that is not paid yet. */
export interface OpenInvoice {
  id: string;
  /** A day, YYYY-MM-DD; null if it is due at no particular time, after all others. */
  dueDate: string | null;
  /** What is still to be paid, in cents. */
  outstandingCents: bigint;
}

/** Money that is applied to an invoice. */
export interface Allocation {
  invoiceId: string;
  amountCents: bigint;
}

/**
 * Applies money to open invoices: first to the one that it was sent for, then to the oldest due. What is left is credit.
 *
 * @param first the id of that invoice, if one was named
 */
export function allocate(
  moneyCents: bigint,
  invoices: readonly OpenInvoice[],
  first: string | null = null,
): { allocations: Allocation[]; creditCents: bigint } {
  const ordered = invoices.toSorted((one, other) => compare(rankOf(one, first), rankOf(other, first)));
  const allocations: Allocation[] = [];
  let creditCents = moneyCents;
  for (const { id: invoiceId, outstandingCents } of ordered) {
    const amountCents = smaller(creditCents, outstandingCents);
    if (amountCents <= 0n) continue;
    allocations.push({ invoiceId, amountCents });
    creditCents -= amountCents;
  }
  return { allocations, creditCents };
}

/** Money of a payment that is not applied to anything. */
export interface Credit {
  paymentId: string;
  creditCents: bigint;
  /** Whose invoices it pays. */
  studentIds: readonly string[];
  /** The invoice that it was sent for: it pays this one first, also if it is given up as uncollectible. */
  invoiceId: string | null;
}

/** An invoice with its student. */
export interface Debt extends OpenInvoice {
  studentId: string;
  /** Only money that was sent for it pays it. */
  uncollectible: boolean;
}

/** Applies credits, one after the other, so that none is left beside an invoice that it could pay. */
export function settle(credits: readonly Credit[], debts: readonly Debt[]): (Allocation & { paymentId: string })[] {
  const left = new Map(debts.map(({ id, outstandingCents }) => [id, outstandingCents]));
  return credits.flatMap(({ paymentId, creditCents, studentIds, invoiceId }) => {
    const own = debts.filter(
      (debt) => debt.id === invoiceId || (!debt.uncollectible && studentIds.includes(debt.studentId)),
    );
    const open = own.map((debt) => ({ ...debt, outstandingCents: left.get(debt.id)! }));
    const { allocations } = allocate(creditCents, open, invoiceId);
    for (const { invoiceId: id, amountCents } of allocations) left.set(id, left.get(id)! - amountCents);
    return allocations.map((allocation) => ({ paymentId, ...allocation }));
  });
}

/** What a refund takes back: credit first, then what was applied last. */
export function refund<Applied extends { amountCents: bigint }>(
  amountCents: bigint,
  creditCents: bigint,
  newestFirst: readonly Applied[],
): { fromCreditCents: bigint; taken: (Applied & { takenCents: bigint })[] } {
  const fromCreditCents = smaller(amountCents, creditCents);
  const taken: (Applied & { takenCents: bigint })[] = [];
  let left = amountCents - fromCreditCents;
  for (const applied of newestFirst) {
    const takenCents = smaller(left, applied.amountCents);
    if (takenCents > 0n) taken.push({ ...applied, takenCents });
    left -= takenCents;
  }
  return { fromCreditCents, taken };
}

const smaller = (one: bigint, other: bigint): bigint => (one < other ? one : other);

/** Sorts as text. Invoices due on the same day are paid in the order of their ids. */
function rankOf({ id, dueDate }: OpenInvoice, first: string | null): string {
  return id === first ? '' : `${dueDate ?? '9999-12-32'} ${id}`;
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
