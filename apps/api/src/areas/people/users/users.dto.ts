import type { Scope } from '@app/access';
import type { NewPerson, RefusedPerson } from '@app/people';
import {
  Fault,
  type Faults,
  field,
  type Interdependent,
  kinds,
  MALFORMED_ADDRESS,
  TOGETHER,
} from '../../../http/kit.js';
import { ParentFields, StudentFields, toParent, toStudent, toTutor, TutorFields } from '../people.dto.js';

const MOST_ROWS = 100;

/** By exactly one of the two. */
export class FindUser implements Interdependent {
  @field.Query(kinds.text({ min: 1, max: 254, trim: true }), { description: 'The exact address, whatever its case.' })
  email?: string;

  @field.Query(kinds.text({ min: 1, max: 50 }), { description: 'The number; only its digits are compared.' })
  phone?: string;

  [TOGETHER](): Fault[] {
    if (this.email === undefined && this.phone === undefined)
      return [new Fault('missing', 'Give either "email" or "phone".', ['email'])];
    if (this.email === undefined || this.phone === undefined) return [];
    return [new Fault('value_error', 'Give only one of "email" and "phone".', ['phone'])];
  }
}

export class StudentRow extends StudentFields {
  @field.OneOf(['student'], { required: true })
  type: 'student';
}

export class TutorRow extends TutorFields {
  @field.OneOf(['tutor'], { required: true })
  type: 'tutor';
}

export class ParentRow extends ParentFields {
  @field.OneOf(['parent'], { required: true })
  type: 'parent';
}

/** A row whose text is too long, or whose address or phone number cannot be one, becomes an `error`. The other rows are provisioned. */
export class RefusedRow {
  constructor(
    readonly type: 'student' | 'tutor' | 'parent',
    readonly email: string | null,
    readonly person: RefusedPerson,
  ) {}
}

export type Row = StudentRow | TutorRow | ParentRow | RefusedRow;

const isOfRow = ({ type, msg }: Fault) =>
  type === 'string_too_long' || type === 'string_pattern_mismatch' || msg === MALFORMED_ADDRESS;

function refusedRow({ list, count }: Faults, raw: Record<string, unknown>): RefusedRow | null {
  if (count > list.length || !list.every(isOfRow)) return null;
  const reason = list.map(({ at, msg }) => `${at.join('.')}: ${msg}`).join(' ');
  const { type, email } = raw as Partial<RefusedRow>;
  return new RefusedRow(type!, email?.trim() ?? null, { type: 'refused', refusal: { at: [], reason } });
}

export class BulkInvite {
  @field.ListOf(
    'type',
    { student: StudentRow, tutor: TutorRow, parent: ParentRow },
    { min: 1, max: MOST_ROWS },
    {
      required: true,
      description: 'Distinguished by `type`. Each row is provisioned independently.',
      tolerate: refusedRow,
    },
  )
  users: Row[];
}

/** The scopes that the request requires: one for each kind of row. */
export function scopesOfRows({ users }: BulkInvite): Scope[] {
  const needed = users.map(({ type }) => (type === 'tutor' ? 'tutors:write' : 'students:write'));
  return [...new Set(needed)].sort();
}

export function toPerson(row: Row): NewPerson | RefusedPerson {
  if (row instanceof RefusedRow) return row.person;
  if (row.type === 'student') return toStudent(row);
  return row.type === 'tutor' ? toTutor(row) : toParent(row);
}
