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
  writeController({
    ...MEMBER_ADDED,
    id: 'add_group_student',
    route: 'POST /v1/groups/:group_id/students',
    summary: 'Adds an accepted student to the group',
    description:
      'Adding somebody again returns the same `member_id`. A member with another role in the organization is a ' +
      '422; a person who is not an accepted member is a 404.',
    body: AddGroupMember,
    run: ({ organizationId, ids: { group_id: id }, body }, changes) =>
      addMember(changes, organizationId, { kind: 'group', id }, body, 'student'),
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
    run: ({ organizationId, ids: { group_id: id }, body }, changes) =>
      addMember(changes, organizationId, { kind: 'group', id }, body, 'tutor'),
  }),
  writeController({
    id: 'update_group',
    route: 'PATCH /v1/groups/:group_id',
    scope: 'tutors:write',
    summary: 'Changes a group, or hands it over',
    description:
      'Omitted fields stay unchanged. A new tutor gets a place in it, and the former one keeps theirs; lessons that are booked keep their tutor. ' +
      'Lessons that are booked keep their price.',
    example: { name: 'Year 10 Maths, Monday' },
    body: UpdateGroup,
    rules: [ClassChanges],
    answers: GROUPS,
    versions: GROUPS,
    run: ({ caller, ids, body }, changes) => changes.change(caller, { kind: 'group', id: ids.group_id }, given(body)),
  }),
  writeController({
    id: 'archive_group',
    route: 'DELETE /v1/groups/:group_id',
    scope: 'tutors:write',
    summary: 'Archives a group',
    description:
      'Its codes die, lists leave it out, and nothing new can name it. What has been done in it stays, with its id; lessons that are booked ' +
      'take place unless they are canceled. PATCH with `is_archived: false` brings it back.',
    rules: [ClassChanges],
    answers: null,
    versions: GROUPS,
    run: ({ caller, ids }, changes) =>
      changes.change(caller, { kind: 'group', id: ids.group_id }, { is_archived: true }),
  }),
  readController({
    ...MEMBERS,
    id: 'list_group_members',
    path: 'v1/groups/:group_id/members',
    summary: 'Lists who is in a group',
    run: async ({ caller, ids }, members) => ({ data: await members.of(caller, { kind: 'group', id: ids.group_id }) }),
  }),
  writeController({
    ...MEMBER_REMOVED,
    id: 'remove_group_student',
    route: 'DELETE /v1/groups/:group_id/students/:student_id',
    summary: 'Takes a student out of a group',
    description: 'Lessons of it that have not begun go on without them.',
    run: ({ organizationId, ids: { group_id: id, student_id } }, changes) =>
      changes.dismiss(organizationId, { kind: 'group', id }, student_id, 'student'),
  }),
  writeController({
    ...MEMBER_REMOVED,
    id: 'remove_group_tutor',
    route: 'DELETE /v1/groups/:group_id/tutors/:tutor_id',
    summary: 'Takes a tutor out of a group',
    description: 'If they lead it, nobody does until it is handed over. Lessons that are booked keep their tutor.',
    run: ({ organizationId, ids: { group_id: id, tutor_id } }, changes) =>
      changes.dismiss(organizationId, { kind: 'group', id }, tutor_id, 'tutor'),
  }),
];
