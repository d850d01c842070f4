import { LEAD as STATES } from '@app/database';
import {
  between, byId, byValue, instant, like, list, nullable, oneOf, type RecordDeclaration, Source, text, uuid, View,
} from '../../../http/kit.js'; // prettier-ignore

export const LEADS = list({
  id: 'list_leads',
  path: 'v1/leads',
  summary: 'Lists leads, newest first',
  description:
    'People who have asked about lessons. `subject` and `notes` are what they wrote ' +
    'themselves, `staff_notes` what the organization says of them.',
  view: new View('Lead', {
    id: uuid('l.id'),
    form_id: like(nullable(uuid('l.form_id')), null),
    source_form_name: nullable(text('l.source_form_name', 'Free consultation')),
    name: nullable(text('l.name', 'Priya Sharma')),
    email: nullable(text('l.email', 'priya@example.org')),
    phone: nullable(text('l.phone', '+61 3 5550 1234')),
    subject: nullable(text('l.subject', 'Year 11 Methods')),
    status: nullable(oneOf('l.status', STATES.values)),
    assigned_tutor_id: nullable(uuid('l.assigned_tutor_id')),
    source_url: nullable(text('l.source_url', 'https://tutoring.example.org/contact')),
    notes: nullable(text('l.notes', 'Prefers Tuesdays after school.')),
    staff_notes: nullable(text('l.staff_notes', 'Wants a trial lesson in August.')),
    converted_at: like(nullable(instant('l.converted_at')), null),
    created_at: nullable(instant('l.created_at')),
    updated_at: nullable(instant('l.updated_at')),
  }),
  source: new Source('leads', 'l'),
  parameters: [
    byValue('status', STATES.values, 'Only leads with this status.'),
    byId('assigned_tutor_id', 'Only leads of this tutor (user id).'),
    ...between('created_at', {
      from: 'Only leads from this date or time on.',
      to: 'Only leads up to this date or time.',
    }),
  ],
});

export const LEAD: RecordDeclaration = {
  id: 'get_lead',
  path: 'v1/leads/:lead_id',
  summary: 'Returns one lead',
  view: LEADS.view,
  source: LEADS.source,
};
