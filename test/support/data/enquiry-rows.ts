import { v7 as uuidv7 } from 'uuid';
import type { Factories } from './factories.js';

/** @returns the ids for path parameters, and that of a request that waits */
export async function enquiries(
  make: Factories,
  organizationId: string,
  { subjectId, studentId, ...lesson }: { tutorId: string; studentId: string } & { subjectId: string; sessionId: string },
) {
  const wish = { preferredMode: 'in_person' as const, preferredDays: ['monday'], preferredTimes: { monday: ['16:00-18:00'] }, durationMinutes: 60 };
  const matched = { status: 'matched' as const, matchedSessionId: lesson.sessionId, message: 'Soon, please', studentDisplayName: 'Mia' };
  const request = await make.row('booking_requests', { organizationId, subjectId, studentId, ...wish, ...matched });
  const pending = await make.row('booking_requests', { organizationId });
  const remote = (await make.student(organizationId)).id;
  await make.row('booking_requests', { organizationId, subjectId, studentId: remote });
  const address = { label: 'Home', suburb: 'Brunswick', state: 'VIC', postcode: '3056', isDefault: true };
  const location = await make.row('locations', { organizationId, ownerType: 'student', studentId, ...address });
  await make.row('locations', { organizationId, ownerType: 'student', studentId: remote, ...address, postcode: '9999' });
  await make.row('locations', { organizationId, ownerType: 'tutor', tutorId: lesson.tutorId, postcode: '3057' });
  await make.row('locations', { organizationId, label: 'Library' });
  const lead = { name: 'Priya Sharma', email: 'priya@example.org', emailNormalized: 'priya@example.org', phone: '0400000002', subject: 'Methods' };
  const source = { formId: uuidv7(), sourceFormName: 'Contact', sourceUrl: 'https://example.org/contact', notes: 'Mondays', staffNotes: 'Called' };
  const settled = { status: 'converted' as const, convertedAt: new Date(), assignedTutorId: lesson.tutorId };
  const { id: lead_id } = await make.row('leads', { organizationId, ...lead, ...source, ...settled });
  await make.row('leads', { organizationId, name: 'Priya' });
  return { request_id: request.id, booking_request_id: pending.id, location_id: location.id, lead_id };
}
