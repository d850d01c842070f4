import type { Scope } from '@app/access';
import type { MayChange, NewParent, NewStudent, NewTutor, Person } from '@app/people';
import { VALUES } from '@app/database';
import { FIELDS } from '@app/fields';
import { type Caller, field, inputOf, requireScopes } from '../../http/kit.js';

/** The request fields of a person, shared by every way to provision people. */

const EMAIL_NOTE =
  'Without an address, no email can reach the account. Case is ignored. An invalid address is ' +
  'reported for each person.';
const INVITE_NOTE = 'Whether to queue an email with a link to the account.';

class PersonFields {
  @field.bodyField(FIELDS.users.first_name, { required: true })
  first_name: string;

  @field.bodyField(FIELDS.users.last_name, { required: true })
  last_name: string;

  @field.bodyField(FIELDS.users.email, { nullable: true, description: EMAIL_NOTE })
  email?: string | null;

  @field.bodyField(FIELDS.users.phone, { nullable: true })
  phone?: string | null;
}

/** A student's parent: provisioned and linked with the student, or reused if the organization already has them. */
export class ParentOfStudent extends PersonFields {}

export class StudentFields extends PersonFields {
  @field.Flag({ default: true, description: INVITE_NOTE })
  send_invite = true;

  @field.Nested(ParentOfStudent, { nullable: true })
  parent?: ParentOfStudent | null;
}

export class TutorFields extends PersonFields {
  @field.Flag({ default: true, description: INVITE_NOTE })
  send_invite = true;

  @field.bodyField(FIELDS.tutor_profiles.bio, { nullable: true })
  bio?: string | null;

  @field.OneOf(VALUES.tutor_profiles.teaching_mode, { nullable: true })
  teaching_mode?: string | null;

  @field.Flag({ nullable: true, description: 'Whether the profile is public. By default, it is not.' })
  is_published?: boolean | null;
}

export class ParentFields extends PersonFields {
  @field.Flag({
    default: true,
    description: 'Accepted, but has no effect: invite the parent after linking them to a child.',
  })
  send_invite = true;
}

/** Fields to change of a login that is nobody's employee; omitted ones stay unchanged. */
export class ChangedPerson {
  @field.bodyField(FIELDS.users.first_name)
  first_name?: string;

  @field.bodyField(FIELDS.users.last_name)
  last_name?: string;

  @field.bodyField(FIELDS.users.email, {
    nullable: true,
    description: 'Needs `accounts:write`. Null removes the address: no email can reach the account after that.',
  })
  email?: string | null;

  @field.bodyField(FIELDS.users.phone, { nullable: true })
  phone?: string | null;
}

/** The same of somebody who may be billed. */
export class BilledPerson extends ChangedPerson {
  @field.bodyField(FIELDS.members.billing_name, {
    nullable: true,
    description: 'What invoices say in place of the name.',
  })
  billing_name?: string | null;

  @field.bodyField(FIELDS.members.billing_address, { nullable: true, description: 'For invoices.' })
  billing_address?: string | null;
}

/** What a key may change of a login beyond what `scope` allows, if it has `accounts:write` as well. */
export function may(caller: Caller, scope: Scope): MayChange {
  const need = () => requireScopes(caller, [scope, 'accounts:write']);
  return { managers: need, addresses: need };
}

export function toStudent(fields: StudentFields): NewStudent {
  const parent = fields.parent ? toPerson(fields.parent) : null;
  return { type: 'student', ...toPerson(fields), sendInvite: fields.send_invite, parent };
}

export function toTutor(fields: TutorFields): NewTutor {
  return { ...inputOf(fields), ...toPerson(fields), type: 'tutor' };
}

export function toParent(fields: ParentFields): NewParent {
  return { type: 'parent', ...toPerson(fields) };
}

/** A blank phone number counts as none. */
function toPerson({ first_name, last_name, email, phone }: PersonFields): Person {
  return { firstName: first_name, lastName: last_name, email: email ?? null, phone: phone || null };
}
