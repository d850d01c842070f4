import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { QueryFailedError } from 'typeorm';
import { Database, type Member } from '@app/database';
import { normalizeEmail } from '../email.js';
import { Invites } from '../invites.js';
import { type Person, placeholderOf, type Refusal } from './people.js';
import { refusedAddress } from './refusals.js';

/** What is to be changed; what is undefined stays. */
export type ProfileChange = { [Field in keyof Person]?: Person[Field] | undefined };

/** What became of a change. */
export type ProfileChanged =
  | { status: 'absent' | 'done' }
  | {
      status: 'refused';
      refusals: Refusal[];
    };

interface StudentRow {
  status: Member['status'];
  first_name: string | null;
  last_name: string | null;
  email: string | null;
  phone: string | null;
  shared: boolean;
}

const ARCHIVED = 'This student is archived: provision them again first.';
const SHARED = 'This login is not this organization’s alone: only the person can change it.';
const INVITED = 'This person is invited at their address and has not answered yet: it cannot be changed meanwhile.';
const TAKEN = 'Another account has this address.';

/** What an organization may change of its students: what it supplied, or a login that nobody else sees. */
@Injectable()
export class StudentProfiles {
  constructor(
    private readonly db: Database,
    private readonly invites: Invites,
  ) {}

  /** Changes inside the ambient transaction. After a refusal that transaction is to be rolled back. */
  async change(organizationId: string, id: string, change: ProfileChange): Promise<ProfileChanged> {
    const [student] = await this.db.query<StudentRow>(sql`
      SELECT m.status, s.*, EXISTS (SELECT FROM seen_elsewhere(ARRAY[m.user_id])) AS shared
      FROM members m JOIN users u ON u.id = m.user_id, LATERAL (
        SELECT m.supplied_first_name AS first_name, m.supplied_last_name AS last_name, m.supplied_email AS email,
          m.supplied_phone AS phone WHERE m.status = 'pending'
        UNION ALL
        SELECT u.first_name, u.last_name, CASE WHEN NOT u.placeholder_email THEN u.email END, u.phone
        WHERE m.status <> 'pending') s
      WHERE m.organization_id = ${organizationId} AND m.user_id = ${id} AND m.role = 'student'
      FOR NO KEY UPDATE OF m`);
    if (!student) return { status: 'absent' };
    if (student.status === 'archived') return { status: 'refused', refusals: [{ at: [], reason: ARCHIVED }] };
    const wanted = differences(student, change);
    const refusals = student.status === 'pending' ? refusedOfPending(student, wanted) : refusedOfLogin(student, wanted);
    if (refusals.length > 0) return { status: 'refused', refusals };
    if (Object.keys(wanted).length === 0) return { status: 'done' };
    const merged = { ...student, ...wanted };
    if (student.status === 'pending') await this.changeSupplied(organizationId, id, merged);
    else if (!(await this.changeLogin(id, merged))) {
      return { status: 'refused', refusals: [{ at: ['email'], reason: TAKEN }] };
    }
    if (wanted.email !== undefined) await this.invites.revokeForAccount(organizationId, id);
    return { status: 'done' };
  }

  private async changeSupplied(organizationId: string, id: string, to: StudentRow): Promise<void> {
    await this.db.query(sql`
      UPDATE members SET supplied_first_name = ${to.first_name}, supplied_last_name = ${to.last_name},
        supplied_email = ${to.email}, supplied_phone = ${to.phone}
      WHERE organization_id = ${organizationId} AND user_id = ${id}`);
  }

  /** @returns false when the address is another login's */
  private async changeLogin(id: string, to: StudentRow): Promise<boolean> {
    const address = to.email ?? placeholderOf(id);
    try {
      await this.db.query(sql`
        UPDATE users SET first_name = ${to.first_name}, last_name = ${to.last_name}, phone = ${to.phone},
          email = ${address}, email_normalized = ${normalizeEmail(address)}, placeholder_email = ${to.email === null},
          updated_at = now()
        WHERE id = ${id}`);
      return true;
    } catch (error) {
      if (isDuplicate(error)) return false;
      throw error;
    }
  }
}

type Differences = Partial<Pick<StudentRow, 'first_name' | 'last_name' | 'email' | 'phone'>>;

function differences(student: StudentRow, change: ProfileChange): Differences {
  const wanted = {
    first_name: change.firstName,
    last_name: change.lastName,
    email: change.email,
    phone: change.phone,
  } satisfies Record<keyof Differences, string | null | undefined>;
  const entries = Object.entries(wanted) as [keyof Differences, string | null | undefined][];
  return Object.fromEntries(entries.filter(([field, value]) => value !== undefined && value !== student[field]));
}

/** The membership is the one of the login with that address, whatever is said of it. */
function refusedOfPending(student: StudentRow, { email }: Differences): Refusal[] {
  if (email === undefined || (email && student.email && normalizeEmail(email) === normalizeEmail(student.email))) {
    return [];
  }
  return [{ at: ['email'], reason: INVITED }];
}

function refusedOfLogin({ shared }: StudentRow, wanted: Differences): Refusal[] {
  if (shared) return Object.keys(wanted).map((field) => ({ at: [field], reason: SHARED }));
  const reason = wanted.email ? refusedAddress(wanted.email) : null;
  return reason === null ? [] : [{ at: ['email'], reason }];
}

function isDuplicate(error: unknown): boolean {
  return error instanceof QueryFailedError && (error.driverError as { code?: string }).code === '23505';
}
