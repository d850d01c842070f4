import { Classes } from '@app/people';
import { inputOf, listController, recordController, writeController } from '../../../http/kit.js';
import { addMember, MEMBER_ADDED } from '../class-members.js';
import { AddGroupMember, CreateGroup } from './groups.dto.js';
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
    idName: 'group_id',
    async run({ caller, body }, classes) {
      const id = await classes.openGroup(caller, { ...inputOf(body), subject: body.subject_id ?? null });
      return { id, audit: { student_ids: body.student_ids } };
    },
  }),
  writeController({
    ...MEMBER_ADDED,
    id: 'add_group_student',
    route: 'POST /v1/groups/:group_id/students',
    summary: 'Adds an accepted student to the group',
    description:
      'Adding somebody again returns the same `member_id`. A member with another role in the organization is a ' +
      '422; a person who is not an accepted member is a 404.',
    body: AddGroupMember,
    run: ({ organizationId, ids: { group_id: id }, body }, members) =>
      addMember(members, organizationId, { kind: 'group', id }, body, 'student'),
  }),
  writeController({
    ...MEMBER_ADDED,
    id: 'add_group_tutor',
    route: 'POST /v1/groups/:group_id/tutors',
    summary: 'Adds an accepted tutor or admin to the group as a tutor',
    description:
      'Adding somebody again returns the same `member_id`. A member with another role in the organization is a ' +
      '422; a person who is not an accepted member is a 404. A student of the group becomes its tutor, with the ' +
      'same `member_id`.',
    body: AddGroupMember,
    run: ({ organizationId, ids: { group_id: id }, body }, members) =>
      addMember(members, organizationId, { kind: 'group', id }, body, 'tutor'),
  }),
];
