import { isBlank } from '@app/database';
import { isEmail } from '../email.js';
import { oneLine } from './one-line.js';
import { readPayUrl } from './pay-url.js';
import type { Setting, Values } from './settings.js';

const LONGEST_INSTRUCTIONS = 500;

/** 100 %, in hundredths of a percent. */
const WHOLE = 10_000;

/** What invoices say of who sells, how to pay and the tax, besides the address and the phone of {@link CONTACT}. */
export const SELLER = {
  legalName: {
    column: 'legal_name',
    label: 'Legal name',
    read: (text) => oneLine(text, 200),
    reason: 'Enter the name on one line, up to 200 characters.',
  },
  businessNumberLabel: {
    column: 'business_number_label',
    label: 'Kind of business number',
    read: (text) => oneLine(text, 20),
    reason: 'Enter what the number is called, such as ABN, up to 20 characters.',
  },
  businessNumber: {
    column: 'business_number',
    label: 'Business number',
    read: (text) => oneLine(text, 50),
    reason: 'Enter the number on one line, up to 50 characters.',
  },
  paymentTermsDays: {
    column: 'payment_terms_days',
    label: 'Days to pay',
    required: true,
    read: (text) => wholeNumber(text, 365),
    reason: 'Enter 0 to 365 days.',
  },
  paymentInstructions: {
    column: 'payment_instructions',
    label: 'How to pay',
    read: (text) => (Array.from(text).length <= LONGEST_INSTRUCTIONS && !isBlank(text) ? text : null),
    reason: `Enter up to ${LONGEST_INSTRUCTIONS} characters.`,
  },
  payUrl: {
    column: 'pay_url',
    label: 'Page to pay at',
    read: readPayUrl,
    reason:
      'Enter an address that begins with https://. After its host, {invoice_number} and {amount_cents} stand for the invoice’s own.',
  },
  replyAddress: {
    column: 'reply_address',
    label: 'Address for answers',
    read: (text) => (isEmail(text) ? text : null),
    reason: 'Enter an email address.',
  },
  taxRegistered: {
    column: 'tax_registered',
    label: 'Registered for tax',
    required: true,
    read: (text) => (text === '' || text === 'yes' ? text === 'yes' : null),
    reason: 'Say whether you are registered.',
  },
  taxLabel: {
    column: 'tax_label',
    label: 'Name of the tax',
    required: true,
    read: (text) => oneLine(text, 20),
    reason: 'Enter what the tax is called, such as GST, up to 20 characters.',
  },
  taxRate: {
    column: 'tax_rate',
    label: 'Tax rate in percent',
    required: true,
    read: hundredthsOf,
    show: (value) => percentOf(value as number),
    reason: 'Enter a percentage from 0 to 100, with at most two decimals.',
  },
  lineTax: {
    column: 'line_tax',
    label: 'What you sell is',
    required: true,
    read: (text) => (text === 'taxable' || text === 'free' ? text : null),
    reason: 'Choose taxable or free of tax.',
  },
} satisfies Record<string, Setting>;

/** Who prints "Tax invoice" prints the number under which they are registered. */
export function sellerFaults({ taxRegistered, businessNumber }: Values) {
  const missing = taxRegistered === true && businessNumber === null;
  return missing
    ? [{ at: ['businessNumber'], reason: 'Enter the number under which you are registered for tax.' }]
    : [];
}

/** Hundredths of a percent as people write a percentage: 1,250 is 12.5. */
export function percentOf(hundredths: number): string {
  return String(hundredths / 100);
}

function hundredthsOf(text: string): number | null {
  if (!/^\d{1,3}(\.\d{1,2})?$/.test(text)) return null;
  const [whole, fraction = ''] = text.split('.');
  const hundredths = Number(whole) * 100 + Number(fraction.padEnd(2, '0'));
  return hundredths <= WHOLE ? hundredths : null;
}

function wholeNumber(text: string, most: number): number | null {
  return /^\d{1,9}$/.test(text) && Number(text) <= most ? Number(text) : null;
}
