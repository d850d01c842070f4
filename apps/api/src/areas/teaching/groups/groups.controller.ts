import { Classes } from '@app/people';
import { inputOf, listController, recordController, writeController } from '../../../http/kit.js';
import { classControllers } from '../class-members.js';
import { AddGroupMember, CreateGroup, UpdateGroup } from './groups.dto.js';
import { GROUPS } from './groups.queries.js';

const GROUP = recordController({
  ...GROUPS,
  id: 'get_student_group',
  path: 'v1/student-groups/:group_id',
  summary: 'Returns one student group with its members',
});

export const GROUPS_CONTROLLERS = [
  listController(GROUPS),
  GROUP,
  writeController({
    id: 'create_group',
    route: 'POST /v1/groups',
    scope: 'tutors:write',
    summary: 'Creates a student group',
    description:
      'Only `name` is required. People of another organization, or who have not accepted, are a 404; those with another ' +
      'role are a 422.',
    example: { name: 'Year 10 Maths, Tuesday', rate_per_student_cents: 4500, color: '#3366cc' },
    body: CreateGroup,
    rules: [Classes],
    answers: GROUPS,
    versions: GROUPS,
    idName: 'group_id',
    async run({ caller, body }, classes) {
      const id = await classes.openGroup(caller, { ...inputOf(body), subject: body.subject_id ?? null });
      return { id, audit: { student_ids: body.student_ids } };
    },
  }),
  ...classControllers({
    kind: 'group',
    shown: GROUPS,
    bodies: { member: AddGroupMember, change: UpdateGroup },
    changed: 'Lessons that are booked keep their price.',
    example: { name: 'Year 10 Maths, Monday' },
    led: 'Adds an accepted tutor or admin to the group as a tutor',
  }),
];
