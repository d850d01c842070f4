import type { Rows, TableRows } from './rows.js';
import { each, iso, type School, type StaffMember, type Subject } from './school.js';

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
    students: school.someStudents(index * 7, 8, true),
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
  const [last, over] = [classroomCount(school), iso(classroom(school, 0).createdAt)];
  const former = { id: school.id('classroom', last), name: 'Holiday course', is_archived: true };
  yield { ...former, created_at: over, updated_at: over };
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
  /** What each student pays an hour; null for what the table of rates says (cents). */
  rate: number | null;
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
    students: school.someStudents(index * 11, 4, true),
    rate: index % 3 === 0 ? null : 3_500 + (index % 4) * 500,
    createdAt,
  };
}

function* studentGroups(school: School): Rows {
  for (const [index, { id, owned, tutor, subject, rate, createdAt }] of each(school, groupCount(school), group)) {
    yield {
      id,
      name: `${subject.name} study group ${index + 1}`,
      owned,
      tutor_id: tutor.id,
      classroom_id: owned && index % 2 === 0 && index < classroomCount(school) ? classroom(school, index).id : null,
      subject_id: owned ? subject.id : null,
      rate_per_student_cents: rate,
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

export const teachingRows: TableRows = {
  classrooms,
  classroom_members: classroomMembers,
  student_groups: studentGroups,
  student_group_members: studentGroupMembers,
};
