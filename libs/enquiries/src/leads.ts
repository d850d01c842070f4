import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import { v7 as uuidv7 } from 'uuid';
import { Database, IS_STAFF, LEAD, lockRecord, normalizeEmail } from '@app/database';
import { Refused } from '@app/rules';

export type LeadStatus = (typeof LEAD.values)[number];

/** What somebody who asks says of themselves. */
export interface NewLead {
  name: string;
  email: string | null;
  phone: string | null;
  subject: string | null;
  notes: string | null;
  sourceUrl: string | null;
  sourceFormName: string | null;
  assignedTutorId: string | null;
}

type OpenLead = NewLead & { id: string };

/** The most that a lead's notes hold, in code points. */
const MOST_NOTES = 5000;

/** The fields to change; undefined ones stay. */
export interface LeadChange {
  status?: LeadStatus;
  assignedTutorId?: string | null;
  notes?: string | null;
  staffNotes?: string | null;
}

/** The action that leads to each status. */
const ACTIONS = {
  new: 'renew',
  contacted: 'contact',
  consultation_booked: 'book',
  converted: 'convert',
  lost: 'lose',
} as const satisfies Record<LeadStatus, (typeof LEAD.actions)[number]>;

/** The other statuses that a lead can get from this one. */
export const followingStatuses = (status: LeadStatus): LeadStatus[] =>
  LEAD.values.filter((other) => LEAD.allowed(ACTIONS[other]).includes(status));

/** A lead that is neither converted nor lost. */
const OPEN = LEAD.allowed('convert');

/** People who ask for lessons, in the ambient transaction. */
@Injectable()
export class Leads {
  constructor(private readonly db: Database) {}

  /**
   * Records a lead. Who asks again within a day, with the same address and a lead that is still open, corrects it:
   * what is said anew replaces what was said, or is added to it. It never touches what the staff notes.
   *
   * @param replaces false for a form that anybody can fill in with somebody else's address
   * @throws Refused for an unknown tutor
   */
  async receive(organizationId: string, lead: NewLead, replaces: boolean): Promise<{ id: string; created: boolean }> {
    await this.requireTutor(organizationId, lead.assignedTutorId);
    const address = lead.email === null ? null : normalizeEmail(lead.email);
    const known = address === null ? null : await this.openLeadOf(organizationId, address);
    const { name, email, phone, subject, notes, sourceUrl, sourceFormName, assignedTutorId } =
      replaces || !known ? lead : joined(known, lead);
    if (known) {
      await this.db.query(sql`
        UPDATE leads SET name = ${name}, email = ${email}, phone = coalesce(${phone}, phone),
          subject = coalesce(${subject}, subject), notes = coalesce(${notes}, notes),
          source_url = coalesce(${sourceUrl}, source_url), source_form_name = coalesce(${sourceFormName}, source_form_name),
          assigned_tutor_id = coalesce(${assignedTutorId}::uuid, assigned_tutor_id), updated_at = now()
        WHERE organization_id = ${organizationId} AND id = ${known.id}`);
      return { id: known.id, created: false };
    }
    const id = uuidv7();
    await this.db.query(sql`
      INSERT INTO leads (id, organization_id, name, email, email_normalized, phone, subject, notes, source_url,
        source_form_name, assigned_tutor_id)
      VALUES (${id}, ${organizationId}, ${name}, ${email}, ${address}, ${phone}, ${subject}, ${notes}, ${sourceUrl},
        ${sourceFormName}, ${assignedTutorId})`);
    return { id, created: true };
  }

