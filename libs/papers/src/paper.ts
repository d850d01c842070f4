import type { Snapshot } from '@app/billing';
import { payUrlFor } from '@app/people';

/** What is printed, in the order of the page: words and a picture, which know neither fonts nor places. */
export interface Paper {
  title: string;
  /** Whose paper it is. */
  name: string;
  /** By its content. */
  logo: string | null;
  seller: string[];
  buyer: string[];
  /** What stands above the buyer. */
  buyerIs: string;
  /** Number and days. */
  facts: [label: string, value: string][];
  columns: string[];
  /** As many cells as there are columns: the first is a text, the others stand at the right. */
  rows: string[][];
  totals: [label: string, value: string][];
  /** Sentences below the totals. */
  notes: string[];
  payment: { instructions: string | null; link: { text: string; href: string } | null; reference: string } | null;
  /** A day, for the file's own date: the same bytes for the same paper. */
  issuedOn: string;
}

export interface PrintedLine {
  description: string | null;
  quantity: number;
  unitCents: bigint;
  amountCents: bigint;
  tax: 'taxable' | 'free' | null;
}

/** An invoice as it was issued. */
export interface PrintedInvoice {
  number: string;
  currency: string;
  dueOn: string | null;
  dueCents: bigint;
  taxCents: bigint;
  snapshot: Snapshot;
  lines: PrintedLine[];
}

/** How an invoice is printed. Only who is registered for tax may call it a tax invoice, and then it says how much is in it, and in which lines. */
export function paperOf({ number, currency, dueOn, dueCents, taxCents, snapshot, lines }: PrintedInvoice): Paper {
  const { seller, buyer, tax, issued_on: issuedOn } = snapshot;
  const money = (cents: bigint) => decimal(cents);
  const free = (line: PrintedLine) => (line.tax === 'free' ? 'Free' : 'Taxable');
  const rows = lines.map((line) => [
    line.description?.trim() || 'Something',
    String(line.quantity),
    money(line.unitCents),
    ...(tax.registered ? [free(line)] : []),
    money(line.amountCents),
  ]);
  const student =
    buyer?.student_name && buyer.student_name !== buyer.name ? `For lessons of ${buyer.student_name}` : null;
  const pays = dueCents > 0n && seller.pay_url ? payUrlFor(seller.pay_url, { number, amountCents: dueCents }) : null;
  return {
    title: tax.registered ? 'Tax invoice' : 'Invoice',
    name: seller.name,
    logo: seller.logo ?? null,
    seller: sellerLines(seller),
    buyerIs: 'Billed to',
    buyer: textsOf(buyer?.name, buyer?.address, student),
    facts: [
      ['Number', number],
      ['Issued', dayInWords(issuedOn)],
      ...(dueOn ? [['Due', dayInWords(dueOn)] as [string, string]] : []),
    ],
    columns: ['Description', 'Quantity', 'Price', ...(tax.registered ? [tax.label] : []), 'Amount'],
    rows,
    totals: [
      [`Total in ${currency}`, money(dueCents)],
      ...(tax.registered ? [[`${tax.label} included`, money(taxCents)] as [string, string]] : []),
    ],
    notes: tax.registered && taxCents > 0n && 11n * taxCents === dueCents ? [`Total price includes ${tax.label}.`] : [],
    payment:
      dueCents > 0n && (seller.payment_instructions || pays)
        ? {
            instructions: seller.payment_instructions,
            link: pays && { text: pays.host, href: pays.href },
            reference: number,
          }
        : null,
    issuedOn,
  };
}

/** Who sells, as papers begin. */
export function sellerLines(seller: Snapshot['seller']): string[] {
  const business = [seller.business_number_label, seller.business_number].filter(Boolean).join(' ');
  const names = [seller.legal_name, seller.legal_name === seller.name ? null : seller.name];
  return textsOf(...(seller.legal_name ? names : [seller.name]), business, seller.address, seller.phone);
}

export const textsOf = (...texts: (string | null | undefined)[]): string[] =>
  texts.flatMap((text) => text?.split('\n') ?? []).filter((line) => line.trim() !== '');

/** Cents with a point and thousands apart, such as -1,234.50. */
export function decimal(cents: bigint): string {
  const size = cents < 0n ? -cents : cents;
  const whole = String(size / 100n).replaceAll(/\B(?=(\d{3})+$)/g, ',');
  return `${cents < 0n ? '-' : ''}${whole}.${String(size % 100n).padStart(2, '0')}`;
}

const MONTHS = 'January February March April May June July August September October November December'.split(' ');

/** `2026-11-03` as 3 November 2026: the same on every version of Node. */
export function dayInWords(day: string): string {
  const [year, month, date] = day.split('-');
  return `${Number(date)} ${MONTHS[Number(month) - 1]} ${year}`;
}
