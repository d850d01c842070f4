import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { v7 as uuidv7 } from 'uuid';
import { Database } from '@app/database';
import type { Plan, PlannedMembership } from './plan.js';

type Written = Pick<Plan, 'members' | 'returning' | 'reminded' | 'profiles' | 'parents' | 'links'>;

/** Writes memberships, tutor profiles, parents and their links. */
@Injectable()
export class Memberships {
  constructor(private readonly db: Database) {}

  /**
   * Writes a plan in one statement, each table's rows in the order of the people, so that concurrent writers cannot deadlock.
   * @param mailed people to whom a mail was queued @returns false if another writer has changed the same people meanwhile
   */
  async write(organizationId: string, plan: Written, mailed: ReadonlySet<string>): Promise<boolean> {
    const members = plan.members.map(({ role, ...tie }) => ({
      ...membershipRow(tie, mailed),
      member_id: uuidv7(),
      role,
    }));
    const returning = plan.returning.map((tie) => membershipRow(tie, mailed));
    const reminded = plan.reminded.filter((id) => mailed.has(id));
    const profiles = plan.profiles.map(({ id, tutor: { bio, teachingMode, isPublished } }) => ({
      id,
      bio,
      teaching_mode: teachingMode,
      is_published: isPublished ?? false,
    }));
    const parents = [...plan.parents.values()].map((tie) => membershipRow(tie, mailed));
    const links = plan.links.map(({ parentId, studentId }) => ({ parent_id: parentId, student_id: studentId }));
    const [done] = await this.db.query<{ added: number; returned: number }>(sql`
      WITH added AS (
        INSERT INTO members (id, organization_id, user_id, role, status, supplied_first_name, supplied_last_name,
          supplied_email, supplied_phone, invited_at, accepted_at)
        SELECT member_id, ${organizationId}, id, role, status, first_name, last_name, email, phone,
          CASE WHEN mailed THEN now() END, CASE status WHEN 'accepted' THEN now() END
        FROM json_to_recordset(${JSON.stringify(members)}::json) AS r (id uuid, member_id uuid, role text, status text,
          first_name text, last_name text, email text, phone text, mailed boolean)
        ORDER BY id
        ON CONFLICT DO NOTHING RETURNING 1
      ), returned AS (
        UPDATE members m SET status = r.status, archived_at = NULL,
          -- What was shown when they left stays until they accept again, but for the address where they are asked.
          supplied_first_name = CASE WHEN m.frozen_at IS NULL THEN r.first_name ELSE m.supplied_first_name END,
          supplied_last_name = CASE WHEN m.frozen_at IS NULL THEN r.last_name ELSE m.supplied_last_name END,
          supplied_phone = CASE WHEN m.frozen_at IS NULL THEN r.phone ELSE m.supplied_phone END,
          supplied_email = CASE WHEN lower(r.email) = lower(m.supplied_email) THEN m.supplied_email ELSE r.email END,
          invited_at = CASE WHEN r.mailed THEN now() ELSE m.invited_at END
        FROM json_to_recordset(${JSON.stringify(returning)}::json) AS r (id uuid, status text, first_name text,
          last_name text, email text, phone text, mailed boolean)
        WHERE m.organization_id = ${organizationId} AND m.user_id = r.id AND m.status = 'archived' RETURNING 1
      ), readmitted AS (
        -- They come back by the organization's word: undoing the code that they once came by leaves them.
        UPDATE joins j SET approval = 'approved' FROM invites i
        WHERE j.organization_id = ${organizationId} AND i.organization_id = j.organization_id AND i.id = j.invite_id
          AND ((i.role <> 'parent' AND j.user_id = ANY (${plan.returning.map(({ id }) => id)}::uuid[]))
            OR (i.role = 'parent' AND j.user_id IN (SELECT p.user_id FROM parents p WHERE p.status = 'archived'
              AND p.organization_id = ${organizationId} AND p.user_id = ANY (${[...plan.parents.keys()]}::uuid[]))))
      ), reminded AS (
        UPDATE members SET invited_at = now()
        WHERE organization_id = ${organizationId} AND user_id = ANY (${reminded}::uuid[]) AND status = 'pending'
      ), profiles AS (
        INSERT INTO tutor_profiles (organization_id, user_id, bio, teaching_mode, is_published)
        SELECT ${organizationId}, id, bio, teaching_mode, is_published
        FROM json_to_recordset(${JSON.stringify(profiles)}::json) AS r (id uuid, bio text, teaching_mode text,
          is_published boolean)
        ORDER BY id
        ON CONFLICT DO NOTHING
      ), guardians AS (
        INSERT INTO parents (organization_id, user_id, status, supplied_first_name, supplied_last_name, supplied_email,
          supplied_phone)
        SELECT ${organizationId}, id, status, first_name, last_name, email, phone
        FROM json_to_recordset(${JSON.stringify(parents)}::json) AS r (id uuid, status text, first_name text,
          last_name text, email text, phone text)
        ORDER BY id
        ON CONFLICT (organization_id, user_id) DO UPDATE SET status = excluded.status,
          supplied_first_name = CASE WHEN parents.frozen_at IS NULL THEN excluded.supplied_first_name ELSE parents.supplied_first_name END,
          supplied_last_name = CASE WHEN parents.frozen_at IS NULL THEN excluded.supplied_last_name ELSE parents.supplied_last_name END,
          supplied_phone = CASE WHEN parents.frozen_at IS NULL THEN excluded.supplied_phone ELSE parents.supplied_phone END,
          supplied_email = CASE WHEN lower(excluded.supplied_email) = lower(parents.supplied_email) THEN parents.supplied_email ELSE excluded.supplied_email END
        WHERE parents.status = 'archived'
      ), links AS (
        INSERT INTO parent_students (organization_id, parent_id, student_id)
        SELECT ${organizationId}, parent_id, student_id
        FROM json_to_recordset(${JSON.stringify(links)}::json) AS r (parent_id uuid, student_id uuid)
        ORDER BY parent_id, student_id
        ON CONFLICT DO NOTHING
      )
      SELECT (SELECT count(*) FROM added)::int AS added, (SELECT count(*) FROM returned)::int AS returned`);
    return done!.added === members.length && done!.returned === returning.length;
  }
}

/** What an organization supplies about a pending person is stored apart from the login, which it may not change. */
function membershipRow({ id, status, person }: PlannedMembership, mailed: ReadonlySet<string>) {
  const supplied = status === 'pending';
  return {
    id,
    status,
    first_name: supplied ? person.firstName : null,
    last_name: supplied ? person.lastName : null,
    email: supplied ? person.email : null,
    phone: supplied ? person.phone : null,
    mailed: mailed.has(id),
  };
}
