import { Controller, Get } from '@nestjs/common';
import {
  type Caller, CurrentCaller, Documented, one, Post, RequireScopes, ValidBody,
} from '../../../http/kit.js'; // prettier-ignore
import { CreateInvite } from './invites.dto.js';
import { InvitesService } from './invites.service.js';
import { inviteShape, joinLinkShape } from './invites.view.js';

@Controller('v1')
export class InvitesController {
  constructor(private readonly invites: InvitesService) {}

  @Post('invites')
  @RequireScopes('accounts:write')
  @Documented({
    id: 'create_invite',
    summary: 'Creates a join link or code',
    description:
      'With `email`, the invite is for one person, works once and is valid for 14 days; without it, it is ' +
      'shareable and valid for 90. An email is queued for the scopes `organization` and `tutor_student` with ' +
      '`email`: `emailed` says whether it was queued, not that it arrived, so show `join_url` too. `token` and ' +
      '`join_url` are returned only once. Each scope accepts only its own target id: `classroom_id`, ' +
      '`group_id`, `tutor_id` (with an optional `subject_id`), or `student_id` for `parent`; `role` is for ' +
      '`organization`, where `admin` requires an `email`.',
    answer: one(inviteShape),
    example: { scope: 'organization', role: 'tutor', email: 'mia@example.org' },
  })
  create(@CurrentCaller() caller: Caller, @ValidBody(CreateInvite) body: CreateInvite) {
    return this.invites.create(caller, body);
  }

  @Get('org/join-link')
  @RequireScopes('read')
  @Documented({
    id: 'get_org_join_link',
    summary: 'Returns the permanent join links',
    description:
      'They do not expire. They are `null` until they have been created; an organization that is older than ' +
      'this feature gets them within a minute of the worker’s start.',
    answer: one(joinLinkShape),
  })
  getJoinLink(@CurrentCaller() caller: Caller) {
    return this.invites.getJoinLink(caller);
  }
}
