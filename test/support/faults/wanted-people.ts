import { newAddress, parentRow, type RowWish, studentRow, tutorRow } from '../data/provisioning.js';

/** A person whom a client asked the API to create. */
export interface Wanted {
  /** Unique, to identify people without an address. */
  lastName: string;
  email: string | null;
  mailed: boolean;
  /** The id in the response, or null if it has none. */
  id: string | null;
}

/** A login with one of its links to the organization. */
export interface Account {
  id: string;
  lastName: string;
  /** False for an incomplete account: a login that the organization cannot see. */
  tied: boolean;
}

export interface Mail {
  kind: string;
  recipient: string;
}

export interface Verdict {
  /** Accounts beyond the first of each person. */
  duplicates: number;
  /** People without the account that the response promised. */
  losses: number;
  mailsTwice: number;
  mailsLost: number;
}

/** Rows of all kinds for new people, some with parents, some without an address. */
export function mixedRows(name: string, count: number): RowWish[] {
  return Array.from({ length: count }, (_, index) => {
    const last_name = `${name}-${index}`;
    const email = index % 7 === 3 ? null : newAddress();
    if (index % 5 === 3) return parentRow({ last_name, email });
    if (index % 5 === 1) return tutorRow({ last_name, email });
    if (index % 3 !== 0) return studentRow({ last_name, email });
    const parent = {
      first_name: 'Linh',
      last_name: `${last_name}-parent`,
      email: index % 6 === 0 ? newAddress() : null,
    };
    return studentRow({ last_name, email, parent });
  });
}

/** The people in a batch, with their ids from the response. */
export function wantedOf(rows: RowWish[], results: { id: string | null }[]): Wanted[] {
  return rows.flatMap((row, index) => {
    const { type, last_name, email, parent } = row as RowWish & PersonRow & { parent?: PersonRow };
    const id = results[index]?.id ?? null;
    const person = { lastName: last_name, email, mailed: type !== 'parent' && email !== null, id };
    return parent ? [person, { lastName: parent.last_name, email: parent.email, mailed: false, id: null }] : [person];
  });
}

interface PersonRow {
  last_name: string;
  email: string | null;
}

/** Compares the wanted people with the stored accounts and mails. */
export function judge(wanted: Wanted[], accounts: Account[], mails: Mail[]): Verdict {
  const byName = Map.groupBy(accounts, ({ lastName }) => lastName);
  const mailsOf = Map.groupBy(mails, ({ recipient, kind }) => `${kind} ${recipient.toLowerCase()}`);
  const mailed = new Set(mails.map(({ recipient }) => recipient.toLowerCase()));
  const there = ({ lastName, id }: Wanted) => byName.get(lastName)?.some((account) => account.tied && (id === null || account.id === id)) ?? false;
  return {
    duplicates: excess(byName),
    losses: wanted.filter((person) => !there(person)).length,
    mailsTwice: excess(mailsOf),
    mailsLost: wanted.filter((person) => person.mailed && !mailed.has(person.email!.toLowerCase())).length,
  };
}

function excess(groups: Map<string, unknown[]>): number {
  return [...groups.values()].reduce((sum, { length }) => sum + length - 1, 0);
}
