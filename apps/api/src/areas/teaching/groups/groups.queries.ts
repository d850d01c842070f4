import {
  byId, byIdOrCode, cents, flag, instant, list, nullable, Source, text, texts, UUID, toggle, uuid, View,
} from '../../../http/kit.js'; // prettier-ignore

const STUDENTS = `ARRAY(SELECT m.user_id FROM student_group_members m WHERE m.group_id = g.id AND m.role = 'student'
  ORDER BY m.created_at, m.user_id)`;

const studentGroupView = new View('StudentGroup', {
  id: uuid('g.id'),
  name: nullable(text('g.name', 'Year 10 Maths, Tuesday')),
  tutor_id: nullable(uuid('g.tutor_id')),
  classroom_id: nullable(uuid('g.classroom_id')),
  subject_id: nullable(uuid('g.subject_id')),
  rate_per_student_cents: nullable(cents('g.rate_per_student_cents')),
  color: nullable(text('g.color', '#3366cc')),
  avatar_url: nullable(text('g.avatar_url', 'https://images.example.org/groups/year-10.png')),
  student_ids: texts(STUDENTS, UUID),
  is_archived: nullable(flag('g.is_archived')),
  created_at: nullable(instant('g.created_at')),
  updated_at: nullable(instant('g.updated_at')),
});

export const GROUPS = list({
  id: 'list_student_groups',
  path: 'v1/student-groups',
  summary: 'Lists student groups with their members, newest first',
  description:
    'Groups that the organization owns, and groups without an organization whose tutor belongs only to this organization.',
  view: studentGroupView,
  source: new Source('student_groups', 'g'),
  parameters: [
    byIdOrCode('subject_id', 'subjects', 'Only groups that learn this subject.'),
    byId('classroom_id', 'Only groups of this classroom.'),
    toggle('include_archived', 'Include groups that are archived.', { without: 'is_archived' }),
  ],
});
