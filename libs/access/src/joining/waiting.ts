import { Injectable } from '@nestjs/common';
import sql, { type Sql } from 'sql-template-tag';
import { Database } from '@app/database';
import { ClassLessons } from '@app/scheduling';
import { JoinEffects } from './join-effects.js';
import type { OpenedInvite } from './opened-invites.js';

/** At most so many tutors wait in an organization: more are no queue that anybody works through. */
const MOST_WAITING_TUTORS = 50;
/** More students than this by one code within an hour are no class arriving. */
const STUDENTS_AN_HOUR = 60;

/** What a code has let in so far, and who waits. Counted up to the limits. */
export interface CodeUse {
  /** null without a limit. */
  places: number | null;
  taken: number;
  lastHour: number;
  /** In the organization. */
  waitingTutors: number;
}

/** `full`: the code's places are taken. `crowded`: too many wait already. */
export type Entry = 'joins' | 'waits' | 'full' | 'crowded';

/** Who waits for an owner or admin: see docs/decisions/people.md. Anybody may have a code; an invite to an address needs no approval. */
export function entryBy(role: OpenedInvite['role'], { places, taken, lastHour, waitingTutors }: CodeUse): Entry {
  if (places !== null && taken >= places) return 'full';
  if (role === 'tutor') return waitingTutors >= MOST_WAITING_TUTORS ? 'crowded' : 'waits';
  if (role === 'parent') return 'waits';
  return lastHour >= STUDENTS_AN_HOUR ? 'waits' : 'joins';
}

/** The queue of those who came by a code, inside the ambient transaction, which has locked the organization. */
@Injectable()
export class Waiting {
  constructor(
    private readonly db: Database,
    private readonly effects: JoinEffects,
    private readonly lessons: ClassLessons,
  ) {}

  /** How somebody may enter with a code. @param newcomer whether they do not belong to the organization yet */
  async entry(invite: OpenedInvite, userId: string, newcomer: boolean): Promise<Entry> {
    const { organizationId, id, role, targetId } = invite;
    const ofParent = role === 'parent';
    const [row] = await this.db.query<CodeUse & { came: boolean; linked: boolean }>(sql`
      SELECT i.places, j.invite_id IS NOT NULL AS came,
        EXISTS (SELECT FROM parent_students WHERE organization_id = i.organization_id AND parent_id = ${userId}
          AND student_id = ${targetId}) AS linked,
        CASE WHEN i.places IS NULL THEN 0 ELSE (SELECT count(*)::integer FROM joins t
          WHERE t.organization_id = i.organization_id AND t.invite_id = i.id AND NOT ${hasLeft(ofParent)}) END AS taken,
        (SELECT count(*)::integer FROM (SELECT FROM joins t WHERE t.organization_id = i.organization_id
          AND t.invite_id = i.id AND t.joined_at > now() - interval '1 hour' LIMIT ${STUDENTS_AN_HOUR}) h) AS "lastHour",
        (SELECT count(*)::integer FROM (SELECT FROM members WHERE organization_id = i.organization_id AND role = 'tutor'
          AND approval_requested_at IS NOT NULL LIMIT ${MOST_WAITING_TUTORS}) w) AS "waitingTutors"
      FROM invites i
      LEFT JOIN joins j ON j.organization_id = i.organization_id AND j.invite_id = i.id AND j.user_id = ${userId}
      WHERE i.organization_id = ${organizationId} AND i.id = ${id}`);
    const { came, linked, ...use } = row!;
    if (ofParent && linked) return 'joins';
    const entry = entryBy(role, came ? { ...use, places: null } : use);
    return newcomer || ofParent || entry === 'full' ? entry : 'joins';
  }

