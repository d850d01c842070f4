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
    const amountCents = creditCents < outstandingCents ? creditCents : outstandingCents;
    if (amountCents <= 0n) continue;
    allocations.push({ invoiceId, amountCents });
    creditCents -= amountCents;
  }
  return { allocations, creditCents };
}

/** Sorts as text. Invoices due on the same day are paid in the order of their ids. */
function rankOf({ id, dueDate }: OpenInvoice, first: string | null): string {
  return id === first ? '' : `${dueDate ?? '9999-12-32'} ${id}`;
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
