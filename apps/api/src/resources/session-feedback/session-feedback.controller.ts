import { Controller, Get, Query } from '@nestjs/common';
import { CurrentCaller, RequireScopes } from '../../http/auth/access.decorators.js';
import type { Caller } from '../../http/auth/caller.js';
import { Lists } from '../../http/lists/lists.js';
import { DocumentedList } from '../../http/openapi/operation.decorator.js';
import { PathId } from '../../http/validation/path-id.js';
import { FEEDBACK, ListFeedback, ListReviews, REVIEWS } from './session-feedback.queries.js';

@Controller('v1')
export class SessionFeedbackController {
  constructor(private readonly lists: Lists) {}

  @Get('session-feedback')
  @RequireScopes('read')
  @DocumentedList(FEEDBACK)
  list(@CurrentCaller() caller: Caller, @Query() query: ListFeedback) {
    return this.lists.page(caller, FEEDBACK, query);
  }

  @Get('tutors/:tutor_id/reviews')
  @RequireScopes('read')
  @DocumentedList(REVIEWS)
  listReviews(@CurrentCaller() caller: Caller, @PathId('tutor_id') tutorId: string, @Query() query: ListReviews) {
    return this.lists.page(caller, REVIEWS, query, { tutor_id: tutorId });
  }
}
