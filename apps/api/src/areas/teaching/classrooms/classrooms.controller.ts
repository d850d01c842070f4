import { Classes } from '@app/people';
import { inputOf, listController, recordController, writeController } from '../../../http/kit.js';
import { addMember, MEMBER_ADDED } from '../class-members.js';
import { AddClassroomMember, CreateClassroom } from './classrooms.dto.js';
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
    run: ({ organizationId, ids: { classroom_id: id }, body }, members) =>
      addMember(members, organizationId, { kind: 'classroom', id }, body, 'teacher'),
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
    run: ({ organizationId, ids: { classroom_id: id }, body }, members) =>
      addMember(members, organizationId, { kind: 'classroom', id }, body, 'student'),
  }),
];
