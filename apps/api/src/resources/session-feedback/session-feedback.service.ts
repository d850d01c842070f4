import { Injectable } from '@nestjs/common';
import sql from 'sql-template-tag';
import type { Caller } from '../../http/auth/caller.js';
import { equals } from '../../http/lists/filters.js';
import { Lists } from '../../http/lists/lists.js';
import type { Page } from '../../http/lists/page.js';
import { Source } from '../../http/lists/source.js';
import type { ListFeedback, ListReviews } from './session-feedback.dto.js';
import { feedbackView, reviewView } from './session-feedback.view.js';

/** Reviewers are people of the organization, named as in its other lists. */
const FEEDBACK = new Source('session_feedback', 'f', {
  joins: sql`LEFT JOIN members m ON m.organization_id = f.organization_id AND m.user_id = f.reviewer_id
    LEFT JOIN parents p ON p.organization_id = f.organization_id AND p.user_id = f.reviewer_id
    LEFT JOIN users u ON u.id = f.reviewer_id AND (m.accepted_at IS NOT NULL OR p.accepted_at IS NOT NULL)`,
});

/** Lesson feedback. Rows belong to the organization of their submission; legacy rows have none and are never shown. */
@Injectable()
export class SessionFeedbackService {
  constructor(private readonly lists: Lists) {}

  list(caller: Caller, query: ListFeedback): Promise<Page> {
    return this.lists.page(
      caller,
      {
        view: query.anonymize ? feedbackView.anonymized : feedbackView.named,
        source: FEEDBACK,
        filters: [equals('f.tutor_id', query.tutor_id), query.public_only ? sql`f.is_public` : null],
      },
      query,
    );
  }

  /** Public feedback with a comment, about one of the organization's tutors. */
  listReviews(caller: Caller, tutorId: string, query: ListReviews): Promise<Page> {
    return this.lists.page(
      caller,
      {
        view: query.anonymize ? reviewView.anonymized : reviewView.named,
        source: FEEDBACK,
        filters: [sql`f.tutor_id = ${tutorId}`, sql`f.is_public`, sql`f.has_comment`],
        parameters: { tutor_id: tutorId },
        within: sql`SELECT FROM tutor_profiles t
          WHERE t.organization_id = ${caller.organizationId} AND t.user_id = ${tutorId}`,
      },
      query,
    );
  }
}
