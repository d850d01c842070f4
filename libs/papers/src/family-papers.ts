import type { Snapshot } from '@app/billing';
import { dayInWords, decimal, type Paper, paperOf, type PrintedInvoice, sellerLines, textsOf } from './paper.js';

/** Money that was received. */
export interface PrintedPayment {
  currency: string;
  cents: bigint;
  receivedOn: string;
  type: 'card' | 'bank_transfer' | 'cash' | 'external';
  reference: string | null;
  /** Of the invoice that it was sent for. */
  invoiceNumber: string | null;
  payer: { name: string | null; address: string | null };
  seller: Snapshot['seller'];
}

const TYPES = { card: 'Card', bank_transfer: 'Bank transfer', cash: 'Cash', external: 'Another way' };

/** What was received, and nothing of what became of it: that changes. */
export function receiptOf(payment: PrintedPayment): Paper {
  const { currency, cents, receivedOn, type, reference, invoiceNumber, payer, seller } = payment;
  return {
    title: 'Receipt',
    name: seller.name,
    logo: seller.logo ?? null,
    seller: sellerLines(seller),
    buyerIs: 'Received from',
    buyer: textsOf(payer.name, payer.address),
    facts: [
      ['Received', dayInWords(receivedOn)],
      ['By', TYPES[type]],
      ...(reference ? [['Reference', reference] as [string, string]] : []),
    ],
    columns: ['Description', 'Amount'],
    rows: [[invoiceNumber ? `Payment for invoice ${invoiceNumber}` : 'Payment', decimal(cents)]],
    totals: [[`Received in ${currency}`, decimal(cents)]],
    notes: ['Thank you.'],
    payment: null,
    issuedOn: receivedOn,
  };
}

/** The note that takes back a whole invoice in which tax was charged. */
export function adjustmentNoteOf(invoice: PrintedInvoice, note: { number: string; issuedOn: string }): Paper {
  const lines = invoice.lines.map((line) => ({ ...line, unitCents: -line.unitCents, amountCents: -line.amountCents }));
  const back = { ...invoice, lines, dueCents: -invoice.dueCents, taxCents: -invoice.taxCents };
  const { tax, issued_on: issuedOn } = invoice.snapshot;
  return {
    ...paperOf(back),
    title: 'Adjustment note',
    facts: [
      ['Number', note.number],
      ['Issued', dayInWords(note.issuedOn)],
      ['Invoice', invoice.number],
      ['Of', dayInWords(issuedOn)],
    ],
    notes: [
      `Invoice ${invoice.number} was taken back. Its price is 0.00 instead of ${decimal(invoice.dueCents)}, and ${tax.label} is less by ${decimal(invoice.taxCents)}.`,
    ],
    issuedOn: note.issuedOn,
  };
}

/** Something that changed what somebody owes, on a day: more if it is positive. */
export interface Entry {
  day: string;
  what: string;
  cents: bigint;
}

export interface PrintedStatement {
  currency: string;
  from: string;
  to: string;
  today: string;
  openingCents: bigint;
  entries: Entry[];
  payer: { name: string | null; address: string | null };
  seller: Snapshot['seller'];
}

/** What somebody was billed and has paid within a period, and how that began and ended. Less than nothing is credit. */
export function statementOf({
  currency,
  from,
  to,
  today,
  openingCents,
  entries,
  payer,
  seller,
}: PrintedStatement): Paper {
  let balance = openingCents;
  const rows = entries.map(({ day, what, cents }) => {
    balance += cents;
    return [
      `${dayInWords(day)}: ${what}`,
      cents >= 0n ? decimal(cents) : '',
      cents < 0n ? decimal(-cents) : '',
      decimal(balance),
    ];
  });
  return {
    title: 'Statement',
    name: seller.name,
    logo: seller.logo ?? null,
    seller: sellerLines(seller),
    buyerIs: 'For',
    buyer: textsOf(payer.name, payer.address),
    facts: [
      ['From', dayInWords(from)],
      ['To', dayInWords(to)],
      ['As of', dayInWords(today)],
    ],
    columns: ['Description', 'Billed', 'Paid', 'Balance'],
    rows: [['Balance before', '', '', decimal(openingCents)], ...rows],
    totals: [balance < 0n ? [`Credit in ${currency}`, decimal(-balance)] : [`To pay in ${currency}`, decimal(balance)]],
    notes: entries.length === 0 ? ['Nothing was billed or paid within this time.'] : [],
    payment: null,
    issuedOn: today,
  };
}
