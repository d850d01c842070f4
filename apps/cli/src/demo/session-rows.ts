import { pricesOf } from './prices.js';
import type { Rows, TableRows } from './rows.js';
import { iso, type School } from './school.js';
import { allSessions, type Session, sessionCount } from './sessions.js';

/** Most who take part in one lesson: the students of a classroom. */
const MOST_PLACES = 8;

/** What each series repeats. */
function* sessionSeries(school: School): Rows {
  const all = [...allSessions(school)].flatMap(([, one]) => (one.seriesId ? [one] : []));
  for (const [id, lessons] of Map.groupBy(all, ({ seriesId }) => seriesId!)) {
    const [first, last] = [lessons[0]!, lessons.at(-1)!];
    yield {
      id,
      tutor_id: first.tutor.id,
      subject_id: first.subject.id,
      mode: first.inPerson ? 'in_person' : 'online',
      location_id: first.inPerson ? school.id('org-location', 0) : null,
      starts_at: iso(first.startsAt),
      last_starts_at: iso(last.startsAt),
      duration_minutes: first.minutes,
      every_weeks: 1,
      created_at: iso(first.createdAt),
      updated_at: iso(first.createdAt),
    };
  }
}

function* sessions(school: School): Rows {
  for (const [index, one] of allSessions(school)) {
    const { id, status, tutor, student, subject, group, classroomId, startsAt, minutes, cancelledAt, createdAt } = one;
    const { rate, payRate, payPct, owed, pay } = pricesOf(school, index, one);
    const endsAt = iso(startsAt + minutes * 60_000);
    yield {
      id,
      status,
      title: titleOf(one),
      tutor_id: tutor.id,
      student_id: student === null ? null : school.studentId(student),
      subject_id: subject.id,
      group_id: group?.id ?? null,
      classroom_id: classroomId,
      series_id: one.seriesId ?? null,
      starts_at: iso(startsAt),
      ends_at: endsAt,
      duration_minutes: minutes,
      tutor_pay_rate_cents: payRate,
      tutor_pay_pct: payPct,
      student_rate_cents: rate,
      amount_owed_cents: owed,
      tutor_pay_cents: pay,
      mode: one.inPerson ? 'in_person' : 'online',
      meeting_url: one.inPerson ? null : school.roomOf(tutor),
      location_id: one.inPerson ? school.id('org-location', 0) : null,
      created_at: iso(createdAt),
      updated_at: iso(createdAt),
      completed_at: status === 'completed' ? endsAt : null,
      cancelled_at: cancelledAt === null ? null : iso(cancelledAt),
      cancellation_reason: one.late
        ? 'Cancelled on the day.'
        : cancelledAt && one.seriesId
          ? 'The family is moving away.'
          : null,
    };
  }
}

function titleOf({ subject: { name }, student, group, classroomId }: Session): string {
  if (student !== null) return `${name} lesson`;
  return group ? `${name} study group` : classroomId ? `${name} class` : `Workshop: ${name}`;
}

function* lessonParticipants(school: School): Rows {
  for (const [index, one] of allSessions(school)) {
    const { id: session_id, startsAt, createdAt, cancelledAt, seriesId } = one;
    for (const [place, { student, status, attendance, rate, surcharge }] of pricesOf(
      school,
      index,
      one,
    ).participants.entries()) {
      const left = cancelledAt ?? Math.min(startsAt, school.now) - 1_800_000;
      yield {
        id: seriesId
          ? school.id('term-participant', index - sessionCount(school))
          : school.id('participant', index * MOST_PLACES + place),
        session_id,
        student_id: school.studentId(student),
        status,
        attendance,
        invited_at: iso(createdAt),
        responded_at: status === 'pending' ? null : iso(createdAt + 3_600_000),
        cancelled_at: status === 'cancelled' ? iso(left) : null,
        rate_cents: rate,
        surcharge_cents: surcharge,
        created_at: iso(createdAt),
      };
    }
  }
}

export const sessionRows: TableRows = {
  session_series: sessionSeries,
  sessions,
  lesson_participants: lessonParticipants,
};
