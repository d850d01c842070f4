import { Injectable } from '@nestjs/common';
import sql, { join, raw, type Sql } from 'sql-template-tag';
import {
  CORRECTABLE,
  Database,
  IS_STAFF,
  MANAGES,
  normalizeEmail,
  SQLSTATE,
  sqlStateOf,
  type Tables,
} from '@app/database';
import type { Admission } from '@app/jobs';
import { type Refusal, Refused } from '@app/rules';
import { visibleColumns } from '../visible-person.js';
import { placeholderOf } from '../email.js';
import { ManagerNotices } from '../organizations/manager-notices.js';
import { type AccountMail, AccountMails } from './account-mails.js';
import { Logins } from './logins.js';
import type { Person, Provisioner } from './people.js';
import { HAS_LEFT } from './refusals.js';

/** The fields to change; undefined ones stay. */
export type ProfileChange = { [Field in keyof Person]?: Person[Field] | undefined };

/** What the caller may do beyond the change itself; each throws if not. */
export interface MayChange {
  /** Asked before other names of an owner or admin are written. */
  managers: () => void;
  /** Asked before another address is written. */
  addresses: () => void;
}

interface MemberRow {
  role: Tables['members']['role'] | 'parent';
  status: Tables['members']['status'];
  first_name: string | null;
  last_name: string | null;
  email: string | null;
  phone: string | null;
  /** The address before a key changed it, until a manager has approved. */
  readdressed_from: string | null;
}

const SHARED = 'This login is shared with another organization, so only the person can change it.';
const INVITED =
  'This person was invited at their current address and has not accepted yet, so the address cannot be changed.';
const MANAGER = 'Address and phone of an owner or admin are not changed by API.';
const TAKEN = 'This address cannot be used for this person.';

/** Changes what an organization may change about its members: its own data, or a login without other memberships. */
@Injectable()
export class MemberProfiles {
  constructor(
    private readonly db: Database,
    private readonly logins: Logins,
    private readonly mails: AccountMails,
    private readonly managers: ManagerNotices,
  ) {}

  /**
   * Changes a student inside the ambient transaction.
   *
   * @param rateBandId by which prices differ; undefined stays
   * @param own writes what only the organization says of them, once nothing is waited for any more but the login
   * @throws Refused, which must roll it back
   */
  async changeStudent(
    by: Provisioner,
    id: string,
    change: ProfileChange,
    may: MayChange,
    rateBandId: string | null | undefined,
    own: Own,
  ): Promise<void> {
    const { organizationId } = by;
    const writeLogin = await this.change(by, id, studentRow, change, may);
    if (rateBandId !== undefined) {
      const bands = await this.db.query(
        sql`SELECT FROM rate_bands WHERE organization_id = ${organizationId} AND id = ${rateBandId}`,
      );
      if (rateBandId !== null && bands.length === 0) throw Refused.notFound();
      await this.db.query(sql`
        UPDATE members SET rate_band_id = ${rateBandId} WHERE organization_id = ${organizationId} AND user_id = ${id}`);
    }
    await own();
    await writeLogin();
  }

  /** The same of a parent with a child here. @throws Refused, which must roll it back */
  async changeParent(by: Provisioner, id: string, change: ProfileChange, may: MayChange, own: Own): Promise<void> {
    const writeLogin = await this.change(by, id, parentRow, change, may);
    await own();
    await writeLogin();
  }

  /**
   * Changes an owner, admin or tutor inside the ambient transaction, and locks the person until its end.
   *
   * @returns the last step, to be taken once all else is written: it locks the login, for which other organizations may wait
   * @throws Refused, which must roll it back
   */
  changeStaff(by: Provisioner, id: string, change: ProfileChange, may: MayChange): Promise<() => Promise<void>> {
    return this.change(by, id, staffRow, change, may);
  }

