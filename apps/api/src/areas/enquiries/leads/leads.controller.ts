import { Leads } from '@app/enquiries';
import { changeOf, inputOf, listController, reads, recordController, writeController } from '../../../http/kit.js';
import { CreateLead, UpdateLead } from './leads.dto.js';
import { LEAD, LEADS } from './leads.queries.js';

export const LEADS_CONTROLLERS = [
  listController(LEADS),
  recordController(LEAD),
  writeController({
    id: 'create_lead',
    route: 'POST /v1/leads',
    scope: 'leads:write',
    summary: 'Records a lead',
    description:
      'Send an email address or a phone number. The same address again within a day corrects its lead while that is neither ' +
      'converted nor lost, and the status is 200: fields that are sent replace the stored ones, or with a key without `read` ' +
      'fill empty ones, and are added to `notes`.',
    repeated: 'The lead of the same address was corrected.',
    example: {
      name: 'Priya Sharma',
      email: 'priya@example.org',
      phone: '+61 3 5550 1234',
      subject: 'Year 11 Methods',
      source_url: 'https://tutoring.example.org/contact',
      source_form_name: 'Free consultation',
    },
    body: CreateLead,
    rules: [Leads],
    answers: LEAD,
    idName: 'lead_id',
    async run({ organizationId, caller, body }, leads) {
      const { id, created } = await leads.receive(organizationId, inputOf(body), reads(caller));
      return { id, existed: !created, audit: { created } };
    },
  }),
  writeController({
    id: 'update_lead',
    route: 'PATCH /v1/leads/:lead_id',
    scope: ['leads:write', 'read'],
    summary: 'Changes the status, the tutor or the notes of a lead',
    description: 'Omitted fields stay unchanged. A lost lead can become `new` or `contacted` again.',
    example: { status: 'contacted', staff_notes: 'Called back; wants a trial lesson.' },
    body: UpdateLead,
    rules: [Leads],
    answers: LEAD,
    versions: LEAD,
    first: ({ organizationId, body }, leads) => leads.requireTutor(organizationId, body.assigned_tutor_id ?? null),
    conflicts: ['invalid_state'],
    async run({ organizationId, ids, body }, leads) {
      // The values that a lead has are a change, too, as in every PATCH.
      await leads.change(organizationId, ids.lead_id, changeOf(body));
    },
  }),
  writeController({
    id: 'remove_lead',
    route: 'DELETE /v1/leads/:lead_id',
    scope: ['leads:write', 'read'],
    summary: 'Deletes a lead',
    description: 'With all that they wrote, and what the staff noted.',
    rules: [Leads],
    answers: null,
    versions: LEAD,
    run: ({ organizationId, ids }, leads) => leads.remove(organizationId, ids.lead_id),
  }),
];
