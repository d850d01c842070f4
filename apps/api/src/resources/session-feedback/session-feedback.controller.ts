import { Controller, Get, Query } from '@nestjs/common';
import { CurrentCaller, RequireScopes } from '../../http/auth/access.decorators.js';
import type { Caller } from '../../http/auth/caller.js';
import { Documented, page } from '../../http/openapi/operation.decorator.js';
import { PathId } from '../../http/validation/path-id.js';
import { ListFeedback, ListReviews } from './session-feedback.dto.js';
import { SessionFeedbackService } from './session-feedback.service.js';
import { feedbackView, reviewView } from './session-feedback.view.js';

@Controller('v1')
export class SessionFeedbackController {
  constructor(private readonly feedback: SessionFeedbackService) {}

  @Get('session-feedback')
  @RequireScopes('read')
  @Documented({
    id: 'list_session_feedback',
    summary: 'Lists lesson feedback, newest first',
    description:
      'Feedback that was submitted in this organization, with its reviewers. Legacy feedback without an organization is left out.',
    answer: page(feedbackView.named),
  })
  list(@CurrentCaller() caller: Caller, @Query() query: ListFeedback) {
    return this.feedback.list(caller, query);
  }

  @Get('tutors/:tutor_id/reviews')
  @RequireScopes('read')
  @Documented({
    id: 'list_tutor_reviews',
    summary: 'Lists the public reviews of a tutor, newest first',
    description: 'Public feedback with a written comment. A tutor of another organization is not found.',
    answer: page(reviewView.named),
  })
  listReviews(@CurrentCaller() caller: Caller, @PathId('tutor_id') tutorId: string, @Query() query: ListReviews) {
    return this.feedback.listReviews(caller, tutorId, query);
  }
}
