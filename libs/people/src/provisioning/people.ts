import type { Refusal } from '@app/rules';

/** The organization for which people are provisioned, for example an API caller. */
export interface Provisioner {
  organizationId: string;
  organization: { name: string; timeZone: string };
  /** The API key of the request; null without one. */
  keyId: string | null;
}

/** What an organization supplies about a person. */
export interface Person {
  firstName: string;
  lastName: string;
  /** As given; null creates an account that no mail can reach. */
  email: string | null;
  phone: string | null;
}

export interface NewStudent extends Person {
  type: 'student';
  sendInvite: boolean;
  /** Provisioned together with the student and linked to them. If one is refused, so is the other. */
  parent: Person | null;
}

export interface NewTutor extends Person {
  type: 'tutor';
  sendInvite: boolean;
  bio: string | null;
  teachingMode: string | null;
  isPublished: boolean | null;
}

/** Never mailed: parents are invisible until linked to a child. */
export interface NewParent extends Person {
  type: 'parent';
}

/** A person whose values are refused before any lookup; they keep their place in the request. */
export interface RefusedPerson {
  type: 'refused';
  refusal: Refusal;
}

export type NewPerson = NewStudent | NewTutor | NewParent;

/** The person exists now; `created` with a new login, `invited` if a mail was queued. */
export interface Provisioned {
  /** `exists`: existed before, nothing was done. */
  status: 'ok' | 'exists';
  /** Accepted or pending in this role before. */
  known: boolean;
  /** The login's id. */
  id: string;
  created: boolean;
  invited: boolean;
}

/** The result for one person. */
export type ProvisioningResult = Provisioned | { status: 'error'; refusal: Refusal };
