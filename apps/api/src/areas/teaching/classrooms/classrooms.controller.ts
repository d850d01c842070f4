import { Classes } from '@app/people';
import { ClassChanges } from '@app/teaching';
import {
  given,
  inputOf,
  listController,
  readController,
  recordController,
  writeController,
} from '../../../http/kit.js';
import { addMember, MEMBER_ADDED, MEMBER_REMOVED, MEMBERS } from '../class-members.js';
import { AddClassroomMember, CreateClassroom, UpdateClassroom } from './classrooms.dto.js';
import { CLASSROOMS } from './classrooms.queries.js';

const CLASSROOM = recordController({
  ...CLASSROOMS,
  id: 'get_classroom',
  path: 'v1/classrooms/:classroom_id',
  summary: 'Returns one classroom',
});

export const CLASSROOMS_CONTROLLERS = [
  listController(CLASSROOMS),
  CLASSROOM,
  writeController({
    id: 'create_classroom',
    route: 'POST /v1/classrooms',
    scope: 'tutors:write',
    summary: 'Creates a classroom',
    description:
      'The tutor becomes its teacher. Students join by its `join_code`, or are added. A tutor of another organization, ' +
      'or one who has not accepted, is a 404; a student is a 422.',
    example: { name: 'Year 12 Methods', price_cents: 12000, billing_interval: 'month' },
    body: CreateClassroom,
    rules: [Classes],
    answers: CLASSROOMS,
    idName: 'classroom_id',
    run: ({ caller, body }, classes) =>
      classes.openClassroom(caller, { ...inputOf(body), subject: body.subject_id ?? null }),
  }),
  writeController({
    ...MEMBER_ADDED,
    id: 'add_classroom_tutor',
    route: 'POST /v1/classrooms/:classroom_id/tutors',
    summary: 'Adds an accepted tutor or admin as a teacher of the classroom',
    description:
      'Adding somebody again returns the same `member_id`. A member with another role in the organization is a ' +
      '422; a person who is not an accepted member is a 404. A student of the classroom becomes its teacher, ' +
      'with the same `member_id`.',
    body: AddClassroomMember,
    run: ({ organizationId, ids: { classroom_id: id }, body }, changes) =>
      addMember(changes, organizationId, { kind: 'classroom', id }, body, 'teacher'),
  }),
  writeController({
    ...MEMBER_ADDED,
    id: 'add_classroom_student',
    route: 'POST /v1/classrooms/:classroom_id/students',
    summary: 'Adds an accepted student to the classroom',
    description:
      'Adding somebody again returns the same `member_id`. A member with another role in the organization is a ' +
      '422; a person who is not an accepted member is a 404.',
    body: AddClassroomMember,
    run: ({ organizationId, ids: { classroom_id: id }, body }, changes) =>
      addMember(changes, organizationId, { kind: 'classroom', id }, body, 'student'),
  }),
  writeController({
    id: 'update_classroom',
    route: 'PATCH /v1/classrooms/:classroom_id',
    scope: 'tutors:write',
    summary: 'Changes a classroom, or hands it over',
    description:
      'Omitted fields stay unchanged. A new tutor gets a place in it, and the former one keeps theirs; lessons that are booked keep their tutor. ' +
      'A classroom that is brought back gets a new join code.',
    example: { name: 'Year 12 Methods, Monday' },
    body: UpdateClassroom,
    rules: [ClassChanges],
    answers: CLASSROOMS,
    versions: CLASSROOMS,
    run: ({ caller, ids, body }, changes) =>
      changes.change(caller, { kind: 'classroom', id: ids.classroom_id }, given(body)),
  }),
  writeController({
    id: 'archive_classroom',
    route: 'DELETE /v1/classrooms/:classroom_id',
    scope: 'tutors:write',
    summary: 'Archives a classroom',
    description:
      'Its codes die, lists leave it out, and nothing new can name it. What has been done in it stays, with its id; lessons that are booked ' +
      'take place unless they are canceled. PATCH with `is_archived: false` brings it back.',
    rules: [ClassChanges],
    answers: null,
    versions: CLASSROOMS,
    run: ({ caller, ids }, changes) =>
      changes.change(caller, { kind: 'classroom', id: ids.classroom_id }, { is_archived: true }),
  }),
  readController({
    ...MEMBERS,
    id: 'list_classroom_members',
    path: 'v1/classrooms/:classroom_id/members',
    summary: 'Lists who is in a classroom',
    run: async ({ caller, ids }, members) => ({
      data: await members.of(caller, { kind: 'classroom', id: ids.classroom_id }),
    }),
  }),
  writeController({
    ...MEMBER_REMOVED,
    id: 'remove_classroom_student',
    route: 'DELETE /v1/classrooms/:classroom_id/students/:student_id',
    summary: 'Takes a student out of a classroom',
    description: 'Lessons of it that have not begun go on without them.',
    run: ({ organizationId, ids: { classroom_id: id, student_id } }, changes) =>
      changes.dismiss(organizationId, { kind: 'classroom', id }, student_id, 'student'),
  }),
  writeController({
    ...MEMBER_REMOVED,
    id: 'remove_classroom_tutor',
    route: 'DELETE /v1/classrooms/:classroom_id/tutors/:tutor_id',
    summary: 'Takes a tutor out of a classroom',
    description: 'If they lead it, nobody does until it is handed over. Lessons that are booked keep their tutor.',
    run: ({ organizationId, ids: { classroom_id: id, tutor_id } }, changes) =>
      changes.dismiss(organizationId, { kind: 'classroom', id }, tutor_id, 'teacher'),
  }),
];
