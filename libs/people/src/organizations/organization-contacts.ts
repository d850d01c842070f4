import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import type { Actor, Done } from '@app/audit';
import { Database } from '@app/database';
import { Refused, type Refusal } from '@app/rules';
import { ManagerNotices } from './manager-notices.js';
import { oneLine } from './one-line.js';

/** How people reach an organization; each null if it did not say. */
export interface Contact {
  /** Where people find their lessons. */
  appUrl: string | null;
  postalAddress: string | null;
  phone: string | null;
  privacyUrl: string | null;
}

/** The same as it is typed; empty if there is none. */
export type ContactInput = Record<keyof Contact, string>;

/** The longest values, as in the table's CHECKs. */
const [LONGEST_URL, LONGEST_ADDRESS, LONGEST_PHONE] = [500, 300, 50];

/** As the page of settings names them. */
const LABELS: Record<keyof Contact, string> = {
  appUrl: 'Your app',
  postalAddress: 'Address',
  phone: 'Phone',
  privacyUrl: 'Privacy page',
};

const PHONE = /^\+?[\p{Nd}\s().\-/]*\p{Nd}[\p{Nd}\s().\-/]*$/u;

const RULES: Record<keyof Contact, { read: (text: string) => string | null; reason: string }> = {
  appUrl: { read: httpsUrl, reason: 'Enter an address that begins with https://, such as https://app.example.org.' },
  postalAddress: {
    read: (text) => oneLine(text, LONGEST_ADDRESS),
    reason: `Enter the address on one line, up to ${LONGEST_ADDRESS} characters.`,
  },
  phone: {
    read: (text) => (PHONE.test(text) ? oneLine(text, LONGEST_PHONE) : null),
    reason: 'Enter a phone number, such as +61 3 9000 0000.',
  },
  privacyUrl: {
    read: httpsUrl,
    reason: 'Enter an address that begins with https://, such as https://example.org/privacy.',
  },
};

/** What an organization says of itself to people who are invited, and to those who belong. */
@Injectable()
export class OrganizationContacts {
  constructor(
    private readonly db: Database,
    private readonly notices: ManagerNotices,
  ) {}

  async of(organizationId: string): Promise<Contact> {
    const [[row]] = await this.db.read<[{ contact: Contact }]>(
      { organizationId },
      sql`SELECT contact_of(o) AS contact FROM organizations o WHERE o.id = ${organizationId}`,
    );
    return row!.contact;
  }

  /**
   * Changes all of it, in the ambient transaction; the audit row names what changed. All owners are told, also whoever did it: their session could be somebody
   * else's, and these are the links that every family is told to open. @throws Refused at each value that is not possible
   */
  async change(organizationId: string, by: Actor, given: ContactInput): Promise<Done> {
    const { appUrl, postalAddress, phone, privacyUrl } = contactOf(given);
    const [before] = await this.db.query<{ contact: Contact }>(sql`
      SELECT contact_of(o) AS contact FROM organizations o WHERE o.id = ${organizationId} FOR NO KEY UPDATE`);
    const now = { appUrl, postalAddress, phone, privacyUrl };
    const changed = Object.entries(now).filter(([name, value]) => before!.contact[name as keyof Contact] !== value);
    if (changed.length === 0) return { changed: false };
    await this.db.query(sql`
      UPDATE organizations SET app_url = ${appUrl}, postal_address = ${postalAddress}, phone = ${phone},
        privacy_url = ${privacyUrl}, updated_at = now() WHERE id = ${organizationId}`);
    await this.notices.tell(organizationId, {
      kind: 'settings_changed',
      page: '/settings',
      owners: true,
      about: (nameOf) => ({
        settings: {
          by: nameOf(by.userId),
          changes: changed.map(([name, after]) => {
            const setting = name as keyof Contact;
            return { name: LABELS[setting], before: before!.contact[setting], after };
          }),
        },
      }),
    });
    return { audit: { fields: changed.map(([name]) => name) } };
  }
}

/** @throws Refused */
function contactOf(given: ContactInput): Contact {
  const refusals: Refusal[] = [];
  const entries = Object.entries(RULES).map(([name, { read, reason }]) => {
    const text = given[name as keyof Contact].trim();
    const value = text === '' ? null : read(text);
    if (text !== '' && value === null) refusals.push({ at: [name], reason });
    return [name, value];
  });
  if (refusals.length > 0) throw Refused.invalidAt(refusals);
  return Object.fromEntries(entries) as Contact;
}

/** A link that people can follow safely. */
function httpsUrl(text: string): string | null {
  if (!URL.canParse(text)) return null;
  const { protocol, username, password, hostname, href } = new URL(text);
  const plain = protocol === 'https:' && username === '' && password === '' && hostname.includes('.');
  return plain && href.length <= LONGEST_URL ? href : null;
}
