import { Controller, Query } from '@nestjs/common';
import { CurrentCaller } from '../../http/auth/access.decorators.js';
import type { Caller } from '../../http/auth/caller.js';
import { Lists } from '../../http/lists/lists.js';
import { ListRoute } from '../../http/openapi/operation.decorator.js';
import { PathId } from '../../http/validation/path-id.js';
import { FEEDBACK, ListFeedback, ListReviews, REVIEWS } from './session-feedback.queries.js';

@Controller('v1')
export class SessionFeedbackController {
  constructor(private readonly lists: Lists) {}

  @ListRoute(FEEDBACK, 'session-feedback')
  list(@CurrentCaller() caller: Caller, @Query() query: ListFeedback) {
    return this.lists.page(caller, FEEDBACK, query);
  }

  @ListRoute(REVIEWS, 'tutors/:tutor_id/reviews')
  listReviews(@CurrentCaller() caller: Caller, @PathId('tutor_id') tutorId: string, @Query() query: ListReviews) {
    return this.lists.page(caller, REVIEWS, query, { tutor_id: tutorId });
  }
}
