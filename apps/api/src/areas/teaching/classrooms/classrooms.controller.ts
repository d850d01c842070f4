import { Classes } from '@app/people';
import { inputOf, listController, recordController, writeController } from '../../../http/kit.js';
import { classControllers } from '../class-members.js';
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
  ...classControllers({
    kind: 'classroom',
    shown: CLASSROOMS,
    bodies: { member: AddClassroomMember, change: UpdateClassroom },
    changed: 'A classroom that is brought back gets a new join code.',
    example: { name: 'Year 12 Methods, Monday' },
    led: 'Adds an accepted tutor or admin as a teacher of the classroom',
  }),
];