  private async change(
    by: Provisioner,
    id: string,
    { table, where }: Kind,
    change: ProfileChange,
    may: MayChange,
  ): Promise<() => Promise<void>> {
    const { organizationId } = by;
    await this.logins.lockPerson(organizationId, id);
    // The login may still change, by its person or another organization: the database decides again once it is locked.
    const [member] = await this.db.query<
      MemberRow & Record<'shared' | 'offered' | 'manages' | 'established' | 'correctable', boolean>
    >(sql`
      SELECT ${table === 'parents' ? sql`'parent' AS role` : sql`m.role`}, m.status, m.readdressed_from, ${raw(CORRECTABLE('m'))} AS correctable,
        ${visibleColumns('m', ['first_name', 'last_name', 'email', 'phone'])}, kept_elsewhere(m.user_id, false) AS shared,
        kept_elsewhere(m.user_id, true) AS offered, is_established(m.user_id) AS established,
        EXISTS (SELECT FROM members a WHERE a.organization_id = ${organizationId} AND a.user_id = ${id} AND a.${MANAGES}
          AND a.status <> 'archived') AS manages
      FROM ${raw(table)} m LEFT JOIN users u ON u.id = m.user_id
      WHERE m.organization_id = ${organizationId} AND m.user_id = ${id} AND ${where}`);
    if (!member) throw Refused.notFound();
    if (member.status === 'archived') throw Refused.invalid(HAS_LEFT);
    const wanted = differences(member, change);
    const moves = 'email' in wanted && !sameAddress(member.email, wanted.email ?? null);
    if (member.manages && (moves || 'phone' in wanted)) throw Refused.conflict('is_manager', MANAGER);
    if (member.manages && Object.keys(wanted).length > 0) may.managers();
    if (moves) may.addresses();
    const pending = member.status === 'pending';
    const corrects = member.correctable && moves;
    const kept = member.shared ? wanted : member.offered && 'email' in wanted ? { email: wanted.email } : {};
    const refusals = pending && !corrects ? refusedOfPending(member, wanted) : refusedWith('shared', kept);
    if (refusals.length > 0) throw Refused.invalidAt(refusals);
    const nothing = () => Promise.resolve();
    if (Object.keys(wanted).length === 0) return nothing;
    const merged = { ...member, ...wanted };
    if (pending) await this.changeSupplied(organizationId, table, id, merged);
    if (pending && !corrects) return nothing;
    // Nobody knows whose the address is that is corrected.
    const former = corrects ? member.readdressed_from : member.email;
    // The lock of mails comes before the login's.
    const addresses = [former, merged.email].filter((email) => email !== null);
    const admit = moves ? await this.mails.admission(by, addresses) : null;
    if (moves && (member.established || corrects)) await this.tellManagers(by, id, former, merged);
    return async () => {
      const { hindrance, established } = await (corrects
        ? this.correctAddress(id, merged.email)
        : this.changeLogin(id, wanted));
      if (hindrance) throw Refused.invalidAt(refusedWith(hindrance, wanted));
      if (moves && established && !corrects) await this.db.query(sql`SELECT await_address(${id}, ${former})`);
      if (admit) await this.tell(by, id, former, merged, admit, established);
    };
  }

  private async changeSupplied(organizationId: string, table: Kind['table'], id: string, to: MemberRow): Promise<void> {
    await this.db.query(sql`
      UPDATE ${raw(table)} SET supplied_first_name = ${to.first_name}, supplied_last_name = ${to.last_name},
        supplied_email = ${to.email}, supplied_phone = ${to.phone}
      WHERE organization_id = ${organizationId} AND user_id = ${id}`);
  }

  /** Changes the login. A trigger removes everything that the former address gave access to. */
  private async changeLogin(id: string, { email, ...to }: Differences): Promise<ChangedLogin> {
    const address = email ?? placeholderOf(id);
    const assigned = Object.entries(to).map(([column, value]) => sql`${raw(column)} = ${value}`);
    if (email !== undefined) {
      assigned.push(
        sql`email = ${address}, email_normalized = ${normalizeEmail(address)}, placeholder_email = ${email === null}`,
      );
    }
    return this.hindered(async () => {
      // A login with a new membership elsewhere is hidden by the policy, or refused by the trigger: both look once it is locked.
      const [, [login], changed] = await Promise.all([
        this.db.query(sql`SELECT FROM hold_ties_elsewhere(ARRAY[${id}::uuid])`),
        this.db.query<{ established: boolean }>(sql`SELECT is_established(${id}) AS established`),
        this.db.count(sql`UPDATE users SET ${join(assigned, ', ')}, updated_at = now() WHERE id = ${id}`),
      ]);
      return { hindrance: changed === 0 ? 'shared' : null, established: login!.established };
    });
  }

