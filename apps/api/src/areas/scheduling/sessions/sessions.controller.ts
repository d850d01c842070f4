import { Controller } from '@nestjs/common';
import {
  type Caller, CurrentCaller, Delete, Documented, one, PathId, Post, Put, RequireScopes, ValidBody,
} from '../../../http/kit.js'; // prettier-ignore
import { CreateSession, UpdateSession } from '../booking.dto.js';
import { sessionView } from '../session.view.js';
import { CancelSession, CompleteSession } from './sessions.dto.js';
import { SessionsService } from './sessions.service.js';

@Controller('v1/sessions')
export class SessionsController {
  constructor(private readonly sessions: SessionsService) {}

  @Post()
  @RequireScopes('sessions:write')
  @Documented({
    id: 'create_session',
    summary: 'Books a session',
    description:
      'Send exactly one of `student_id`, `student_ids`, `group_id` and `classroom_id`, and one of ' +
      '`duration_minutes` and `ends_at`. Everybody who takes part is a lesson participant, with the price of an hour: ' +
      'what the request says, else the group’s rate, else the organization’s rates; null bills nothing. A time at ' +
      'which the tutor has another session is a 409 that names it.',
    answer: one(sessionView),
    example: {
      tutor_id: '0190a6f2-5c1e-7d3a-9b4f-2e8c6d1a7f30',
      student_id: '0190a6f2-5c1e-7d3a-9b4f-2e8c6d1a7f30',
      starts_at: '2027-03-01T05:00:00Z',
      duration_minutes: 60,
    },
    conflicts: ['invalid_state', 'session_overlap'],
  })
  create(@CurrentCaller() caller: Caller, @ValidBody(CreateSession) body: CreateSession) {
    return this.sessions.create(caller, body);
  }

  @Put(':session_id')
  @RequireScopes('sessions:write')
  @Documented({
    id: 'update_session',
    summary: 'Moves or changes a session, or confirms a pending one',
    description:
      'Omitted fields stay unchanged; a new `starts_at` alone keeps the duration. `student_ids` replaces who takes part: ' +
      'whoever is missing becomes `removed`. Prices are settled anew when the tutor, the subject, the mode or who takes ' +
      'part changes, except those that somebody has set. Completed and cancelled sessions cannot change.',
    answer: one(sessionView),
    example: { starts_at: '2027-03-01T08:00:00Z' },
    conflicts: ['invalid_state', 'session_overlap'],
  })
  update(
    @CurrentCaller() caller: Caller,
    @PathId('session_id') id: string,
    @ValidBody(UpdateSession) body: UpdateSession,
  ) {
    return this.sessions.update(caller, id, body);
  }

  @Put(':session_id/complete')
  @RequireScopes('sessions:write')
  @Documented({
    id: 'complete_session',
    summary: 'Completes a session that has begun',
    description:
      'Bills everybody who takes part and is not excused, a line on the draft of each, and settles what the tutor gets. Who is ' +
      'not named attended, unless something else was recorded before. Again: unchanged; with another attendance, a 409.',
    answer: one(sessionView),
    example: { participants: [{ student_id: '0190a6f2-5c1e-7d3a-9b4f-2e8c6d1a7f30', attendance: 'attended' }] },
    conflicts: ['invalid_state'],
  })
  complete(
    @CurrentCaller() caller: Caller,
    @PathId('session_id') id: string,
    @ValidBody(CompleteSession) body: CompleteSession,
  ) {
    return this.sessions.complete(caller, id, body);
  }

  @Post(':session_id/reopen', 200)
  @RequireScopes('sessions:write')
  @Documented({
    id: 'reopen_session',
    summary: 'Takes a completed session back to scheduled',
    description:
      'What it billed is removed from the drafts, with who came and what the tutor gets. Once a line of it has been issued: ' +
      '409. Again: unchanged.',
    answer: one(sessionView),
    conflicts: ['invalid_state'],
  })
  reopen(@CurrentCaller() caller: Caller, @PathId('session_id') id: string) {
    return this.sessions.reopen(caller, id);
  }

  @Post(':session_id/cancel', 200)
  @RequireScopes('sessions:write')
  @Documented({
    id: 'cancel_session',
    summary: 'Cancels a session',
    description:
      'Participants who have not declined are cancelled too, and the time is free again. With `charge_percent`, that part of ' +
      'what completing would have billed is added to each student’s draft. Again: unchanged.',
    answer: one(sessionView),
    example: { reason: 'Called off an hour before.', charge_percent: 50 },
    conflicts: ['invalid_state'],
  })
  cancel(
    @CurrentCaller() caller: Caller,
    @PathId('session_id') id: string,
    @ValidBody(CancelSession) body: CancelSession,
  ) {
    return this.sessions.cancel(caller, id, body);
  }

  @Delete(':session_id', 204)
  @RequireScopes('sessions:write')
  @Documented({
    id: 'remove_session',
    summary: 'Deletes a session that was booked by mistake',
    description:
      'Not a completed one, nor one that another record names, such as a payment: 409. Cancel these instead.',
    answer: null,
    conflicts: ['invalid_state', 'still_referenced'],
  })
  remove(@CurrentCaller() caller: Caller, @PathId('session_id') id: string) {
    return this.sessions.remove(caller, id);
  }
}
