import { isScope, type KeyExpiry, type NewApiKey, type Overlap, OVERLAPS, type Scope, SCOPES } from '@app/access';
import type { Refused } from '@app/rules';
import type { Form } from '../web/form.js';
import { PageError } from '../web/page-error.js';

/** The lifetimes to choose from for a new key, besides a last day. */
export const LIFETIMES = { never: null, '30d': 30, '90d': 90, '1y': 365 } as const;

/** The form for a new key, as it was typed, to show it again. */
export interface KeyForm {
  name: string;
  access: 'read' | 'scopes';
  scopes: string[];
  expires: keyof typeof LIFETIMES | 'date';
  /** YYYY-MM-DD */
  date: string;
}

/** Errors by field; `form` concerns the whole form. */
export type KeyFormErrors = Partial<Record<'name' | 'scopes' | 'date' | 'form', string>>;

const FIELDS: Record<string, keyof KeyFormErrors> = { name: 'name', scopes: 'scopes', expires_at: 'date' };

export const emptyForm = (): KeyForm => {
  return { name: '', access: 'read', scopes: ['read'], expires: 'never', date: '' };
};

/** @throws PageError for values that the page does not offer */
export function readForm(form: Form): KeyForm {
  const [access, expires, scopes] = [
    form.text('access') || 'read',
    form.text('expires') || 'never',
    form.list('scopes'),
  ];
  const offered = (expires === 'date' || Object.hasOwn(LIFETIMES, expires)) && ['read', 'scopes'].includes(access);
  if (!offered || !scopes.every(isScope)) throw PageError.badForm();
  return {
    name: form.text('name'),
    access: access as KeyForm['access'],
    scopes,
    expires: expires as KeyForm['expires'],
    date: form.text('date'),
  };
}

/** @throws PageError for an overlap that the page does not offer */
export function overlapOf(form: Form): Overlap {
  const overlap = form.text('overlap');
  if (!Object.hasOwn(OVERLAPS, overlap)) throw PageError.badForm();
  return overlap as Overlap;
}

/** The key that the form requests. */
export function wantedBy({ name, access, scopes, expires, date }: KeyForm): NewApiKey {
  return {
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

/** The field at which to show why no key was created. */
export function errorsOf({ why, message }: Refused): KeyFormErrors {
  const field = why.kind === 'invalid' ? why.refusals[0]?.at[0] : undefined;
  return { [FIELDS[field ?? ''] ?? 'form']: message };
}