  /** Of somebody who waits, whom row-level security hides. */
  private correctAddress(id: string, email: string | null): Promise<ChangedLogin> {
    const address = email ?? placeholderOf(id);
    return this.hindered(async () => {
      const [row] = await this.db.query<{ done: boolean }>(
        sql`SELECT correct_address(${id}, ${address}, ${normalizeEmail(address)}, ${email === null}) AS done`,
      );
      return { hindrance: row!.done ? null : 'shared', established: true };
    });
  }

  private async hindered(change: () => Promise<ChangedLogin>): Promise<ChangedLogin> {
    try {
      return await change();
    } catch (error) {
      const hindrance = HINDRANCES[sqlStateOf(error) ?? ''];
      if (hindrance) return { hindrance, established: true };
      throw error;
    }
  }

  /** Asks the new address for confirmation and notifies the old one. The invite names the login, hence after its change. */
  private async tell(
    by: Provisioner,
    id: string,
    former: string | null,
    to: MemberRow,
    admit: Admission,
    established: boolean,
  ): Promise<void> {
    const { email, first_name: firstName, role } = to;
    if (email !== null) {
      // Nobody who manages gets here.
      const asking = {
        kind: 'address_confirmation',
        role: role as AccountMail['role'],
        id,
        to: email,
        firstName,
      } as const;
      await this.mails.queueAdmitted(by, admit([asking]));
    }
    if (former === null) return;
    const membership = { person: nameOf(to), by: null, email };
    await this.mails.notify(by, 'address_changed', role, [
      { to: former, firstName, ...(established && { membership }) },
    ]);
  }

  /** Whoever has the new address is let in by a manager alone. */
  private async tellManagers(by: Provisioner, id: string, formerEmail: string | null, to: MemberRow): Promise<void> {
    const membership = { person: nameOf(to), by: null, email: to.email, formerEmail };
    await this.managers.tell(by.organizationId, {
      kind: 'person_readdressed',
      page: `/people/${id}`,
      role: to.role,
      about: () => ({ membership }),
    });
  }
}

/** By SQLSTATE: the address belongs to another login, or another organization has just added a membership. */
const HINDRANCES: Record<string, Hindrance> = {
  [SQLSTATE.uniqueViolation]: 'taken',
  [SQLSTATE.insufficientPrivilege]: 'shared',
};
type Hindrance = 'taken' | 'shared';

/** Why the database rejects it, or null; and whether the login had been used. */
interface ChangedLogin {
  hindrance: Hindrance | null;
  established: boolean;
}

type Own = () => Promise<unknown>;

interface Kind {
  table: 'members' | 'parents';
  where: Sql;
}

const studentRow: Kind = { table: 'members', where: sql`m.role = 'student'` };
const staffRow: Kind = { table: 'members', where: sql`m.${IS_STAFF}` };
/** Without a child here, nobody sees them. */
const parentRow: Kind = { table: 'parents', where: sql`m.enrolled_at IS NOT NULL` };

const nameOf = ({ first_name, last_name }: MemberRow) => [first_name, last_name].filter(Boolean).join(' ');

type Differences = Partial<Pick<MemberRow, 'first_name' | 'last_name' | 'email' | 'phone'>>;

function differences(member: MemberRow, change: ProfileChange): Differences {
  const wanted = {
    first_name: change.firstName,
    last_name: change.lastName,
    email: change.email,
    phone: change.phone,
  } satisfies Record<keyof Differences, string | null | undefined>;
  const entries = Object.entries(wanted) as [keyof Differences, string | null | undefined][];
  return Object.fromEntries(entries.filter(([field, value]) => value !== undefined && value !== member[field]));
}

/** A pending membership stays with the login of its address, so the address cannot be changed. */
function refusedOfPending(member: MemberRow, { email }: Differences): Refusal[] {
  return email === undefined || sameAddress(email, member.email) ? [] : [{ at: ['email'], reason: INVITED }];
}

function sameAddress(one: string | null, other: string | null): boolean {
  return one === other || (one !== null && other !== null && normalizeEmail(one) === normalizeEmail(other));
}

function refusedWith(hindrance: Hindrance, wanted: Differences): Refusal[] {
  if (hindrance === 'taken') return [{ at: ['email'], reason: TAKEN }];
  return Object.keys(wanted).map((field) => ({ at: [field], reason: SHARED }));
}
