import { priceOf } from '@app/billing';
import { occurrences } from '@app/scheduling';
import { DAY } from './clock.js';
import type { Rows, TableRows } from './people-rows.js';
import { each, iso, type School, type StaffMember, type Subject } from './school.js';

const HOUR = 3_600_000;
const INTERVALS = ['session', 'week', 'month', 'term', 'year', null];
const COLOURS = ['#2563eb', '#16a34a', '#db2777', '#ea580c'];

export interface Classroom {
  id: string;
  teacher: StaffMember;
  subject: Subject;
  /** Indexes of students. */
  students: number[];
  createdAt: number;
}

export function classroomCount(school: School): number {
  return Math.max(6, Math.ceil(school.students / 25));
}

export function classroom(school: School, index: number): Classroom {
  const createdAt = school.spread('classroom', index, classroomCount(school), 340, 310);
  return {
    id: school.id('classroom', index),
    teacher: school.teachers[(index * 3) % school.teachers.length]!,
    subject: school.subject(index),
    students: school.someStudents(index * 7, 8),
    createdAt,
  };
}

function* classrooms(school: School): Rows {
  for (const [index, { id, teacher, subject, createdAt }] of each(school, classroomCount(school), classroom)) {
    const interval = INTERVALS[index % INTERVALS.length] ?? null;
    yield {
      id,
      name: `Year ${11 + (index % 2)} ${subject.name}, Term ${1 + (index % 4)}`,
      tutor_id: teacher.id,
      subject_id: subject.id,
      price_cents: interval === null ? null : school.random('price', index).int(30, 300) * 100,
      billing_interval: interval,
      created_at: iso(createdAt),
      updated_at: iso(createdAt),
    };
  }
}

function* classroomMembers(school: School): Rows {
  for (const [index, { id: classroom_id, teacher, students, createdAt }] of each(
    school,
    classroomCount(school),
    classroom,
  )) {
    const people = [teacher, ...students.map((student) => school.student(student))];
    for (const [place, person] of people.entries()) {
      yield {
        id: school.id('classroom-member', index * 20 + place),
        classroom_id,
        user_id: person.id,
        role: place === 0 ? 'teacher' : 'student',
        created_at: iso(createdAt),
      };
    }
  }
}

export interface Group {
  id: string;
  /** The first two groups have no owner. One tutor works only here; the other has left. */
  owned: boolean;
  tutor: StaffMember;
  subject: Subject;
  students: number[];
  createdAt: number;
}

/** The group without an owner whose tutor has left: nobody can see it. */
export const STRAY_GROUP = 1;

export function groupCount(school: School): number {
  return Math.max(4, Math.ceil(school.students / 20));
}

export function group(school: School, index: number): Group {
  const createdAt = school.spread('group', index, groupCount(school), 305, 280);
  return {
    id: school.id('group', index),
    owned: index > STRAY_GROUP,
    tutor: index === 0 ? school.teachers[2]! : index === STRAY_GROUP ? school.former : school.teacherOf(index * 5),
    subject: school.subject(index),
    students: school.someStudents(index * 11, 4),
    createdAt,
  };
}

function* studentGroups(school: School): Rows {
  for (const [index, { id, owned, tutor, subject, createdAt }] of each(school, groupCount(school), group)) {
    yield {
      id,
      name: `${subject.name} study group ${index + 1}`,
      owned,
      tutor_id: tutor.id,
      classroom_id: owned && index % 2 === 0 && index < classroomCount(school) ? classroom(school, index).id : null,
      subject_id: owned ? subject.id : null,
      rate_per_student_cents: index % 3 === 0 ? null : 3_500 + (index % 4) * 500,
      color: COLOURS[index % COLOURS.length],
      avatar_url: null,
      created_at: iso(createdAt),
      updated_at: iso(createdAt),
    };
  }
}

function* studentGroupMembers(school: School): Rows {
  for (const [index, { id: group_id, tutor, students, createdAt }] of each(school, groupCount(school), group)) {
    const people = [tutor, ...students.map((student) => school.student(student))];
    for (const [place, person] of people.entries()) {
      yield {
        id: school.id('group-member', index * 10 + place),
        group_id,
        user_id: person.id,
        role: place === 0 ? 'tutor' : 'student',
        created_at: iso(createdAt),
      };
    }
  }
}

export interface Session {
  id: string;
  status: 'pending' | 'scheduled' | 'completed' | 'cancelled';
  tutor: StaffMember;
  /** The student of a one-to-one lesson; null for a lesson of several. */
  student: number | null;
  /** Everybody who takes part. */
  participants: number[];
  startsAt: number;
  minutes: number;
  /** The hourly price; `owed` is the price of the lesson (cents). */
  rate: number;
  owed: number;
  inPerson: boolean;
  createdAt: number;
  /** Of a lesson that repeats. */
  seriesId?: string;
}

/** The tutor's pay for an hour, and for a lesson (cents). */
const payRateOf = ({ rate }: Session): number => Math.round(rate * 0.6);
export const payOf = (one: Session): number => Number(priceOf(BigInt(payRateOf(one)), BigInt(one.minutes)));

/** The number of sessions today, which come first. */
function todays(school: School): number {
  return Math.max(8, Math.ceil(school.students / 50));
}

export function sessionCount(school: School): number {
  return todays(school) + school.students * (school.crowded ? 1 : 6);
}

