import { occurrences } from '@app/scheduling';
import { DAY } from './clock.js';
import { each, type School, type StaffMember, type Subject } from './school.js';
import { classroom, classroomCount, group, groupCount, STRAY_GROUP } from './teaching-rows.js';

const HOUR = 3_600_000;

/** The days of lessons: 48 weeks that are over, and the next two. */
export const [PAST_DAYS, NEXT_DAYS] = [336, 14];

export interface Session {
  id: string;
  status: 'pending' | 'scheduled' | 'completed' | 'cancelled';
  tutor: StaffMember;
  subject: Subject;
  /** The student of a one-to-one lesson; null for a lesson of several. */
  student: number | null;
  /** Everybody who takes part. */
  participants: number[];
  group: { id: string; rate: number | null } | null;
  classroomId: string | null;
  startsAt: number;
  minutes: number;
  inPerson: boolean;
  createdAt: number;
  /** When it was cancelled; null for one that was not. */
  cancelledAt: number | null;
  /** Cancelled on the day, which is charged. */
  late: boolean;
  /** Of a lesson that repeats. */
  seriesId?: string;
}

type Party = Pick<Session, 'tutor' | 'subject' | 'student' | 'participants' | 'group' | 'classroomId'>;

/** The number of sessions today, which come first. */
function todays(school: School): number {
  return Math.max(8, Math.ceil(school.students / 50));
}

export function sessionCount(school: School): number {
  return todays(school) + school.students * (school.crowded ? 1 : 18);
}

export function session(school: School, index: number): Session {
  const today = index < todays(school);
  const random = school.random('session', index);
  const day = today ? 0 : Math.floor((index / sessionCount(school)) * (PAST_DAYS + NEXT_DAYS)) - PAST_DAYS;
  const halfHour = today ? (index * 7) % 23 : random.int(0, 22);
  const startsAt = school.clock.at(day, 8 * 60 + halfHour * 30);
  const minutes = random.pick([45, 60, 60, 90]);
  const createdAt = startsAt - 14 * DAY - random.int(1, 86_400) * 1_000;
  const cancelled = today ? index % 4 === 3 : index % 9 === 7;
  // Of the last three days, some are not completed yet; those of today are once the demo is loaded.
  const done = day < -3 || (day < 0 && index % 2 === 0);
  const late = cancelled && day < 0 && index % 4 === 1;
  return {
    id: school.id('session', index),
    status: cancelled ? 'cancelled' : done ? 'completed' : day > 0 && index % 6 === 2 ? 'pending' : 'scheduled',
    ...party(school, index, day),
    startsAt,
    minutes,
    inPerson: index % 3 === 0,
    createdAt,
    // Before midnight: those of the last day ahead were made yesterday.
    cancelledAt: cancelled ? (late ? startsAt - 3 * HOUR : createdAt + 4 * HOUR) : null,
    late,
  };
}

/** Every fifth lesson is one of a group, a classroom or a workshop; nobody takes part who has not joined long before. */
function party(school: School, index: number, day: number): Party {
  const joined = school.joinedBy(20 - day);
  const wanted = school.someStudent(Math.floor(((index % school.students) / school.students) * joined), true);
  const student = wanted < joined ? wanted : school.someStudent(0, true);
  const joinedOf = (students: number[]) => students.filter((one) => one < joined);
  const [kind, number] = [index % 15, Math.floor(index / 15)];
  const alone = { tutor: school.teacherOf(student), subject: school.subject(student), group: null, classroomId: null };
  if (kind === 4) {
    const own = STRAY_GROUP + 1;
    const { id, rate, tutor, subject, students } = group(school, own + (number % (groupCount(school) - own)));
    const participants = joinedOf(students);
    if (participants.length > 0) {
      return { tutor, subject, student: null, participants, group: { id, rate }, classroomId: null };
    }
  } else if (kind === 9) {
    const { id, teacher, subject, students } = classroom(school, number % classroomCount(school));
    const participants = joinedOf(students);
    if (participants.length > 0) {
      return { tutor: teacher, subject, student: null, participants, group: null, classroomId: id };
    }
  } else if (kind === 14) {
    const participants = joinedOf(school.someStudents(student, 3, true));
    if (participants.length > 1) return { ...alone, student: null, participants };
  }
  return { ...alone, student, participants: [student] };
}

/** Weekly series: one of a whole term, one whose rest is cancelled, and one that nobody has confirmed. */
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
      const over = at.getTime() < school.clock.at(0, 0);
      const index = place * times.length + lesson;
      const createdAt = school.now - 50 * DAY + place * HOUR;
      yield [
        sessionCount(school) + index,
        {
          id: school.id('term', index),
          status: over ? 'completed' : ahead,
          tutor: school.teacherOf(student),
          subject: school.subject(student),
          student,
          participants: [student],
          group: null,
          classroomId: null,
          startsAt: at.getTime(),
          minutes: 60,
          inPerson: index % 3 === 0,
          createdAt,
          cancelledAt: over || ahead !== 'cancelled' ? null : createdAt + DAY,
          late: false,
          seriesId: school.id('series', place),
        },
      ];
    }
  }
}

/** All of them, by their index. */
export function lessons(school: School): (index: number) => Session {
  const ofSeries = new Map(terms(school));
  return (index) => ofSeries.get(index) ?? session(school, index);
}

export function* allSessions(school: School): Generator<[number, Session]> {
  yield* each(school, sessionCount(school), session);
  yield* terms(school);
}
