import ical, { ICalCalendarMethod, type ICalEventData, ICalEventStatus } from 'ical-generator';
import type { FeedOfLessons, SeenLesson } from '@app/scheduling';

/** How often programs are asked to look again. */
const EVERY_SECONDS = 3_600;

/** A calendar as programs read it (RFC 5545). Times are in UTC: each program shows them by its own clocks. */
export function ics({ organization, lessons }: FeedOfLessons): string {
  return ical({
    name: `Lessons at ${organization}`,
    prodId: { company: 'Tutoring API', product: 'Calendar' },
    method: ICalCalendarMethod.PUBLISH,
    ttl: EVERY_SECONDS,
    events: lessons.map(eventOf),
  }).toString();
}

const STATUS = {
  pending: ICalEventStatus.TENTATIVE,
  scheduled: ICalEventStatus.CONFIRMED,
  completed: ICalEventStatus.CONFIRMED,
  cancelled: ICalEventStatus.CANCELLED,
};

/** Its id is that of the lesson, wherever the organization lives. */
const eventOf = (lesson: SeenLesson): ICalEventData => ({
  id: lesson.id,
  sequence: lesson.sequence,
  start: lesson.startsAt,
  end: lesson.endsAt,
  stamp: lesson.changedAt,
  lastModified: lesson.changedAt,
  summary: summaryOf(lesson),
  status: STATUS[lesson.status],
  location: lesson.place ?? lesson.meetingUrl,
  description: lesson.meetingUrl ? `Join online: ${lesson.meetingUrl}` : null,
});

function summaryOf({ title, subject, teaches, students, tutor }: SeenLesson): string {
  const what = title ?? subject ?? 'Lesson';
  const who = students.join(', ');
  if (teaches) return who ? `${what}: ${who}` : what;
  return `${who ? `${who}: ` : ''}${what}${tutor ? ` with ${tutor}` : ''}`;
}
