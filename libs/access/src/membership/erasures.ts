import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { Database } from '@app/database';
import { Logins } from '@app/people';
import { Refused } from '@app/rules';
import { Managers } from './managers.js';
import { type ActorIds, MembershipNotices } from './membership-notices.js';
import { isManager, type Role } from './who-may.js';

/** Days in which an erasure can be called off. */
const DAYS_TO_THINK = 7;

interface Person {
  role: Role | 'parent';
  belongs: boolean;
  /** Whether they manage the organization, or did. */
  manager: boolean;
  held: boolean;
}

/** What owners decide about the data of somebody who has left; the worker erases once the days are over. */
@Injectable()
export class Erasures {
  constructor(
    private readonly db: Database,
    private readonly logins: Logins,
    private readonly managers: Managers,
    private readonly notices: MembershipNotices,
  ) {}

  /**
   * Has somebody erased in a week, inside the ambient transaction. A key can only ask; an owner decides. Owners are mailed both times, the person
   * once an owner has decided. Asking again changes nothing.
   * @throws Refused for nobody of the organization, for somebody who still belongs (`still_belongs`) or managed it (`is_manager`), and for one who is held
   */
  async ask(
    organizationId: string,
    by: ActorIds,
    personId: string,
    keepResults: boolean,
  ): Promise<{ changed: boolean }> {
    const person = await this.decide(organizationId, by, personId, true);
    if (person.belongs) throw Refused.conflict('still_belongs', STILL_BELONGS);
    if (person.manager) throw Refused.conflict('is_manager', MANAGED);
    if (person.held) throw Refused.conflict('held', HELD);
    const key = by.userId === null;
    const due = sql`now() + ${DAYS_TO_THINK} * interval '1 day'`;
    const asked = await this.db.count(
      key
        ? sql`INSERT INTO erasures (organization_id, person_id, keep_results)
          VALUES (${organizationId}, ${personId}, ${keepResults}) ON CONFLICT (organization_id, person_id) DO NOTHING`
        : sql`INSERT INTO erasures (organization_id, person_id, keep_results, due_at)
          VALUES (${organizationId}, ${personId}, ${keepResults}, ${due})
          ON CONFLICT (organization_id, person_id) DO UPDATE SET due_at = excluded.due_at, keep_results = excluded.keep_results
          WHERE erasures.due_at IS NULL`,
    );
    if (asked > 0 && key) await this.notices.erasureWanted(organizationId, by, personId, person.role);
    else if (asked > 0) await this.notices.erasureAsked(organizationId, by, personId, person.role);
    return { changed: asked > 0 };
  }

  /** What is to become of somebody's data, as the API tells it. */
  async of(organizationId: string, personId: string): Promise<{ person_id: string; due_at: string | null }> {
    const [row] = await this.db.query<{ person_id: string; due_at: string | null }>(sql`
      SELECT person_id, asked_at, due_at, keep_results FROM erasures
      WHERE organization_id = ${organizationId} AND person_id = ${personId}`);
    return row!;
  }

  async callOff(organizationId: string, by: ActorIds, personId: string): Promise<{ changed: boolean }> {
    await this.decide(organizationId, by, personId);
    const off = await this.db.count(sql`
      DELETE FROM erasures WHERE organization_id = ${organizationId} AND person_id = ${personId}`);
    return { changed: off > 0 };
  }

  /** Nobody erases the person until an owner {@link release}s them; what was asked is called off. */
  async hold(organizationId: string, by: ActorIds, personId: string, reason: string): Promise<{ changed: boolean }> {
    await this.callOff(organizationId, by, personId);
    if (reason === '' || reason.length > 500) throw Refused.invalid('Say why, in at most 500 characters.', 'reason');
    const held = await this.db.count(sql`
      INSERT INTO holds (organization_id, user_id, reason) VALUES (${organizationId}, ${personId}, ${reason})
      ON CONFLICT (organization_id, user_id) DO NOTHING`);
    return { changed: held > 0 };
  }

  async release(organizationId: string, by: ActorIds, personId: string): Promise<{ changed: boolean }> {
    await this.decide(organizationId, by, personId);
    const released = await this.db.count(sql`
      DELETE FROM holds WHERE organization_id = ${organizationId} AND user_id = ${personId}`);
    return { changed: released > 0 };
  }

  /** Only owners decide. @param asks keys may ask @throws Refused, as if there were nobody */
  private async decide(organizationId: string, by: ActorIds, personId: string, asks = false): Promise<Person> {
    await this.logins.lockPerson(organizationId, personId);
    const principal = await this.managers.principal(organizationId, by, personId);
    const owner = principal.kind === 'person' && principal.role === 'owner';
    if (!owner && !(asks && principal.kind === 'key')) throw Refused.notFound();
    const ties = await this.db.query<{ role: Person['role']; belongs: boolean; held: boolean }>(sql`
      SELECT t.role, t.status <> 'archived' AS belongs, EXISTS (
        SELECT FROM holds h WHERE h.organization_id = ${organizationId} AND h.user_id = ${personId}) AS held
      FROM (SELECT role, status FROM members WHERE organization_id = ${organizationId} AND user_id = ${personId}
        UNION ALL SELECT 'parent', status FROM parents WHERE organization_id = ${organizationId} AND user_id = ${personId}) t`);
    const [first] = ties;
    if (!first) throw Refused.notFound();
    const manager = ties.some(({ role }) => role !== 'parent' && isManager(role));
    return { ...first, belongs: ties.some(({ belongs }) => belongs), manager };
  }
}

const STILL_BELONGS = 'They still belong here. Remove them first.';
const MANAGED = 'They managed this organization, and only they themselves can ask for this.';
const HELD = 'The data is held. Release it first.';
