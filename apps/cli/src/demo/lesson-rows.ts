import { DAY } from './clock.js';
import type { Rows, TableRows } from './rows.js';
import { iso, type School } from './school.js';
import { session, sessionCount } from './sessions.js';
import { classroom, classroomCount, group, groupCount } from './teaching-rows.js';
import { tasksIn, TEXTS } from './texts.js';

const SCOPES = ['student', 'classroom', 'group'] as const;
const PLAN_STATES = ['delivered', 'delivered', 'ready', 'draft'];
const FILE_TYPES = ['file', 'link', 'video', 'google_drive'];
const FILE_SCOPES = ['org', 'classroom', 'group', 'personal', 'private'];
const INBOX_STATES = ['archived', 'read', 'read', 'unread'];

const roomOf = (school: School, index: number) => classroom(school, index % classroomCount(school));
/** The first two groups are special: see teaching-rows.ts. */
const groupOf = (school: School, index: number) => group(school, 2 + (index % (groupCount(school) - 2)));

/** Plans of lessons held, and of those of the next days. */
function* lessonPlans(school: School): Rows {
  const count = Math.max(24, Math.ceil(school.students / 2));
  for (let index = 0; index < count; index++) {
    const random = school.random('plan', index);
    const scope = SCOPES[index % 8 < 5 ? 0 : 1 + (index % 2)]!;
    const room = scope === 'classroom' ? roomOf(school, index) : null;
    const team = scope === 'group' ? groupOf(school, index) : null;
    // The last third of the year.
    const lesson = session(school, Math.floor(sessionCount(school) * (0.65 + (0.35 * index) / count)));
    const createdAt = lesson.startsAt - 2 * DAY;
    const student = room || team ? null : (lesson.student ?? lesson.participants[0]!);
    const subject = room?.subject ?? team?.subject ?? school.subject(student!);
    const [first, second] = [random.pick(tasksIn(subject.name, 'text')), random.pick(tasksIn(subject.name, 'exam'))];
    const known = createdAt < school.now ? createdAt : school.now;
    yield {
      id: school.id('plan', index),
      created_by: (room?.teacher ?? team?.tutor ?? school.teacherOf(student!)).id,
      scope,
      classroom_id: room?.id ?? null,
      group_id: team?.id ?? null,
      student_id: student === null ? null : school.studentId(student),
      session_id: student === null ? null : lesson.id,
      curriculum_level_ids: [school.id('level', index % 12)],
      title: `${subject.name}: ${first.title}`,
      status: PLAN_STATES[index % PLAN_STATES.length],
      plan_data: {
        warm_up: { minutes: 5, what: 'Questions from last week' },
        main: { minutes: 40, what: first.title, note: first.note },
        practice: { minutes: 15, what: second.title },
      },
      scheduled_for: index % 5 === 4 ? null : iso(student === null ? createdAt + 2 * DAY : lesson.startsAt),
      created_at: iso(known),
      updated_at: iso(known),
    };
  }
}

/** Worksheets, links and recordings, all somewhere else. */
function* files(school: School): Rows {
  const count = Math.max(20, Math.ceil(school.students / 3));
  for (let index = 0; index < count; index++) {
    const scope = FILE_SCOPES[index % FILE_SCOPES.length]!;
    const type = FILE_TYPES[(index >> 1) % FILE_TYPES.length]!;
    const room = scope === 'classroom' ? roomOf(school, index) : null;
    const team = scope === 'group' ? groupOf(school, index) : null;
    const student = scope === 'personal' ? school.someStudent(index) : null;
    const subject = room?.subject ?? team?.subject ?? school.subject(student ?? index);
    const url = `https://files.example.com/${school.profile.slug}/${type}-${index}`;
    yield {
      id: school.id('file', index),
      owner_id: (room?.teacher ?? team?.tutor ?? school.teacherOf(student ?? index)).id,
      scope,
      title: `${subject.name}: ${school.random('file', index).pick(tasksIn(subject.name, 'text')).title}`,
      resource_type: type,
      file_url: type === 'file' ? `${url}.pdf` : null,
      link_url: type === 'file' ? null : url,
      student_id: student === null ? null : school.studentId(student),
      classroom_id: room?.id ?? null,
      group_id: team?.id ?? null,
      folder_id: index % 4 === 0 ? school.id('folder', index % 3) : null,
      created_at: iso(school.spread('file', index, count, 300, 1)),
    };
  }
}

/** The organization's own questions. */
function* questions(school: School): Rows {
  const count = Math.max(24, Math.ceil(school.students / 4));
  for (let index = 0; index < count; index++) {
    const subject = school.subjects[index % school.subjects.length]!;
    const tasks = tasksIn(subject.name, 'exam');
    const { title, note } = tasks[(index >> 2) % tasks.length]!;
    yield {
      id: school.id('question', index),
      topic: subject.name,
      tags: index % 3 === 0 ? ['exam'] : index % 3 === 1 ? ['practice', 'short'] : [],
      intro_text: `${title}. ${note}`,
      is_official_vce: false,
      is_current_study_design: index % 7 === 6 ? null : true,
      question_number: index % 5 === 4 ? null : 1 + (index % 20),
      total_marks: 1 + (index % 10),
      curriculum_level_ids: [school.id('level', index % 12)],
      author_id: school.teachers[index % school.teachers.length]!.id,
      created_at: iso(school.spread('question', index, count, 320, 2)),
    };
  }
}

/** What visitors of the website, and people who are signed in, wrote to the organization. */
function* inboxMessages(school: School): Rows {
  const count = Math.max(12, Math.ceil(school.students / 20));
  for (let index = 0; index < count; index++) {
    const student = school.student(school.someStudent(index * 3));
    const isGuest = index % 3 !== 2;
    const name = `${student.firstName} ${student.lastName}`;
    yield {
      id: school.id('inbox', index),
      subject_tutor_id: index % 4 === 1 ? school.teachers[index % school.teachers.length]!.id : null,
      from_user_id: isGuest ? null : student.id,
      guest_name: isGuest ? name : null,
      guest_email: isGuest ? `guest.${school.letter}${index}@example.com` : null,
      message: TEXTS.inbox[index % TEXTS.inbox.length],
      status: INBOX_STATES[Math.min(3, Math.floor((index * 4) / count))],
      created_at: iso(school.spread('inbox', index, count, 90, 0)),
    };
  }
}

export const lessonRows: TableRows = { lesson_plans: lessonPlans, files, questions, inbox_messages: inboxMessages };
