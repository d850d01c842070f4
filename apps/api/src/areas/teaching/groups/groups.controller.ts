import { Controller } from '@nestjs/common';
import {
  type Caller, CurrentCaller, Documented, one, PathId, Post, RequireScopes, ValidBody,
} from '../../../http/kit.js'; // prettier-ignore
import { memberAddView, RoomMembers } from '../room-members.js';
import { AddGroupMember, CreateGroup } from './groups.dto.js';
import { GROUPS } from './groups.queries.js';
import { GroupsService } from './groups.service.js';

const EXAMPLE = { user_id: '0190a6f2-5c1e-7d3a-9b4f-2e8c6d1a7f30' };

@Controller('v1/groups')
export class GroupsController {
  constructor(
    private readonly groups: GroupsService,
    private readonly members: RoomMembers,
  ) {}

  @Post()
  @RequireScopes('tutors:write')
  @Documented({
    id: 'create_group',
    summary: 'Creates a student group',
    description:
      'Only `name` is required. People of another organization, or who have not accepted, are a 404; those with another ' +
      'role are a 422.',
    answer: one(GROUPS.view),
    example: { name: 'Year 10 Maths, Tuesday', rate_per_student_cents: 4500, color: '#3366cc' },
  })
  create(@CurrentCaller() caller: Caller, @ValidBody(CreateGroup) body: CreateGroup) {
    return this.groups.create(caller, body);
  }

  @Post(':group_id/students', 200)
  @RequireScopes('tutors:write')
  @Documented({
    id: 'add_group_student',
    summary: 'Adds an accepted student to the group',
    description:
      'Adding somebody again returns the same `member_id`. A member with another role in the organization is a ' +
      '422; a person who is not an accepted member is a 404.',
    answer: one(memberAddView),
    example: EXAMPLE,
  })
  addStudent(
    @CurrentCaller() caller: Caller,
    @PathId('group_id') id: string,
    @ValidBody(AddGroupMember) body: AddGroupMember,
  ) {
    return this.members.add(caller, { kind: 'group', id }, body.user_id, 'student');
  }

  @Post(':group_id/tutors', 200)
  @RequireScopes('tutors:write')
  @Documented({
    id: 'add_group_tutor',
    summary: 'Adds an accepted tutor or admin to the group as a tutor',
    description:
      'Adding somebody again returns the same `member_id`. A member with another role in the organization is a ' +
      '422; a person who is not an accepted member is a 404. A student of the group becomes its tutor, with the ' +
      'same `member_id`.',
    answer: one(memberAddView),
    example: EXAMPLE,
  })
  addTutor(
    @CurrentCaller() caller: Caller,
    @PathId('group_id') id: string,
    @ValidBody(AddGroupMember) body: AddGroupMember,
  ) {
    return this.members.add(caller, { kind: 'group', id }, body.user_id, 'tutor');
  }
}
