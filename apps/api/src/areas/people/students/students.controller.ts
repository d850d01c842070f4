import { Controller, Res } from '@nestjs/common';
import type { Response } from 'express';
import {
  type Caller, CurrentCaller, Documented, one, Patch, PathId, Post, RequireScopes, ValidBody,
} from '../../../http/kit.js'; // prettier-ignore
import { accountInviteSentShape } from '../account-invite.js';
import { CreateStudent, UpdateStudent } from './students.dto.js';
import { Offboard, offboardShape } from '../offboard.js';
import { StudentsService } from './students.service.js';
import { STUDENTS } from './students.queries.js';

@Controller('v1/students')
export class StudentsController {
  constructor(
    private readonly students: StudentsService,
    private readonly offboarding: Offboard,
  ) {}

  @Post()
  @RequireScopes('accounts:write')
  @Documented({
    id: 'create_student',
    summary: 'Creates or invites a student, with a parent if one is given',
    description:
      'Works like a `student` row of the bulk invite. An accepted or pending student with this address is returned ' +
      'unchanged, with status 200; a `parent` for them is a 422: link the parent instead. Add a child without an ' +
      'address of their own without `email`. What would be a row’s `error` is a 422 here.',
    answer: one(STUDENTS.view),
    repeated: 'The student was here already.',
    example: { first_name: 'Mia', last_name: 'Nguyen', email: 'mia@example.org' },
  })
  async create(
    @CurrentCaller() caller: Caller,
    @ValidBody(CreateStudent) body: CreateStudent,
    @Res({ passthrough: true }) response: Response,
  ) {
    const { student, known } = await this.students.create(caller, body);
    if (known) response.status(200);
    return student;
  }

  @Patch(':student_id')
  @RequireScopes('students:write')
  @Documented({
    id: 'update_student',
    summary: 'Changes a student’s names, email, phone or rate band',
    description:
      'Omitted fields stay unchanged. For a `pending` student, this changes what the organization supplied, but ' +
      'not the address they were invited at. If another organization has a membership for the login, only the ' +
      'person can change it, and an archived student cannot be changed: 422. A new `email` is confirmed by ' +
      'email, and the previous address loses all access.',
    answer: one(STUDENTS.view),
    example: { phone: '+61 400 000 000' },
  })
  update(
    @CurrentCaller() caller: Caller,
    @PathId('student_id') id: string,
    @ValidBody(UpdateStudent) body: UpdateStudent,
  ) {
    return this.students.update(caller, id, body);
  }

  @Post(':student_id/send-invite', 200)
  @RequireScopes('accounts:write')
  @Documented({
    id: 'send_student_invite',
    summary: 'Emails a student a link to their account',
    description:
      '`sent` says whether an email was queued. None is queued without a mail server, if the address ' +
      'permanently rejects mail or got one in the last ten minutes, or beyond the daily limit. A student who is ' +
      'archived or has no address is a 422.',
    answer: one(accountInviteSentShape),
  })
  sendInvite(@CurrentCaller() caller: Caller, @PathId('student_id') id: string) {
    return this.students.sendInvite(caller, id);
  }

  @Post(':student_id/offboard', 200)
  @RequireScopes('accounts:write')
  @Documented({
    id: 'offboard_student',
    summary: 'Ends a student’s time in the organization',
    description:
      'The student is archived; their account stays theirs. Relations to tutors are archived, places in ' +
      'classrooms and groups and open invites end, and so do bookings ahead: the student leaves each session, ' +
      'and one without other students is cancelled. What was taught, results, messages and invoices stay. Again: ' +
      'zeros.',
    answer: one(offboardShape),
  })
  offboard(@CurrentCaller() caller: Caller, @PathId('student_id') id: string) {
    return this.offboarding.end(caller, { userId: id, as: 'student' });
  }
}
