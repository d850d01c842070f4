import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { Database, type Tables } from '@app/database';
import type { Done } from '@app/audit';
import { Logins, ClassMembers } from '@app/people';
import { Refused } from '@app/rules';
import { Departures, type SessionsAhead } from '@app/scheduling';
import { OffboardingSteps } from './offboarding-steps.js';
import { type Ended, NOTHING_ENDED } from './ended.js';
import { type ActorIds, MembershipNotices } from './membership-notices.js';
import { Managers } from './managers.js';
import { WaysIn } from './ways-in.js';
import { isManager, requireMayEnd, type Role } from './who-may.js';

/** Who leaves, and what becomes of what they had to do. */
export interface Departure {
  userId: string;
  /** What ends: a membership with one of these roles, or being a parent. Without it, both. */
  as?: 'student' | 'staff' | 'parent';
  /** Of staff. Unassigned if nothing is said: lessons are not called off by accident. */
  sessions?: SessionsAhead;
  /** Codes that go on working although they could read or made them. */
  keepCodes?: readonly string[];
  /** Mails nobody: the caller does. */
  silently?: boolean;
}

/** Somebody of whom all but the membership itself has ended. */
export interface Closing {
  userId: string;
  member: boolean;
  parent: boolean;
  /** Whether nothing is left by which they belong to conversations. */
  talks: boolean;
}

interface Person {
  role: Role | null;
  status: Tables['members']['status'] | null;
  parent_status: Tables['parents']['status'] | null;
  /** What was chosen for the sessions ahead. */
  ahead: string | null;
}

/**
 * Ends memberships: from the commit on, the person sees and does nothing of the organization any more, and neither do
 * the keys and codes that they know. What they did stays: sessions held, results, messages, invoices and audit rows.
 * What somebody has in another organization is not touched.
 */
@Injectable()
export class Offboarding {
  constructor(
    private readonly db: Database,
    private readonly logins: Logins,
    private readonly steps: OffboardingSteps,
    private readonly classMembers: ClassMembers,
    private readonly departures: Departures,
    private readonly managers: Managers,
    private readonly waysIn: WaysIn,
    private readonly notices: MembershipNotices,
  ) {}

  /** {@link end}, whose numbers are the audit row. */
  async ended(organizationId: string, by: ActorIds, departure: Departure): Promise<Done & { answer: Ended }> {
    const answer = await this.end(organizationId, by, departure);
    const { changed, ...numbers } = answer;
    return { changed, audit: changed ? numbers : {}, answer };
  }

  /**
   * Ends a membership inside the ambient transaction. Once it has ended, does nothing.
   *
   * @param closing where several end together: the caller {@link close}s these at the end
   * @throws Refused for nobody of the organization, for one whom the actor may not remove (`is_manager`), for the last owner
   *   who can sign in (`last_owner`), and for a repeat that asks for something else
   */
  async end(organizationId: string, by: ActorIds, departure: Departure, closing?: Closing[]): Promise<Ended> {
    const { userId, as, keepCodes = [], sessions, silently } = departure;
    await this.hold(organizationId, departure);
    const person = await this.find(organizationId, userId);
    const member = as !== 'parent' && person.role !== null && (as === 'student') === (person.role === 'student');
    const isMember = as === undefined ? person.role !== null : member;
    const isParent = (as === undefined || as === 'parent') && person.parent_status !== null;
    if (!isMember && !isParent) throw Refused.notFound();
    const role = isMember ? person.role : null;
    requireMayEnd(await this.managers.principal(organizationId, by, userId), role);
    const endsMember = isMember && person.status !== 'archived';
    const endsParent = isParent && person.parent_status !== 'archived';
    if (!endsMember && !endsParent) {
      requireSame(person.ahead, sessions);
      return NOTHING_ENDED;
    }
    if (endsMember && role === 'owner' && person.status === 'accepted') await this.managers.requireAnotherOwner(userId);

    // Before the membership ends, and with it the sight of the address that they were made for.
    const invites = await this.steps.invites(organizationId, userId);
    const belonged = endsMember ? await this.endMember(organizationId, userId, role!, sessions) : NOTHING_ENDED;
    const children = endsParent ? await this.endParent(organizationId, userId) : 0;
    await this.steps.requests(organizationId, userId);
    const gone = {
      ...belonged,
      changed: true,
      relations: belonged.relations + children,
      invites,
      ...(await this.waysIn.end(organizationId, by, { userId }, endsMember && isManager(role), keepCodes)),
    };
    if (!silently && (person.status === 'accepted' || person.parent_status === 'accepted'))
      await this.notices.ended(organizationId, by, userId, role ?? 'parent');
    const talks = endsMember || person.status !== 'accepted';
    const last = { userId, member: endsMember, parent: endsParent, talks };
    if (closing) closing.push(last);
    else await this.close(organizationId, [last]);
    if (by.userId === userId) await this.refuse(organizationId, userId);
    return gone;
  }