  /** Records who came by an invite. @returns whether they have not waited by it yet */
  async record({ organizationId, id }: OpenedInvite, userId: string, waits: boolean): Promise<boolean> {
    const changed = await this.db.query(sql`
      INSERT INTO joins AS j (organization_id, invite_id, user_id, approval)
      VALUES (${organizationId}, ${id}, ${userId}, CASE WHEN ${waits}::boolean THEN 'waiting' END)
      ON CONFLICT (organization_id, invite_id, user_id) DO UPDATE SET approval = excluded.approval
        WHERE excluded.approval = 'waiting' AND j.approval IS DISTINCT FROM 'waiting'
      RETURNING j.user_id`);
    return changed.length > 0;
  }

  /** Whether somebody came by an invite a moment ago. */
  async justCame({ organizationId, id }: OpenedInvite, userId: string): Promise<boolean> {
    const rows = await this.db.query(sql`
      SELECT FROM joins WHERE organization_id = ${organizationId} AND invite_id = ${id} AND user_id = ${userId}
        AND joined_at > now() - interval '10 minutes'`);
    return rows.length > 0;
  }

  /** Locks the lessons of the classes that somebody waits for, before the person. */
  async lockLessons(organizationId: string, userId: string): Promise<void> {
    const classes = await this.db.query<{ id: string }>(sql`
      SELECT i.target_id AS id FROM joins j JOIN invites i ON i.organization_id = j.organization_id AND i.id = j.invite_id
      WHERE j.organization_id = ${organizationId} AND j.user_id = ${userId} AND j.approval = 'waiting'
        AND i.scope IN ('classroom', 'group')`);
    if (classes.length > 0) await this.lessons.lock(organizationId, classes.map(({ id }) => id)); // prettier-ignore
  }

  /** Gives somebody who was approved what they came for: places, a tutor, or children. What no longer exists is left out. */
  async settle(organizationId: string, userId: string, as: 'member' | 'parent'): Promise<void> {
    const came = await this.db.query<Parameters<JoinEffects['applyIfThere']>[0]>(sql`
      WITH settled AS (
        UPDATE joins j SET approval = 'approved' FROM invites i
        WHERE j.organization_id = ${organizationId} AND j.user_id = ${userId} AND j.approval = 'waiting'
          AND i.organization_id = j.organization_id AND i.id = j.invite_id AND (i.role = 'parent') = ${as === 'parent'}
        RETURNING i.organization_id AS "organizationId", i.scope, i.target_id AS "targetId", i.subject_id AS "subjectId")
      SELECT * FROM settled`);
    for (const invite of came) await this.effects.applyIfThere(invite, userId);
  }

  /** Ends what somebody waits for. @returns whether there was anything */
  async drop(organizationId: string, userId: string, as: 'member' | 'parent'): Promise<boolean> {
    const dropped = await this.db.query(sql`
      WITH dropped AS (
        DELETE FROM joins j USING invites i
        WHERE j.organization_id = ${organizationId} AND j.user_id = ${userId} AND j.approval = 'waiting'
          AND i.organization_id = j.organization_id AND i.id = j.invite_id AND (i.role = 'parent') = ${as === 'parent'}
        RETURNING 1)
      SELECT FROM dropped`);
    return dropped.length > 0;
  }

  /** Whether owners are to be mailed that many students join by a code: once an hour. */
  async isFlood({ organizationId, id }: OpenedInvite): Promise<boolean> {
    const flooded = await this.db.query(sql`
      WITH flooded AS (
        UPDATE invites SET flooded_at = now() WHERE organization_id = ${organizationId} AND id = ${id}
          AND (flooded_at IS NULL OR flooded_at < now() - interval '1 hour') RETURNING 1)
      SELECT FROM flooded`);
    return flooded.length > 0;
  }
}

/** Whether the person of the join `t` has left, or was declined: their place is free again. */
function hasLeft(asParent: boolean): Sql {
  return asParent
    ? sql`EXISTS (SELECT FROM parents p WHERE p.organization_id = t.organization_id AND p.user_id = t.user_id
        AND p.status = 'archived')`
    : sql`EXISTS (SELECT FROM members m WHERE m.organization_id = t.organization_id AND m.user_id = t.user_id
        AND m.status = 'archived')`;
}
