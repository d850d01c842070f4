import { Module } from '@nestjs/common';
import sql from 'sql-template-tag';
import { equals, field, HttpModule, type List, listController, ListQuery, Source } from '../../http/kit.js';
import { feedbackView, reviewView } from './session-feedback.view.js';

const ANONYMIZE = 'Reviewers as first name and initial ("Mia N.") instead of the full name.';

export class ListFeedback extends ListQuery {
  @field.QueryUuid({ description: 'Only feedback on this tutor (user id).' })
  tutor_id?: string;

  @field.QueryBoolean({ description: 'Only feedback that its author made public.', default: false })
  public_only: boolean = false;

  @field.QueryBoolean({ description: ANONYMIZE, default: false })
  anonymize: boolean = false;
}

export class ListReviews extends ListQuery {
  @field.QueryBoolean({ description: ANONYMIZE, default: false })
  anonymize: boolean = false;
}

/** Reviewers are people of the organization, named as in its other lists. */
const SUBMITTED = new Source('session_feedback', 'f', {
  joins: sql`LEFT JOIN members m ON m.organization_id = f.organization_id AND m.user_id = f.reviewer_id
    LEFT JOIN parents p ON p.organization_id = f.organization_id AND p.user_id = f.reviewer_id
    LEFT JOIN users u ON u.id = f.reviewer_id AND (m.accepted_at IS NOT NULL OR p.accepted_at IS NOT NULL)`,
});

const TUTORS = new Source('tutor_profiles', 't');

/** Lesson feedback. It belongs to the organization where it was submitted. Legacy rows have none and stay hidden. */
export const FEEDBACK: List<ListFeedback> = {
  id: 'list_session_feedback',
  path: 'v1/session-feedback',
  query: ListFeedback,
  summary: 'Lists lesson feedback, newest first',
  description:
    'Feedback submitted in this organization, with its reviewers. Legacy feedback without an organization is ' +
    'not included.',
  view: feedbackView.named,
  source: SUBMITTED,
  select: ({ tutor_id, public_only, anonymize }) => ({
    filters: [equals('tutor_id', tutor_id), public_only ? sql`f.is_public` : null],
    ...(anonymize && { view: feedbackView.anonymized }),
  }),
};

/** Public feedback with a comment, about one of the organization's tutors. */
export const REVIEWS: List<ListReviews> = {
  id: 'list_tutor_reviews',
  path: 'v1/tutors/:tutor_id/reviews',
  query: ListReviews,
  summary: 'Lists the public reviews of a tutor, newest first',
  description: 'Public feedback with a written comment. A tutor of another organization is a 404.',
  view: reviewView.named,
  source: SUBMITTED,
  select: ({ anonymize }, _caller, { tutor_id }) => ({
    filters: [equals('tutor_id', tutor_id), sql`f.is_public`, sql`f.has_comment`],
    within: { source: TUTORS, where: sql`t.user_id = ${tutor_id}` },
    ...(anonymize && { view: reviewView.anonymized }),
  }),
};

@Module({ imports: [HttpModule], controllers: [listController(FEEDBACK), listController(REVIEWS)] })
export class SessionFeedbackModule {}
