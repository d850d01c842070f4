import { randomUUID } from 'node:crypto';
import {
  isScope,
  type KeyExpiry,
  type KeyProblem,
  type NewApiKey,
  type Overlap,
  OVERLAPS,
  type Scope,
  SCOPES,
} from '@app/accounts';
import { canonicalUuid } from '@app/database';
import type { Form } from '../web/form.js';
import { PageError } from '../web/page-error.js';

/** How long a new key can live, beside until a day. */
export const LIFETIMES = { never: null, '30d': 30, '90d': 90, '1y': 365 } as const;

/** The form for a new key as it was typed, so that it can be shown again. */
export interface KeyForm {
  /** Sent twice, the form makes one key. */
  formToken: string;
  name: string;
  access: 'read' | 'scopes';
  scopes: string[];
  expires: keyof typeof LIFETIMES | 'date';
  /** YYYY-MM-DD */
  date: string;
}

/** What is wrong with it, by field; `form` is about the whole. */
export type KeyFormErrors = Partial<Record<'name' | 'scopes' | 'date' | 'form', string>>;

const FIELDS: Partial<Record<KeyProblem, keyof KeyFormErrors>> = { name: 'name', scopes: 'scopes', expiry: 'date' };

export const emptyForm = (): KeyForm => ({
  formToken: randomUUID(),
  name: '',
  access: 'read',
  scopes: ['read'],
  expires: 'never',
  date: '',
});

/** @throws PageError when it holds what the page does not offer */
export function readForm(form: Form): KeyForm {
  const [access, expires, scopes] = [
    form.text('access') || 'read',
    form.text('expires') || 'never',
    form.list('scopes'),
  ];
  const offered = (expires === 'date' || Object.hasOwn(LIFETIMES, expires)) && ['read', 'scopes'].includes(access);
  if (!offered || !scopes.every(isScope)) throw PageError.badForm();
  return {
    formToken: formTokenOf(form),
    name: form.text('name'),
    access: access as KeyForm['access'],
    scopes,
    expires: expires as KeyForm['expires'],
    date: form.text('date'),
  };
}

export function formTokenOf(form: Form): string {
  return canonicalUuid(form.text('form_token')) ?? randomUUID();
}

/** @throws PageError when it is none that the page offers */
export function overlapOf(form: Form): Overlap {
  const overlap = form.text('overlap');
  if (!Object.hasOwn(OVERLAPS, overlap)) throw PageError.badForm();
  return overlap as Overlap;
}

/** The key that the form asks for. */
export function wantedBy({ formToken, name, access, scopes, expires, date }: KeyForm): NewApiKey {
  return {
    formToken,
    name,
    scopes: access === 'read' ? ['read'] : (Object.keys(SCOPES) as Scope[]).filter((scope) => scopes.includes(scope)),
    expiresAt: expiryOf(expires, date),
  };
}

function expiryOf(expires: KeyForm['expires'], date: string): KeyExpiry {
  if (expires === 'date') return { endOf: date };
  const days = LIFETIMES[expires];
  return days === null ? null : { inDays: days };
}

/** Where the form says what is wrong. */
export function errorsOf(problem: KeyProblem, message: string): KeyFormErrors {
  return { [FIELDS[problem] ?? 'form']: message };
}
