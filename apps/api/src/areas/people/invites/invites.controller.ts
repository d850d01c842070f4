import { Controller, Get } from '@nestjs/common';
import {
  type Caller, CurrentCaller, Delete, Documented, one, PathId, Post, RequireScopes, ValidBody,
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
      'shareable and valid for 90 (a parent’s for 14). A shareable one lets in 40 people, a parent’s two, one for the ' +
      'organization any number; tutors and parents then wait for an approval in the portal. An email is queued for the scopes `organization` and `tutor_student` with ' +
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

  @Delete('invites/:invite_id', 204)
  @RequireScopes('accounts:write')
  @Documented({
    id: 'remove_invite',
    summary: 'Revokes an invite',
    description:
      'Its link or code stops working at once; whoever has joined by it stays. An invite that was accepted or revoked is ' +
      'a 404, and so are the permanent join links, which can be replaced, and the links to accounts.',
    answer: null,
  })
  remove(@CurrentCaller() caller: Caller, @PathId('invite_id') id: string) {
    return this.invites.remove(caller, id);
  }

  @Get('org/join-link')
  @RequireScopes('read')
  @Documented({
    id: 'get_org_join_link',
    summary: 'Returns the permanent join links',
    description:
      'They do not expire. They are `null` until they have been created, within a minute of the worker’s start, and ' +
      'while owners or admins have switched them off in the portal; and always for a key without `accounts:write`, because ' +
      'whoever reads a code can let people in.',
    answer: one(joinLinkShape),
  })
  getJoinLink(@CurrentCaller() caller: Caller) {
    return this.invites.getJoinLink(caller);
  }

  @Post('org/join-link/replace', 200)
  @RequireScopes('accounts:write')
  @Documented({
    id: 'replace_org_join_link',
    summary: 'Replaces the permanent join links',
    description:
      'The old ones stop working at once, such as when a code has leaked. One that is switched off stays `null`. Whoever ' +
      'has joined stays.',
    answer: one(joinLinkShape),
  })
  replaceJoinLink(@CurrentCaller() caller: Caller) {
    return this.invites.replaceJoinLink(caller);
  }
}