  /** @returns whether anything changed @throws Refused for an unknown lead or tutor, and for a status that cannot follow the lead's own */
  async change(organizationId: string, id: string, change: LeadChange): Promise<boolean> {
    const { assignedTutorId, notes, staffNotes } = change;
    await this.requireTutor(organizationId, assignedTutorId ?? null);
    const lead = await lockRecord<{ status: LeadStatus }>(this.db, 'leads', organizationId, id, sql`status`);
    const status = change.status === undefined ? null : LEAD.next(ACTIONS[change.status], lead.status);
    const others = [assignedTutorId, notes, staffNotes];
    if (status === null && others.every((value) => value === undefined)) return false;
    await this.db.query(sql`
      UPDATE leads SET status = coalesce(${status}, status), updated_at = now(),
        converted_at = CASE ${status} WHEN 'converted' THEN now() ELSE converted_at END,
        assigned_tutor_id = CASE WHEN ${assignedTutorId !== undefined} THEN ${assignedTutorId ?? null}::uuid ELSE assigned_tutor_id END,
        notes = CASE WHEN ${notes !== undefined} THEN ${notes ?? null} ELSE notes END,
        staff_notes = CASE WHEN ${staffNotes !== undefined} THEN ${staffNotes ?? null} ELSE staff_notes END
      WHERE organization_id = ${organizationId} AND id = ${id}`);
    return true;
  }

  /** Marks a lead as converted, unless it is closed already. @throws Refused if there is no such lead */
  async convert(organizationId: string, id: string): Promise<void> {
    const { status } = await lockRecord<{ status: LeadStatus }>(this.db, 'leads', organizationId, id, sql`status`);
    if (OPEN.includes(status)) await this.change(organizationId, id, { status: 'converted' });
  }

  /** @throws Refused for an unknown one */
  async remove(organizationId: string, id: string): Promise<void> {
    const removed = await this.db.count(sql`
      DELETE FROM leads WHERE organization_id = ${organizationId} AND id = ${id}`);
    if (removed === 0) throw Refused.notFound();
  }

  /** Of requests with the same address, the later ones wait here and find what the first one wrote. */
  private async openLeadOf(organizationId: string, address: string): Promise<OpenLead | null> {
    await this.db.lock(`lead of ${address} in ${organizationId}`);
    const [lead] = await this.db.query<OpenLead>(sql`
      SELECT id, name, email, phone, subject, notes, source_url AS "sourceUrl", source_form_name AS "sourceFormName",
        assigned_tutor_id AS "assignedTutorId"
      FROM leads WHERE organization_id = ${organizationId} AND email_normalized = ${address}
        AND created_at > now() - interval '1 day' AND status = ANY (${[...OPEN]}::text[])
      ORDER BY created_at DESC, id DESC LIMIT 1 FOR UPDATE`);
    return lead ?? null;
  }

  /** Locks the tutor: before the lead. @throws Refused for one who is not accepted staff */
  async requireTutor(organizationId: string, id: string | null): Promise<void> {
    if (id === null) return;
    const [, [tutor]] = await Promise.all([
      this.db.lockPeople(organizationId, [id]),
      this.db.query(sql`
        SELECT FROM members WHERE organization_id = ${organizationId} AND user_id = ${id} AND ${IS_STAFF}
          AND status = 'accepted'`),
    ]);
    if (!tutor) throw Refused.notFound();
  }
}

/** What was said first, with what is said anew in empty fields, or beneath the notes. */
function joined(first: OpenLead, anew: NewLead): NewLead {
  const text = first.notes ?? '';
  const others = (['name', 'phone', 'subject'] as const).filter(
    (field) => (first[field] ?? anew[field]) !== anew[field],
  );
  const added = [...others.map((field) => anew[field]), anew.notes].filter(
    (said) => said !== null && !text.includes(said),
  );
  const notes = Array.from([first.notes, added.join('\n')].filter(Boolean).join('\n\n'))
    .slice(0, MOST_NOTES)
    .join('');
  const filled = Object.entries(anew).map(([field, said]: [string, unknown]) => [
    field,
    first[field as keyof NewLead] ?? said,
  ]);
  return { ...(Object.fromEntries(filled) as NewLead), notes: notes || null };
}
