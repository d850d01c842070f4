import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { Database, findIds, SQLSTATE, sqlStateOf, type Tables } from '@app/database';
import { Refused } from '@app/rules';
import { type MayChange, MemberProfiles } from './provisioning/member-profiles.js';
import type { Provisioner } from './provisioning/people.js';

/** What an organization publishes and knows of somebody who teaches. */
interface Profile {
  bio: string | null;
  teaching_mode: Tables['tutor_profiles']['teachingMode'];
  is_published: boolean;
  handle: string | null;
  home_suburb: string | null;
  home_postcode: string | null;
  home_lat: number | null;
  home_lng: number | null;
  service_postcodes: string[];
  serves_all_areas: boolean;
  max_travel_km: number | null;
  in_person_arrangements: string[];
  specialisations: string[];
  tutor_tier_id: string | null;
  meeting_url: string | null;
}

/** The fields to change; absent ones stay. */
export type TutorChange = Partial<Omit<Profile, 'home_lat' | 'home_lng'>> & {
  first_name?: string;
  last_name?: string;
  email?: string | null;
  phone?: string | null;
  /** Ids or codes of all subjects that the tutor teaches. */
  tutor_subjects?: string[];
};

/** Changes tutor profiles inside the ambient transaction. */
@Injectable()
export class TutorProfiles {
  constructor(
    private readonly db: Database,
    private readonly members: MemberProfiles,
  ) {}

  /**
   * Changes an owner, admin or tutor, and makes their profile if there is none.
   *
   * @throws Refused for an unknown person, subject or tier, at what of the login this organization may not change, and at a `handle`
   *   that is taken
   */
  async change(by: Provisioner, userId: string, change: TutorChange, may: MayChange): Promise<void> {
    const { organizationId } = by;
    const { first_name: firstName, last_name: lastName, email, phone, tutor_subjects: subjects, ...fields } = change;
    const writeLogin = await this.members.changeStaff(by, userId, { firstName, lastName, email, phone }, may);
    await this.db.query(sql`
      INSERT INTO tutor_profiles (organization_id, user_id) VALUES (${organizationId}, ${userId}) ON CONFLICT DO NOTHING`);
    if (fields.tutor_tier_id) await this.requireTier(organizationId, fields.tutor_tier_id);
    const [profile] = await this.db.query<Profile>(sql`
      SELECT bio, teaching_mode, is_published, handle, home_suburb, home_postcode, home_lat, home_lng, service_postcodes,
        serves_all_areas, max_travel_km, in_person_arrangements, specialisations, tutor_tier_id, meeting_url
      FROM tutor_profiles WHERE organization_id = ${organizationId} AND user_id = ${userId} FOR NO KEY UPDATE`);
    await this.store(organizationId, userId, changed(profile!, fields));
    if (subjects) await this.teach(organizationId, userId, subjects);
    await writeLogin();
  }

  private async requireTier(organizationId: string, id: string): Promise<void> {
    const found = await this.db.query(
      sql`SELECT FROM tutor_tiers WHERE organization_id = ${organizationId} AND id = ${id}`,
    );
    if (found.length === 0) throw Refused.notFound();
  }

  private async store(organizationId: string, userId: string, to: Profile): Promise<void> {
    try {
      await this.db.query(sql`
        UPDATE tutor_profiles SET bio = ${to.bio}, teaching_mode = ${to.teaching_mode}, is_published = ${to.is_published},
          handle = ${to.handle}, home_suburb = ${to.home_suburb}, home_postcode = ${to.home_postcode},
          home_lat = ${to.home_lat}, home_lng = ${to.home_lng}, service_postcodes = ${to.service_postcodes},
          serves_all_areas = ${to.serves_all_areas}, max_travel_km = ${to.max_travel_km},
          in_person_arrangements = ${to.in_person_arrangements}, specialisations = ${to.specialisations},
          tutor_tier_id = ${to.tutor_tier_id}, meeting_url = ${to.meeting_url}
        WHERE organization_id = ${organizationId} AND user_id = ${userId}`);
    } catch (error) {
      if (sqlStateOf(error) !== SQLSTATE.uniqueViolation) throw error;
      throw Refused.invalid('Another tutor already has this handle. Choose a different one.', 'handle');
    }
  }

  /** Replaces the subjects that somebody teaches. */
  private async teach(organizationId: string, userId: string, subjects: string[]): Promise<void> {
    const taught = sql`SELECT subject_id FROM tutor_subjects WHERE organization_id = ${organizationId} AND user_id = ${userId}`;
    const ids = await findIds(this.db, 'subjects', organizationId, subjects, taught);
    await this.db.query(sql`
      DELETE FROM tutor_subjects
      WHERE organization_id = ${organizationId} AND user_id = ${userId} AND subject_id <> ALL (${ids}::uuid[])`);
    await this.db.query(sql`
      INSERT INTO tutor_subjects (organization_id, user_id, subject_id)
      SELECT ${organizationId}, ${userId}, unnest(${ids}::uuid[]) ON CONFLICT DO NOTHING`);
  }
}

/** A move clears the coordinates, which were those of the former home. */
function changed(profile: Profile, fields: Partial<Profile>): Profile {
  const to = { ...profile, ...fields };
  const moved = to.home_suburb !== profile.home_suburb || to.home_postcode !== profile.home_postcode;
  return moved ? { ...to, home_lat: null, home_lng: null } : to;
}
