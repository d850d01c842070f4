import { oneLine } from './one-line.js';
import { httpsUrl, isPhone, type Setting } from './settings.js';

/** How people reach an organization; each null if it did not say. */
export interface Contact {
  /** Where people find their lessons. */
  appUrl: string | null;
  postalAddress: string | null;
  phone: string | null;
  privacyUrl: string | null;
}

const LONGEST_ADDRESS = 300;

/** What an organization says of itself to people who are invited, and to those who belong. */
export const CONTACT: Record<keyof Contact, Setting> = {
  appUrl: {
    column: 'app_url',
    label: 'Your app',
    read: httpsUrl,
    reason: 'Enter an address that begins with https://, such as https://app.example.org.',
  },
  postalAddress: {
    column: 'postal_address',
    label: 'Address',
    read: (text) => oneLine(text, LONGEST_ADDRESS),
    reason: `Enter the address on one line, up to ${LONGEST_ADDRESS} characters.`,
  },
  phone: {
    column: 'phone',
    label: 'Phone',
    read: (text) => (isPhone(text) ? oneLine(text, 50) : null),
    reason: 'Enter a phone number, such as +61 3 9000 0000.',
  },
  privacyUrl: {
    column: 'privacy_url',
    label: 'Privacy page',
    read: httpsUrl,
    reason: 'Enter an address that begins with https://, such as https://example.org/privacy.',
  },
};