export function session(school: School, index: number): Session {
  const today = index < todays(school);
  const random = school.random('session', index);
  // From four months ago to two weeks ahead.
  const day = today ? 0 : Math.floor((index / sessionCount(school)) * 126) - 112;
  const halfHour = today ? (index * 7) % 23 : random.int(0, 22);
  const startsAt = school.clock.at(day, 8 * 60 + halfHour * 30);
  const minutes = random.pick([45, 60, 60, 90]);
  const createdAt = startsAt - 14 * DAY - random.int(1, 86_400) * 1_000;
  const together = index % 5 === 4;
  const student = school.someStudent(index, true);
  const rate = 6_000 + (index % 8) * 500;
  const cancelled = today ? index % 4 === 3 : index % 9 === 7;
  const over = startsAt + minutes * 60_000 <= school.now;
  return {
    id: school.id('session', index),
    status: cancelled ? 'cancelled' : over ? 'completed' : !today && index % 6 === 2 ? 'pending' : 'scheduled',
    tutor: school.teacherOf(student),
    student: together ? null : student,
    participants: together ? school.someStudents(student, 3, true) : [student],
    startsAt,
    minutes,
    rate,
    owed: Number(priceOf(BigInt(rate), BigInt(minutes))),
    inPerson: index % 3 === 0,
    createdAt,
  };
}

/** Lessons that repeat each week: a term, one whose rest is cancelled, and one that nobody has confirmed. */
const TERMS = [
  { from: -35, ahead: 'scheduled' },
  { from: -28, ahead: 'cancelled' },
  { from: 8, ahead: 'pending' },
] as const;

function* terms(school: School): Generator<[number, Session]> {
  for (const [place, { from, ahead }] of TERMS.entries()) {
    const student = school.someStudent(place * 3, true);
    const startsAt = new Date(school.clock.at(from, 17 * 60));
    const times = occurrences({ startsAt, zone: school.profile.timeZone, everyWeeks: 1, count: 10 });
    for (const [lesson, at] of times.entries()) {
      const over = at.getTime() + HOUR <= school.now;
      const index = place * times.length + lesson;
      yield [
        sessionCount(school) + index,
        {
          id: school.id('term', index),
          status: over ? 'completed' : ahead,
          tutor: school.teacherOf(student),
          student,
          participants: [student],
          startsAt: at.getTime(),
          minutes: 60,
          rate: 7_500,
          owed: 7_500,
          inPerson: index % 3 === 0,
          createdAt: school.now - 50 * DAY + place * HOUR,
          seriesId: school.id('series', place),
        },
      ];
    }
  }
}

export function* allSessions(school: School): Generator<[number, Session]> {
  yield* each(school, sessionCount(school), session);
  yield* terms(school);
}

function* sessions(school: School): Rows {
  for (const [, one] of allSessions(school)) {
    const { id, status, tutor, student, participants, startsAt, minutes, rate, owed, createdAt, seriesId } = one;
    const cancelled = status === 'cancelled';
    const subject = school.subject(student ?? participants[0]!);
    yield {
      id,
      status,
      title: student === null ? `Workshop: ${subject.name}` : `${subject.name} lesson`,
      tutor_id: tutor.id,
      student_id: student === null ? null : school.studentId(student),
      subject_id: subject.id,
      series_id: seriesId ?? null,
      starts_at: iso(startsAt),
      ends_at: iso(startsAt + minutes * 60_000),
      duration_minutes: minutes,
      tutor_pay_rate_cents: payRateOf(one),
      student_rate_cents: rate,
      amount_owed_cents: owed,
      tutor_pay_cents: status === 'completed' ? payOf(one) : null,
      mode: one.inPerson ? 'in_person' : 'online',
      created_at: iso(createdAt),
      updated_at: iso(createdAt),
      completed_at: status === 'completed' ? iso(startsAt + minutes * 60_000) : null,
      cancelled_at: cancelled ? iso(createdAt + DAY) : null,
      cancellation_reason: cancelled && seriesId ? 'The family is moving away.' : null,
    };
  }
}

function* lessonParticipants(school: School): Rows {
  const answers = ['accepted', 'accepted', 'pending', 'accepted', 'declined', 'accepted', 'cancelled', 'removed'];
  const attendances = ['attended', 'attended', 'excused', 'attended', 'no_show'];
  for (const [index, one] of allSessions(school)) {
    const { id: session_id, status, student: only, participants, startsAt, rate, createdAt, seriesId } = one;
    for (const [place, student] of participants.entries()) {
      const alone = status === 'cancelled' ? 'cancelled' : 'accepted';
      const answer = only === null ? answers[(index + place) % answers.length]! : alone;
      const came = status === 'completed' && answer === 'accepted';
      yield {
        id: seriesId
          ? school.id('term-participant', index - sessionCount(school))
          : school.id('participant', index * 4 + place),
        session_id,
        student_id: school.studentId(student),
        status: answer,
        attendance: came ? attendances[(Math.floor(index / 5) + place) % attendances.length] : null,
        invited_at: iso(createdAt),
        responded_at: answer === 'pending' ? null : iso(createdAt + 3_600_000),
        cancelled_at: answer === 'cancelled' ? iso(Math.min(startsAt, school.now) - 1_800_000) : null,
        rate_cents: rate,
        created_at: iso(createdAt),
      };
    }
  }
}

export const teachingRows: TableRows = {
  classrooms,
  classroom_members: classroomMembers,
  student_groups: studentGroups,
  student_group_members: studentGroupMembers,
  sessions,
  lesson_participants: lessonParticipants,
};
