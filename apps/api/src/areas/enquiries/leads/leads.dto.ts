import { LEAD } from '@app/database';
import type { LeadStatus } from '@app/enquiries';
import { Fault, field, type Interdependent, TOGETHER } from '../../../http/kit.js';

const LINE = { min: 1, max: 200, trim: true };
const NOTES = { min: 1, max: 5000 };

/** Somebody who asks. */
export class CreateLead implements Interdependent {
  @field.Text(LINE, { required: true })
  name: string;

  @field.Email({ nullable: true, description: 'Required without a phone number. Case is ignored.' })
  email?: string | null;

  @field.Text({ min: 1, max: 50, trim: true }, { nullable: true, description: 'Required without an email address.' })
  phone?: string | null;

  @field.Text(LINE, { nullable: true, description: 'What the lessons are to be about, in their own words.' })
  subject?: string | null;

  @field.Text(NOTES, { nullable: true })
  notes?: string | null;

  @field.Link(2000, { nullable: true, description: 'The page with the form.' })
  source_url?: string | null;

  @field.Text(LINE, { nullable: true })
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

  @field.Text(NOTES, { nullable: true })
  notes?: string | null;
}
