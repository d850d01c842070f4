import { normalizeEmail } from '@app/database';

/** On whose behalf people are provisioned: a caller of the API is one. */
export interface Provisioner {
  organizationId: string;
  organization: { name: string; timeZone: string };
  /** The API key that asked; null for anything else. */
  keyId: string | null;
}

/** What an organization says of a person. */
export interface Person {
  firstName: string;
  lastName: string;
  /** As it was given; null makes an account that no mail can reach. */
  email: string | null;
  phone: string | null;
}

export interface NewStudent extends Person {
  type: 'student';
  sendInvite: boolean;
  /** Provisioned and linked with the student, or neither is. */
  parent: Person | null;
}

export interface NewTutor extends Person {
  type: 'tutor';
  sendInvite: boolean;
  bio: string | null;
  teachingMode: string | null;
  isPublished: boolean | null;
}

/** Never mailed: nobody sees a parent until it is linked to a child. */
export interface NewParent extends Person {
  type: 'parent';
}

/** Somebody whose values are refused before anything is looked up; they keep their place in the request. */
export interface RefusedPerson {
  type: 'refused';
  refusal: Refusal;
}

export type NewPerson = NewStudent | NewTutor | NewParent;

/** Why a value is refused, and at which field of what was asked for. */
export interface Refusal {
  at: string[];
  reason: string;
}

/** The person is there now; `created` with a new login. `invited` when a mail was queued. */
export interface Provisioned {
  /** `exists`: was there before, and nothing was done. */
  status: 'ok' | 'exists';
  /** Of the login. */
  id: string;
  created: boolean;
  invited: boolean;
}

/** What became of one person. */
export type ProvisioningResult = Provisioned | { status: 'error'; refusal: Refusal };

/** Addresses that can never receive mail end like this (RFC 2606). */
const NOWHERE = '.invalid';

/** The address of an account without one. */
export function placeholderOf(id: string): string {
  return `${id}@placeholder${NOWHERE}`;
}

/** Whether this is an address of nobody, ours or another. */
export function leadsNowhere(email: string): boolean {
  return normalizeEmail(email).endsWith(NOWHERE);
}