  /** The last step: it locks rows of `users`, for which other organizations may wait. */
  async close(organizationId: string, ended: readonly Closing[]): Promise<void> {
    const ids = (kind: 'member' | 'parent' | 'talks') => ended.filter((one) => one[kind]).map(({ userId }) => userId);
    // All at once, in the order of their ids.
    await this.db.query(sql`SELECT FROM hold_ties_elsewhere(${ended.map(({ userId }) => userId)}::uuid[])`);
    await this.steps.conversations(ids('talks'));
    await this.db.query(sql`
      UPDATE members SET status = 'archived', archived_at = now(), approval_requested_at = NULL
      WHERE organization_id = ${organizationId} AND user_id = ANY (${ids('member')}::uuid[]) AND status <> 'archived'`);
    await this.db.query(sql`
      UPDATE parents SET status = 'archived'
      WHERE organization_id = ${organizationId} AND user_id = ANY (${ids('parent')}::uuid[]) AND status <> 'archived'`);
    // A parent's last link ends what shows their login, too.
    for (const userId of ids('parent')) await this.steps.rows(organizationId, userId, 'parent');
  }

  /** Locks one who leaves. Of two owners who remove each other, one stays. */
  async hold(organizationId: string, { userId, sessions }: Departure): Promise<void> {
    await this.logins.lockOrganization(organizationId);
    await this.lock(organizationId, [userId], sessions?.do === 'hand_over' ? [sessions.to] : []);
  }

  /** Locks those who leave and what is ahead of them: all at once, if they are many, so that the order of locks stays. */
  async lock(organizationId: string, leaving: string[], successors: string[] = []): Promise<void> {
    await this.departures.lock(organizationId, leaving);
    await this.db.lockPeople(organizationId, successors, leaving);
    await this.steps.lock(organizationId, leaving);
  }

  /** Whoever left by themselves is not asked again and again. */
  private async refuse(organizationId: string, userId: string): Promise<void> {
    await this.db.query(sql`
      UPDATE members SET refused_at = coalesce(refused_at, now())
      WHERE organization_id = ${organizationId} AND user_id = ${userId} AND status = 'archived'`);
    await this.db.query(sql`
      UPDATE parents SET refused_at = coalesce(refused_at, now())
      WHERE organization_id = ${organizationId} AND user_id = ${userId} AND status = 'archived'`);
  }

  /**
   * Unlinks a child from a parent inside the ambient transaction. A parent without children has left: they are no longer
   * listed, and see nothing.
   *
   * @throws Refused when there is no such link
   */
  async unlinkChild(organizationId: string, parentId: string, studentId: string): Promise<void> {
    await this.logins.lockPerson(organizationId, parentId);
    const children = await this.steps.children(organizationId, parentId);
    if (!children.includes(studentId)) throw Refused.notFound();
    if (children.length > 1) return this.steps.unlink(organizationId, parentId, studentId);
    const { status } = await this.find(organizationId, parentId);
    await this.steps.accountLinks(organizationId, parentId);
    // Last, as in `close`.
    await this.steps.unlink(organizationId, parentId, studentId);
    if (status !== 'accepted') await this.steps.conversations([parentId]);
  }

  /** The person is locked alone: a booking comes before, and its session is found, or later, and finds nobody. */
  private async endMember(
    organizationId: string,
    userId: string,
    role: Role,
    ahead: SessionsAhead = { do: 'unassign' },
  ): Promise<Ended> {
    const { steps: belongings, departures } = this;
    const teaches = role !== 'student';
    if (ahead.do === 'hand_over') await this.lockSuccessor(organizationId, userId, ahead.to);
    if (teaches) await belongings.led(organizationId, userId, ahead.do === 'hand_over' ? ahead.to : null);
    const sessions = teaches
      ? await departures.ofTutor(organizationId, userId, ahead)
      : await departures.ofStudent(organizationId, userId);
    if (teaches)
      await this.db.query(sql`
        UPDATE members SET ahead = ${choiceOf(ahead)} WHERE organization_id = ${organizationId} AND user_id = ${userId}`);
    const rows = await belongings.rows(organizationId, userId, 'member');
    return {
      ...NOTHING_ENDED,
      ...sessions,
      relations: rows['tutor_students']!,
      classrooms: rows['classroom_members']!,
      groups: await belongings.groups(organizationId, userId),
      keys: rows['api_keys']!,
    };
  }

  private async lockSuccessor(organizationId: string, userId: string, successor: string): Promise<void> {
    if (successor === userId) throw Refused.notFound();
    await this.classMembers.requireStaff(organizationId, successor, 'hand_over_to');
  }

  /** @returns how many children there are: {@link close} unlinks them */
  private async endParent(organizationId: string, userId: string): Promise<number> {
    await this.steps.accountLinks(organizationId, userId);
    return (await this.steps.children(organizationId, userId)).length;
  }

  private async find(organizationId: string, userId: string): Promise<Person> {
    const [person] = await this.db.query<Person>(sql`
      SELECT m.role, m.status, m.ahead, p.status AS parent_status FROM (SELECT ${userId}::uuid AS id) u
      LEFT JOIN members m ON m.organization_id = ${organizationId} AND m.user_id = u.id
      LEFT JOIN parents p ON p.organization_id = ${organizationId} AND p.user_id = u.id`);
    return person!;
  }
}

const choiceOf = (ahead: SessionsAhead): string => (ahead.do === 'hand_over' ? `hand_over ${ahead.to}` : ahead.do);

/** @throws Refused for a repeat that asks for something else than what was done */
function requireSame(done: string | null, asked: SessionsAhead | undefined): void {
  if (!asked || done === null || choiceOf(asked) === done) return;
  throw Refused.invalidState(
    'archived',
    [],
    'This person has left already, and another choice was made for their sessions.',
  );
}
