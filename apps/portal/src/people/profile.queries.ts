import sql, { raw, type Sql } from 'sql-template-tag';
import type { VALUES } from '@app/database';
import { visibleColumns } from '@app/people';

/** What an organization may change about a person. Fields that only tutors or students have are null for others. */
export interface ProfileRow {
  role: 'owner' | 'admin' | 'tutor' | 'student' | 'parent';
  archived: boolean;
  /** Another organization keeps the login, so that only the person changes it. */
  shared: boolean;
  first_name: string | null;
  last_name: string | null;
  email: string | null;
  phone: string | null;
  rate_band_id: string | null;
  tutor_tier_id: string | null;
  teaching_mode: (typeof VALUES)['tutor_profiles']['teaching_mode'][number] | null;
  meeting_url: string | null;
  home_suburb: string | null;
  home_postcode: string | null;
  max_travel_km: number | null;
}

export interface OptionRow {
  id: string;
  name: string;
}

export interface SubjectRow extends OptionRow {
  /** Whether the tutor teaches it. */
  taught: boolean;
}

const SHOWN: Parameters<typeof visibleColumns>[1] = ['first_name', 'last_name', 'email', 'phone'];

/** Somebody who is a member and a parent is changed as a member. */
export const profileOf = (organizationId: string, userId: string): Sql => sql`
  SELECT m.role, m.status = 'archived' AS archived, kept_elsewhere(m.user_id, false) AS shared, ${visibleColumns('m', SHOWN)}, m.rate_band_id, t.tutor_tier_id, t.teaching_mode, t.meeting_url,
    t.home_suburb, t.home_postcode, t.max_travel_km
  FROM members m LEFT JOIN users u ON u.id = m.user_id
  LEFT JOIN tutor_profiles t ON t.organization_id = m.organization_id AND t.user_id = m.user_id
  WHERE m.organization_id = ${organizationId} AND m.user_id = ${userId}
  UNION ALL SELECT 'parent', p.status = 'archived', kept_elsewhere(p.user_id, false), ${visibleColumns('p', SHOWN)}, NULL, NULL, NULL, NULL, NULL, NULL, NULL
  FROM parents p LEFT JOIN users u ON u.id = p.user_id
  WHERE p.organization_id = ${organizationId} AND p.user_id = ${userId} AND p.enrolled_at IS NOT NULL
    AND NOT EXISTS (SELECT FROM members m WHERE m.organization_id = ${organizationId} AND m.user_id = ${userId})`;

/** The first 100 levels or tiers, in their order. */
export const placesOf = (organizationId: string, table: 'rate_bands' | 'tutor_tiers'): Sql => sql`
  SELECT id, name FROM ${raw(table)} WHERE organization_id = ${organizationId} ORDER BY sort_order, name LIMIT 100`;

/** The subjects that a tutor teaches, and others, up to 100. */
export const subjectsFor = (organizationId: string, tutorId: string): Sql => sql`
  SELECT s.id, s.name, t.user_id IS NOT NULL AS taught FROM subjects s
  LEFT JOIN tutor_subjects t ON t.organization_id = s.organization_id AND t.subject_id = s.id AND t.user_id = ${tutorId}
  WHERE s.organization_id = ${organizationId} AND (NOT s.is_archived OR t.user_id IS NOT NULL)
  ORDER BY t.user_id IS NULL, lower(s.name), s.id LIMIT 100`;
