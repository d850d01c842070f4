import { Controller, Get } from '@nestjs/common';
import { CurrentCaller, RequireScopes } from '../../http/auth/access.decorators.js';
import type { Caller } from '../../http/auth/caller.js';
import { Documented, one } from '../../http/openapi/operation.decorator.js';
import { PathId } from '../../http/validation/path-id.js';
import { GroupsService } from './groups.service.js';
import { studentGroupView } from './groups.view.js';

@Controller('v1/student-groups')
export class GroupsController {
  constructor(private readonly groups: GroupsService) {}

  @Get(':group_id')
  @RequireScopes('read')
  @Documented({
    id: 'get_student_group',
    summary: 'Returns one student group with its members',
    description:
      'A group that the organization owns, or one without an organization whose tutor belongs to this organization only.',
    answer: one(studentGroupView),
  })
  get(@CurrentCaller() caller: Caller, @PathId('group_id') id: string) {
    return this.groups.get(caller, id);
  }
}
