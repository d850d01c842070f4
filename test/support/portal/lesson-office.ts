import { addDays, dayOf, dayOfWeek, instantAt } from '@app/scheduling';
import { moneyOffice } from './money-office.js';
import type { TestPortal } from './portal.js';

export const ZONE = 'Australia/Melbourne';

/** An owner's organization with a family and a tutor, who teaches on weekdays from 9:00 to 18:00 and is away next Tuesday. */
export async function lessonOffice(portal: TestPortal) {
  const { make } = portal;
  const office = await moneyOffice(portal);
  const at = office.organization.id;
  const tutor = await make.tutor(at, { user: { firstName: 'Sam', lastName: 'Okafor' } });
  const today = dayOf(new Date(), ZONE);
  /** Of the week after next. */
  const monday = addDays(today, 14 - ((dayOfWeek(today) + 6) % 7));
  for (const dayOfWeek of [1, 2, 3, 4, 5]) {
    await make.row('availabilities', { organizationId: at, tutorId: tutor.id, dayOfWeek, startTime: '09:00', endTime: '18:00', timezone: ZONE });
  }
  await make.row('time_off', { organizationId: at, tutorId: tutor.id, startsOn: addDays(monday, 1), endsOn: addDays(monday, 1) });
  const lessons = `/o/${office.organization.slug}/lessons`;
  /** A lesson of an hour, so many days after that Monday. */
  const lesson = async (days: number, time: string, more: Record<string, unknown> = {}, students = [office.child.id]) => {
    const startsAt = instantAt(addDays(monday, days), time, ZONE);
    const endsAt = new Date(startsAt.getTime() + 3_600_000);
    const pay = { tutorPayRateCents: 5_000, tutorPayPct: null, tutorPayGiven: true };
    const session = await make.session(at, {
      tutorId: tutor.id,
      status: 'scheduled',
      title: 'Algebra',
      startsAt,
      endsAt,
      durationMinutes: 60,
      ...pay,
      ...more,
    });
    for (const id of students) await make.participant(at, session.id, id, { status: 'accepted', rateCents: 8_000, rateGiven: true, attendance: null, surchargeCents: null, billedCents: null }); // prettier-ignore
    return session.id;
  };
  const when = (days: number, start: string, more: Record<string, string> = {}) => ({ day: addDays(monday, days), start, minutes: '60', ...more });
  const stored = (id: string) => make.find('sessions', id);
  const audited = async () => (await portal.audited(at)).map(({ operation }) => operation);
  /** What a page that asks a second time says stands in the way, and the form that says yes. */
  const asked = (html: string) => {
    const hidden = [...html.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)].map(([, name, value]) => [name!, value!]);
    const lines = [...html.matchAll(/<li>(.*?)<\/li>/gs)].map(([, line]) => line!.replaceAll(/<[^>]+>/g, '').trim());
    return {
      lines: lines.filter((line) => /another lesson|is away|weekly hours/.test(line)),
      fields: Object.fromEntries(hidden) as Record<string, string>,
    };
  };
  return { ...office, at, tutor, monday, lessons, lesson, when, stored, audited, asked };
}
