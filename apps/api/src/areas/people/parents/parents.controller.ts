import { Controller, Res } from '@nestjs/common';
import type { Response } from 'express';
import {
  type Caller, CurrentCaller, Delete, Documented, one, PathId, Post, RequireScopes, ValidBody,
} from '../../../http/kit.js'; // prettier-ignore
import { accountInviteSentShape } from '../account-invite.js';
import { CreateParent, LinkStudent } from './parents.dto.js';
import { Offboard, offboardShape } from '../offboard.js';
import { ParentsService } from './parents.service.js';
import { ANY_PARENT, parentStudentLinkView } from './parents.queries.js';

@Controller('v1/parents')
export class ParentsController {
  constructor(
    private readonly parents: ParentsService,
    private readonly offboarding: Offboard,
  ) {}

  @Post()
  @RequireScopes('accounts:write')
  @Documented({
    id: 'create_parent',
    summary: 'Creates a parent, who is not listed until linked to a student',
    description:
      'Works like a `parent` row of the bulk invite. This call sends no email: link the parent to a student, ' +
      'then send the invite. An accepted or pending parent with this address is returned unchanged, with status 200. ' +
      'What would be a row’s `error` is a 422 here.',
    answer: one(ANY_PARENT.view),
    repeated: 'The parent was here already.',
    example: { first_name: 'Linh', last_name: 'Nguyen', email: 'linh@example.org' },
  })
  async create(
    @CurrentCaller() caller: Caller,
    @ValidBody(CreateParent) body: CreateParent,
    @Res({ passthrough: true }) response: Response,
  ) {
    const { parent, known } = await this.parents.create(caller, body);
    if (known) response.status(200);
    return parent;
  }

  @Post(':parent_id/link-student', 200)
  @RequireScopes('accounts:write')
  @Documented({
    id: 'link_student_to_parent',
    summary: 'Links a parent to a student',
    description:
      'The parent must already be linked here or have been provisioned by this organization. One who has left comes ' +
      'back with the link, `pending` until they accept again. Linking again changes nothing.',
    answer: one(parentStudentLinkView),
    example: { student_id: '0190a6f2-5c1e-7d3a-9b4f-2e8c6d1a7f30' },
  })
  linkStudent(
    @CurrentCaller() caller: Caller,
    @PathId('parent_id') id: string,
    @ValidBody(LinkStudent) body: LinkStudent,
  ) {
    return this.parents.linkStudent(caller, id, body.student_id);
  }

  @Post(':parent_id/send-invite', 200)
  @RequireScopes('accounts:write')
  @Documented({
    id: 'send_parent_invite',
    summary: 'Emails a parent a link to their account',
    description:
      'The parent must be linked to a student. `sent` says whether an email was queued. None is queued without ' +
      'a mail server, if the address permanently rejects mail or got one in the last ten minutes, or beyond the ' +
      'daily limit. A parent without an address is a 422.',
    answer: one(accountInviteSentShape),
  })
  sendInvite(@CurrentCaller() caller: Caller, @PathId('parent_id') id: string) {
    return this.parents.sendInvite(caller, id);
  }

  @Post(':parent_id/offboard', 200)
  @RequireScopes('accounts:write')
  @Documented({
    id: 'offboard_parent',
    summary: 'Ends a parent’s time in the organization',
    description:
      'The parent sees nothing of the organization any more; their account stays theirs. Links to children and ' +
      'open invites end; invoices stay. Again: zeros.',
    answer: one(offboardShape),
  })
  offboard(@CurrentCaller() caller: Caller, @PathId('parent_id') id: string) {
    return this.offboarding.end(caller, { userId: id, as: 'parent' });
  }

  @Delete(':parent_id/students/:student_id', 204)
  @RequireScopes('accounts:write')
  @Documented({
    id: 'unlink_student_from_parent',
    summary: 'Unlinks a parent from a student',
    description: 'A parent without a linked student is no longer listed, and sees nothing. An unlinked pair is a 404.',
    answer: null,
  })
  unlinkStudent(
    @CurrentCaller() caller: Caller,
    @PathId('parent_id') id: string,
    @PathId('student_id') studentId: string,
  ) {
    return this.offboarding.unlinkChild(caller, id, studentId);
  }
}
