import sql, { empty, type Sql } from 'sql-template-tag';
import { behind, type BOOKING_REQUEST, IS_STAFF, type LEAD, type Position } from '@app/database';
import { shownName } from '@app/people';

/** Somebody who asked. */
export interface LeadRow {
  id: string;
  name: string;
  email: string | null;
  phone: string | null;
  subject: string | null;
  status: (typeof LEAD.values)[number];
  notes: string | null;
  staff_notes: string | null;
  source_form_name: string | null;
  tutor_id: string | null;
  tutor: string | null;
  created_at: Date;
  converted_at: Date | null;
}

/** Who can look after an enquiry. */
export interface StaffRow {
  id: string;
  name: string | null;
}

/** A lesson that somebody wants. */
export interface RequestRow {
  id: string;
  status: (typeof BOOKING_REQUEST.values)[number];
  subject: string | null;
  subject_id: string | null;
  student_id: string | null;
  student: string | null;
  mode: 'online' | 'in_person' | 'either' | null;
  days: string[];
  minutes: number | null;
  message: string | null;
  created_at: Date;
}

const FULL_NAME = shownName('m');

/** The name of a member, as the organization may see it. @param id SQL for their id */
const nameOf = (organizationId: string, id: Sql): Sql => sql`(SELECT ${FULL_NAME} FROM members m
  LEFT JOIN users u ON u.id = m.user_id WHERE m.organization_id = ${organizationId} AND m.user_id = ${id})`;

const page = (
  status: string | null,
  after: Position | null,
): Sql => sql`${status ? sql` AND status = ${status}` : empty}
  ${behind(after)}
  ORDER BY created_at DESC, id DESC`;

const shownLead = (organizationId: string): Sql => sql`
  SELECT l.id, l.name, l.email, l.phone, l.subject, l.status, l.notes, l.staff_notes, l.source_form_name, l.created_at, l.converted_at,
    l.assigned_tutor_id AS tutor_id, ${nameOf(organizationId, sql`l.assigned_tutor_id`)} AS tutor`;

/** Leads, newest first. */
export const leadsPage = (
  organizationId: string,
  status: string | null,
  after: Position | null,
  rows: number,
): Sql => sql`
  ${shownLead(organizationId)} FROM (SELECT * FROM leads WHERE organization_id = ${organizationId}${page(status, after)} LIMIT ${rows}) l
  ORDER BY l.created_at DESC, l.id DESC`;

/** What is known of somebody who asked. */
export const leadById = (organizationId: string, id: string): Sql => sql`
  ${shownLead(organizationId)} FROM leads l WHERE l.organization_id = ${organizationId} AND l.id = ${id}`;

/** The newest 200 of the accepted staff, by name, and whoever is assigned. */
export const staffFor = (organizationId: string, leadId: string): Sql => sql`
  SELECT m.user_id AS id, ${FULL_NAME} AS name FROM (
    (SELECT user_id, status, accepted_at, supplied_first_name, supplied_last_name FROM members
      WHERE organization_id = ${organizationId} AND ${IS_STAFF} AND status = 'accepted' ORDER BY created_at DESC, user_id DESC LIMIT 200)
    UNION SELECT t.user_id, t.status, t.accepted_at, t.supplied_first_name, t.supplied_last_name FROM leads l
      JOIN members t ON t.organization_id = l.organization_id AND t.user_id = l.assigned_tutor_id
      WHERE l.organization_id = ${organizationId} AND l.id = ${leadId}) m
  LEFT JOIN users u ON u.id = m.user_id ORDER BY 2, 1`;

const shownRequest = (organizationId: string): Sql => sql`
  SELECT b.id, b.status, s.name AS subject, b.subject_id, b.student_id, b.preferred_mode AS mode, b.preferred_days AS days,
    b.duration_minutes AS minutes, b.message, b.created_at,
    coalesce(${nameOf(organizationId, sql`b.student_id`)}, b.student_display_name) AS student`;

const SUBJECT = sql`LEFT JOIN subjects s ON s.organization_id = b.organization_id AND s.id = b.subject_id`;

/** Booking requests, newest first. */
export const requestsPage = (
  organizationId: string,
  status: string | null,
  after: Position | null,
  rows: number,
): Sql => sql`
  ${shownRequest(organizationId)} FROM (SELECT * FROM booking_requests
    WHERE organization_id = ${organizationId}${page(status, after)} LIMIT ${rows}) b ${SUBJECT}
  ORDER BY b.created_at DESC, b.id DESC`;

export const requestById = (organizationId: string, id: string): Sql => sql`
  ${shownRequest(organizationId)} FROM booking_requests b ${SUBJECT} WHERE b.organization_id = ${organizationId} AND b.id = ${id}`;
