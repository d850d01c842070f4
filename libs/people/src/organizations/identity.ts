import { isTimeZone } from '@app/database';
import { isCurrency } from './currencies.js';
import { oneLine } from './one-line.js';
import type { Setting } from './settings.js';

/** What an organization is called, its clock, and its money. */
export const IDENTITY = {
  name: {
    column: 'name',
    label: 'Name',
    required: true,
    read: (text) => oneLine(text, 200),
    reason: 'Enter a name on one line, up to 200 characters.',
  },
  timeZone: {
    column: 'time_zone',
    label: 'Time zone',
    required: true,
    read: (text) => (isTimeZone(text) ? text : null),
    reason: 'Choose an IANA time zone, such as Australia/Melbourne.',
  },
  currency: {
    column: 'currency',
    label: 'Currency',
    required: true,
    read: (text) => (isCurrency(text) ? text : null),
    reason: 'Choose the ISO 4217 code of a currency with hundredths, such as AUD.',
  },
} satisfies Record<string, Setting>;
