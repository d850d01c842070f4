import { LEAD } from '@app/database';
import type { LeadStatus } from '@app/enquiries';
import { FIELDS } from '@app/fields';
import { Fault, field, type Interdependent, TOGETHER } from '../../../http/kit.js';

/** Somebody who asks. */
export class CreateLead implements Interdependent {
  @field.bodyField(FIELDS.leads.name, { required: true })
  name: string;

  @field.bodyField(FIELDS.leads.email, {
    nullable: true,
    description: 'Required without a phone number. Case is ignored.',
  })
  email?: string | null;

  @field.bodyField(FIELDS.leads.phone, { nullable: true, description: 'Required without an email address.' })
  phone?: string | null;

  @field.bodyField(FIELDS.leads.subject, {
    nullable: true,
    description: 'What the lessons are to be about, in their own words.',
  })
  subject?: string | null;

  @field.bodyField(FIELDS.leads.notes, { nullable: true })
  notes?: string | null;

  @field.bodyField(FIELDS.leads.source_url, { nullable: true, description: 'The page with the form.' })
  source_url?: string | null;

  @field.bodyField(FIELDS.leads.source_form_name, { nullable: true })
  source_form_name?: string | null;

  @field.Uuid({ nullable: true, description: 'An accepted tutor, admin or owner who looks after the lead.' })
  assigned_tutor_id?: string | null;

  [TOGETHER](): Fault[] {
    const reachable = (this.email ?? this.phone ?? null) !== null;
    return reachable ? [] : [new Fault('missing', 'Send one of: email, phone.', ['email'])];
  }
}

/** Omitted fields stay unchanged. */
export class UpdateLead {
  @field.OneOf(LEAD.values, { description: 'A converted lead stays converted.' })
  status?: LeadStatus;

  @field.Uuid({ nullable: true, description: 'An accepted tutor, admin or owner who looks after the lead.' })
  assigned_tutor_id?: string | null;

  @field.bodyField(FIELDS.leads.notes, { nullable: true, description: 'What they wrote themselves.' })
  notes?: string | null;

  @field.bodyField(FIELDS.leads.staff_notes, {
    nullable: true,
    description: 'What the organization says of them. No form reads or replaces it.',
  })
  staff_notes?: string | null;
}
