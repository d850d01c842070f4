import { canonicalUuid, type Position } from '@app/database';
import { readFilter as readPeople } from '../people/people.filter.js';
import { positionText, queryOf as query, readPosition } from '../web/paging.js';

/** The states of invoices as people speak of them, in the order of the list. */
export const STATES = ['overdue', 'open', 'draft', 'paid', 'void', 'uncollectible'] as const;

export type InvoiceState = (typeof STATES)[number];

/** What the list may be limited to, each with its states. */
export const FILTERS = {
  unpaid: ['overdue', 'open'],
  ...(Object.fromEntries(STATES.map((one) => [one, [one]])) as Record<InvoiceState, [InvoiceState]>),
} satisfies Record<string, readonly InvoiceState[]>;

/** A position in the list: a state, and a place among its invoices. */
export interface InvoicePosition extends Position {
  state: InvoiceState;
}

/** Which invoices are listed; all of them where nothing is set. */
export interface InvoiceFilter {
  state: keyof typeof FILTERS | null;
  /** As it was typed: a number or a name. */
  search: string;
  /** Of the search: if it has a digit it is a number, or else the name of a student or a parent. */
  number: string;
  name: string;
  student: string | null;
  after: InvoicePosition | null;
  /** The student from whom on a name is looked for. */
  from: Position | null;
}

/** What was typed, as far as it is searched for. */
export const readSearch = (search: unknown): string => readPeople({ search }).search;

/** Whether a search is for a name. */
export const isName = (search: string): boolean => search !== '' && !/\d/.test(search);

/** Ignores invalid values. */
export function readFilter({ state, search: typed, student, after, from }: Record<string, unknown>): InvoiceFilter {
  const search = readSearch(typed);
  return {
    state: typeof state === 'string' && Object.hasOwn(FILTERS, state) ? (state as keyof typeof FILTERS) : null,
    search,
    number: isName(search) ? '' : search,
    name: isName(search) ? search : '',
    student: typeof student === 'string' ? canonicalUuid(student) : null,
    after: placeOf(after),
    from: readPosition(from),
  };
}

/** The query of the page with this filter, from this position on. */
export function queryOf({ state, search, student, from }: InvoiceFilter, after: InvoicePosition | null = null): string {
  const place = after && `${after.state}-${positionText(after)}`;
  return query({ state, search, student, from: from && positionText(from), after: place });
}

/** The numbers that somebody may mean: `12` is INV-000012. */
export function numbersMeant(typed: string): string[] {
  const [, digits] = /^(?:INV-?)?(\d{1,9})$/i.exec(typed) ?? [];
  return [typed, typed.toUpperCase(), ...(digits ? [`INV-${String(Number(digits)).padStart(6, '0')}`] : [])];
}

function placeOf(text: unknown): InvoicePosition | null {
  const [, named, rest] = (typeof text === 'string' && /^([a-z]{1,20})-(.{1,60})$/.exec(text)) || [];
  const [state, place] = [STATES.find((one) => one === named), readPosition(rest)];
  return state && place ? { state, ...place } : null;
}
