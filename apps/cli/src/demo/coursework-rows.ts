import { DAY } from './clock.js';
import type { Rows, TableRows } from './rows.js';
import { iso, type School } from './school.js';
import { session, sessionCount } from './sessions.js';
import { classroom, classroomCount, group, groupCount, STRAY_GROUP } from './teaching-rows.js';
import { remarksOn, tasksIn, TEXTS } from './texts.js';

const MODES = ['vce_exam', 'topic_practice', 'sac', 'homework'];
const STATUSES = ['not_started', 'in_progress', 'submitted', 'completed'];

function homeworkTime(school: School, index: number): number {
  return school.spread('homework', index, school.homework, 270, 0);
}

/** Mostly assigned to single students by their tutor. */
function* homework(school: School): Rows {
  const [rooms, groups] = [classroomCount(school), groupCount(school)];
  for (let index = 0; index < school.homework; index++) {
    const createdAt = homeworkTime(school, index);
    const random = school.random('homework', index);
    const scope = index % 10 === 0 ? 'classroom' : index % 10 === 5 ? 'group' : 'student';
    const room = scope === 'classroom' ? classroom(school, (index / 10) % rooms) : null;
    // One is for the group that nobody sees, whatever the demo's size.
    const place = index === 15 ? STRAY_GROUP : 2 + (((index - 5) / 10) % (groups - 2));
    const team = scope === 'group' ? group(school, place) : null;
    const student = room || team ? null : school.someStudent(index);
    const subject = room?.subject ?? team?.subject ?? school.subject(student!);
    const kind = index % 6 === 1 ? 'exam' : 'text';
    const task = random.pick(tasksIn(subject.name, kind));
    yield {
      id: school.id('homework', index),
      assigned_by: (room?.teacher ?? team?.tutor ?? school.teacherOf(student!)).id,
      title: `${subject.name}: ${task.title}`,
      description: index % 7 === 3 ? null : task.note,
      homework_type: kind,
      scope,
      classroom_id: room?.id ?? null,
      group_id: team?.id ?? null,
      student_id: student === null ? null : school.studentId(student),
      due_date: index % 13 === 12 ? null : iso(createdAt + random.int(3, 14) * DAY),
      files: index % 8 === 2 ? [file(school, index)] : [],
      created_at: iso(createdAt),
    };
  }
}

function file(school: School, index: number): Record<string, unknown> {
  const name = `worksheet-${index}.pdf`;
  const url = `https://files.example.com/${school.profile.slug}/${name}`;
  return { name, url, content_type: 'application/pdf', size_bytes: 80_000 + (index % 900) * 512 };
}

/** Feedback on past sessions, by students, parents and tutors. Legacy rows predate the recording of sessions. */
function* sessionFeedback(school: School): Rows {
  const count = Math.max(24, Math.floor(school.students / 2));
  const sessions = sessionCount(school);
  for (let index = 0; index < count; index++) {
    const random = school.random('feedback', index);
    const legacy = index % 12 === 5;
    // The last tenth of the sessions is in the future.
    let number = Math.floor((index * 0.8 * sessions) / count);
    let lesson = session(school, number);
    while (lesson.status !== 'completed' || lesson.student === null) lesson = session(school, ++number % sessions);
    const { student } = lesson;
    const parent = index % 3 === 1 ? school.parentsOf(student)[0] : undefined;
    const byTutor = index % 11 === 9;
    const reviewer = byTutor ? school.colleagueOf(lesson.tutor) : (parent ?? school.student(student));
    const rating = byTutor || index % 10 < 5 ? 5 : (index % 5) + 1;
    const subject = school.subject(student).name;
    const remark = random.pick(byTutor ? TEXTS.peerRemarks : remarksOn(subject, rating, parent ? 'parent' : 'student'));
    const createdAt = Math.min(lesson.startsAt + lesson.minutes * 60_000 + random.int(1, 200) * 60_000, school.now);
    yield {
      id: school.id('feedback', index),
      legacy,
      session_id: legacy ? null : lesson.id,
      tutor_id: lesson.tutor.id,
      reviewer_id: reviewer.id,
      reviewer_role: byTutor ? 'tutor' : parent ? 'parent' : 'student',
      rating,
      recommend: index % 9 === 8 ? null : rating > 2,
      prepared: index % 9 === 7 ? null : rating > 2,
      positive_tags: rating > 2 ? [random.pick(TEXTS.positiveTags)] : [],
      improve_tags: remark.improve ? [remark.improve] : [],
      comment: index % 6 === 1 ? null : remark.text,
      is_public: index % 2 === 0,
      created_at: iso(createdAt),
    };
  }
}

/** Homework that was assigned to this student alone. */
function homeworkOf(school: School, student: number): string | null {
  for (let index = student; index < school.homework; index += school.students) {
    if (index % 5 !== 0) return school.id('homework', index);
  }
  return null;
}

/** Includes students without a session, whose results nobody can see yet. */
function* results(school: School): Rows {
  const count = Math.max(32, school.students * (school.crowded ? 1 : 2));
  for (let index = 0; index < count; index++) {
    const createdAt = school.spread('result', index, count, 200, 1);
    const random = school.random('result', index);
    const mode = MODES[index % 4]!;
    const status = STATUSES[(index >> 2) % 4]!;
    const started = status === 'not_started' ? null : createdAt + random.int(1, 60) * 60_000;
    const ended = status === 'submitted' || status === 'completed' ? createdAt + random.int(61, 240) * 60_000 : null;
    const student = school.someStudent(index >> 1);
    yield {
      id: school.id('result', index),
      student_id: school.studentId(student),
      status,
      grade: status === 'completed' ? random.int(35, 100) : null,
      mode,
      vce_exam_id: mode === 'vce_exam' ? school.id('exam', index % 40) : null,
      curriculum_level_id: mode === 'topic_practice' ? school.id('level', index % 12) : null,
      homework_assignment_id: mode === 'homework' ? homeworkOf(school, student) : null,
      started_at: started === null ? null : iso(started),
      completed_at: ended === null ? null : iso(ended),
      created_at: iso(createdAt),
    };
  }
}

export const courseworkRows: TableRows = { homework, session_feedback: sessionFeedback, results };
