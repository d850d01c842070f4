import { canonicalUuid, type Position } from '@app/database';
import { positionText, queryOf as query, readPosition } from '../web/paging.js';

/** The states of invoices as people speak of them, in the order of the list. */
export const STATES = ['overdue', 'open', 'draft', 'paid', 'void', 'uncollectible'] as const;

export type InvoiceState = (typeof STATES)[number];

/** A position in the list: a state, and a place among its invoices. */
export interface InvoicePosition extends Position {
  state: InvoiceState;
}

/** Which invoices are listed; all of them where nothing is set. */
export interface InvoiceFilter {
  state: InvoiceState | null;
  /** As it was typed. */
  number: string;
  student: string | null;
  after: InvoicePosition | null;
}

export const LONGEST_NUMBER = 60;

/** Ignores invalid values. */
export function readFilter({ state, number, student, after }: Record<string, unknown>): InvoiceFilter {
  return {
    state: stateOf(state),
    number: typeof number === 'string' ? number.trim().slice(0, LONGEST_NUMBER) : '',
    student: typeof student === 'string' ? canonicalUuid(student) : null,
    after: placeOf(after),
  };
}

/** The query of the page with this filter, from this position on. */
export function queryOf({ state, number, student }: InvoiceFilter, after: InvoicePosition | null = null): string {
  return query({ state, number, student, after: after && `${after.state}-${positionText(after)}` });
}

/** The numbers that somebody may mean: `12` is INV-000012. */
export function numbersMeant(typed: string): string[] {
  const [, digits] = /^(?:INV-?)?(\d{1,9})$/i.exec(typed) ?? [];
  return [typed, typed.toUpperCase(), ...(digits ? [`INV-${String(Number(digits)).padStart(6, '0')}`] : [])];
}

const stateOf = (text: unknown): InvoiceState | null => STATES.find((one) => one === text) ?? null;

function placeOf(text: unknown): InvoicePosition | null {
  const [, named, rest] = (typeof text === 'string' && /^([a-z]{1,20})-(.{1,60})$/.exec(text)) || [];
  const [state, place] = [stateOf(named), readPosition(rest)];
  return state && place && { state, ...place };
}
