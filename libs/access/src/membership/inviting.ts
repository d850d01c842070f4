import { Injectable } from '@nestjs/common';
import type { ActingPerson, Done } from '@app/audit';
import sql from 'sql-template-tag';
import { Database, hasDigit } from '@app/database';
import {
  AccountInvites,
  Families,
  Invitations,
  isEmail,
  isName,
  type NewPerson,
  type Person,
  type Provisioner,
  Provisioning,
} from '@app/people';
import { type Refusal, Refused } from '@app/rules';
import { Managers } from './managers.js';

/** Somebody whom an owner or admin wants to have in the organization. */
export type WantedPerson =
  { role: 'student'; person: Person; parent: Person | null } | { role: 'tutor' | 'admin'; person: Person };

/** What became of it. */
export interface Invited {
  /** The person; null for an admin, who belongs only once they accept. */
  userId: string | null;
  /** They belonged in this role before: nothing was done. */
  existed: boolean;
  /** Whether a mail was queued. */
  emailed: boolean;
  /** The link to hand over where nothing could be mailed. Shown once. */
  joinUrl: string | null;
  /** Whether a mail to the student's parent was queued; null without one who has an address. */
  parentEmailed: boolean | null;
}

const ONLY_OWNERS = 'Only an owner can invite an admin.';
const NEEDS_ADDRESS = 'Enter an email address, for example mia@example.org.';
const NOT_AN_ADDRESS = 'This is not a valid email address.';
const NAME = 'Enter a name, up to 200 characters.';
const LONGEST_PHONE = 50;

/** Invites people from the portal, by the rules and with the mails of the API. */
@Injectable()
export class Inviting {
  constructor(
    private readonly provisioning: Provisioning,
    private readonly invitations: Invitations,
    private readonly accountInvites: AccountInvites,
    private readonly managers: Managers,
    private readonly families: Families,
    private readonly db: Database,
  ) {}

  /**
   * Adds a student or tutor, or invites an admin, and mails them, in the ambient transaction.
   *
   * @throws Refused at the values that are not possible, such as `parent.email`, and at `role` for an admin whom no owner invites
   */
  async invite(by: ActingPerson, provisioner: Provisioner, wanted: WantedPerson): Promise<Done & { answer: Invited }> {
    const refusals = refusalsOf(wanted);
    if (refusals.length > 0) throw Refused.invalidAt(refusals);
    const { organizationId } = provisioner;
    const changer = await this.managers.principal(organizationId, by, by.userId);
    const isOwner = changer.kind === 'person' && changer.role === 'owner';
    if (wanted.role === 'admin' && !isOwner) throw Refused.invalid(ONLY_OWNERS, 'role');
    const answer =
      wanted.role === 'admin'
        ? await this.admin(by, provisioner, wanted.person)
        : await this.member(provisioner, wanted.role, planned(wanted));
    const { userId: user_id, existed, emailed } = answer;
    return { audit: { role: wanted.role, user_id, existed, emailed }, answer };
  }

  private async admin(by: ActingPerson, provisioner: Provisioner, { email }: Person): Promise<Invited> {
    const { joinUrl, emailed } = await this.invitations.invite(provisioner, {
      scope: 'organization',
      role: 'admin',
      targetId: provisioner.organizationId,
      subject: null,
      email,
      apiKeyId: null,
      createdBy: by.userId,
    });
    return { userId: null, existed: false, emailed, joinUrl: emailed ? null : joinUrl, parentEmailed: null };
  }

  /**
   * Adds a parent of a student, or links one who is known by the address, and mails whoever is new, in the ambient transaction.
   *
   * @throws Refused at the values that are not possible, and for an unknown student
   */
  async inviteParent(by: Provisioner, studentId: string, person: Person): Promise<Done & { answer: Invited }> {
    const refusals = faultsOf(person, []);
    if (refusals.length > 0) throw Refused.invalidAt(refusals);
    const { id, status } = await this.provisioning.provisionOne(by, { type: 'parent', ...person });
    const linked = await this.families.link(by.organizationId, id, studentId);
    const known = status === 'exists';
    if (!linked && !known) throw Refused.notFound();
    const { email } = person;
    const emailed = !known && email !== null && (await this.accountInvites.sendToParent(by, id)).sent;
    const joinUrl =
      known || emailed || email === null ? null : await this.accountInvites.handOver(by, id, 'parent', email);
    const answer = { userId: id, existed: !linked, emailed, joinUrl, parentEmailed: null };
    return { audit: { role: 'parent', user_id: id, student_id: studentId, existed: !linked, emailed }, answer };
  }

  private async member(by: Provisioner, role: 'student' | 'tutor', person: NewPerson): Promise<Invited> {
    const { id, status, invited } = await this.provisioning.provisionOne(by, person);
    const existed = status === 'exists';
    const { email } = person as Person;
    const joinUrl =
      existed || invited || email === null ? null : await this.accountInvites.handOver(by, id, role, email);
    const parent =
      person.type === 'student' && !existed && person.parent?.email ? await this.parentOf(by.organizationId, id) : null;
    const parentEmailed = parent === null ? null : (await this.accountInvites.sendToParent(by, parent)).sent;
    return { userId: id, existed, emailed: invited, joinUrl, parentEmailed };
  }

  private async parentOf(organizationId: string, studentId: string): Promise<string | null> {
    const [link] = await this.db.query<{ id: string }>(sql`
      SELECT parent_id AS id FROM parent_students WHERE organization_id = ${organizationId} AND student_id = ${studentId}`);
    return link?.id ?? null;
  }
}

function planned(wanted: WantedPerson): NewPerson {
  if (wanted.role === 'student') return { type: 'student', ...wanted.person, sendInvite: true, parent: wanted.parent };
  return { type: 'tutor', ...wanted.person, sendInvite: true, bio: null, teachingMode: null, isPublished: null };
}

/** What the API refuses as the shape of a request. An admin's names come with the account. */
function refusalsOf(wanted: WantedPerson): Refusal[] {
  const { role, person } = wanted;
  const needsAddress = role !== 'student' && person.email === null;
  return [
    ...(role === 'admin' ? faultsOf({ ...person, firstName: 'x', lastName: 'x' }, []) : faultsOf(person, [])),
    ...(needsAddress ? [{ at: ['email'], reason: NEEDS_ADDRESS }] : []),
    ...(wanted.role === 'student' && wanted.parent ? faultsOf(wanted.parent, ['parent']) : []),
  ];
}

function faultsOf({ firstName, lastName, email, phone }: Person, at: string[]): Refusal[] {
  const faults: [at: string, reason: string, wrong: boolean][] = [
    ['first_name', NAME, !isName(firstName)],
    ['last_name', NAME, !isName(lastName)],
    ['email', NOT_AN_ADDRESS, email !== null && !isEmail(email)],
    ['phone', `Enter at most ${LONGEST_PHONE} characters.`, phone !== null && Array.from(phone).length > LONGEST_PHONE],
    ['phone', 'Enter a phone number, such as +61 3 9000 0000.', phone !== null && !hasDigit(phone)],
  ];
  return faults.filter(([, , wrong]) => wrong).map(([field, reason]) => ({ at: [...at, field], reason }));
}
