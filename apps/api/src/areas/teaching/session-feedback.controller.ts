import sql from 'sql-template-tag';
import { IS_STAFF, VALUES } from '@app/database';
import { FEEDBACK as KIND, Feedback } from '@app/teaching';
import {
  byId, flag, instant, integer, kept, kinds, like, list, listController, lookUp, nullable, oneOf, rows, Source, text, texts, toggle,
  uuid, View,
} from '../../http/kit.js'; // prettier-ignore

/** From the login while the person belongs; before and after that, as the organization supplied it or last saw it. */
const FIRST = `coalesce(u.first_name, m.supplied_first_name, p.supplied_first_name)`;
const LAST = `coalesce(u.last_name, m.supplied_last_name, p.supplied_last_name)`;
const NAME = `${FIRST} || ' ' || ${LAST}`;
const INITIALS = `${FIRST} || ' ' || left(${LAST}, 1) || '.'`;

const rating = like(integer('f.rating', { minimum: 1, maximum: 5 }), 5);

/** Not for a key that may write but not read. */
function nameOf(name: string) {
  const column = nullable(text(name, 'Mia Nguyen'));
  return { ...column, schema: kept(column.schema) };
}

/** Shows reviewers with their full name, or as "First L.". */
function feedback(name: string) {
  return new View('SessionFeedback', {
    id: uuid('f.id'),
    session_id: nullable(uuid('f.session_id')),
    tutor_id: nullable(uuid('f.tutor_id')),
    rating,
    recommend: nullable(flag('f.recommend')),
    prepared: nullable(flag('f.prepared')),
    positive_tags: texts('f.positive_tags', { type: 'string', examples: ['patient'] }),
    improve_tags: like(texts('f.improve_tags', { type: 'string' }), []),
    comment: nullable(text('f.comment', 'Explains it until it clicks.')),
    is_public: flag('f.is_public'),
    reviewer_role: nullable(oneOf('f.reviewer_role', VALUES.session_feedback.reviewer_role)),
    reviewer_name: nameOf(name),
    created_at: nullable(instant('f.created_at')),
  });
}

function review(name: string) {
  return new View('TutorReview', {
    id: uuid('f.id'),
    tutor_id: nullable(uuid('f.tutor_id')),
    rating,
    comment: nullable(text('f.comment', 'Explains it until it clicks.')),
    reviewer_name: nullable(text(name, 'Mia Nguyen')),
    created_at: nullable(instant('f.created_at')),
  });
}

const feedbackView = { named: feedback(NAME), anonymized: feedback(INITIALS) };
const reviewView = { named: review(NAME), anonymized: review(INITIALS) };

/** Reviewers are people of the organization, named as in its other lists. */
const SUBMITTED = new Source('session_feedback', 'f', {
  joins: sql`${lookUp('members', 'm', 'm.organization_id = f.organization_id AND m.user_id = f.reviewer_id')}
    ${lookUp('parents', 'p', 'p.organization_id = f.organization_id AND p.user_id = f.reviewer_id')}
    LEFT JOIN users u ON u.id = f.reviewer_id AND (m.accepted_at IS NOT NULL OR p.accepted_at IS NOT NULL)`,
});

/** With a tutor profile or without, like the list of tutors. */
const STAFF = new Source('members', 's', { id: 'user_id' });

const ANONYMIZE = toggle('anonymize', 'Reviewers as first name and initial ("Mia N.") instead of the full name.');

/** Lesson feedback. It belongs to the organization where it was submitted. Legacy rows have none and stay hidden. */
const FEEDBACK = list({
  id: 'list_session_feedback',
  path: 'v1/session-feedback',
  summary: 'Lists lesson feedback, newest first',
  description:
    'Feedback submitted in this organization, with its reviewers. Legacy feedback without an organization is ' +
    'not included.',
  view: feedbackView.named,
  source: SUBMITTED,
  parameters: [
    byId('tutor_id', 'Only feedback on this tutor (user id).'),
    toggle('public_only', 'Only feedback that its author made public.', { only: 'is_public' }),
    ANONYMIZE,
  ],
  select: ({ anonymize }) => (anonymize ? { view: feedbackView.anonymized } : {}),
});

/** Public feedback with a comment, about one of the organization's tutors. */
const REVIEWS = list({
  id: 'list_tutor_reviews',
  path: 'v1/tutors/:tutor_id/reviews',
  summary: 'Lists the public reviews of a tutor, newest first',
  description: 'Public feedback with a written comment. A tutor of another organization is a 404.',
  view: reviewView.named,
  source: SUBMITTED,
  where: sql`f.is_public AND f.has_comment`,
  parameters: [ANONYMIZE],
  select: ({ anonymize }, _caller, { tutor_id }) => ({
    filters: [sql`f.tutor_id = ${tutor_id}`],
    within: { source: STAFF, where: sql`s.user_id = ${tutor_id} AND s.${IS_STAFF}` },
    ...(anonymize && { view: reviewView.anonymized }),
  }),
});

export const SESSION_FEEDBACK_CONTROLLERS = [
  listController(FEEDBACK),
  listController(REVIEWS),
  ...rows({
    path: 'session-feedback/:feedback_id',
    noun: 'session feedback',
    kind: KIND,
    rule: Feedback,
    scope: 'sessions:write',
    scopeToChange: ['sessions:write', 'read'],
    shown: FEEDBACK,
    fields: {
      session_id: { required: true, fixed: true, kind: kinds.uuid, description: 'A completed session.' },
      reviewer_id: {
        required: true,
        fixed: true,
        kind: kinds.uuid,
        description: 'A student who takes part in it, or a linked parent of one.',
      },
      rating: { required: true, fixed: true },
      recommend: { nullable: true, fixed: true, kind: kinds.boolean },
      prepared: { nullable: true, fixed: true, kind: kinds.boolean },
      positive_tags: { default: [], fixed: true },
      improve_tags: { default: [], fixed: true },
      comment: { nullable: true, fixed: true },
      is_public: { default: false, kind: kinds.boolean, description: 'Whether its author lets everybody read it.' },
    },
    examples: {
      create: {
        session_id: '0190a6f2-5c1e-7d3a-9b4f-2e8c6d1a7f30',
        reviewer_id: '0190a6f2-5c1e-7d3a-9b4f-2e8c6d1a7f31',
        rating: 5,
        comment: 'Explains it until it clicks.',
      },
      change: { is_public: false },
    },
    notes: {
      create: 'About the tutor of the session; once for each reviewer and session.',
      change: 'Only `is_public`, and only to false: that it is public is its author’s choice.',
    },
    without: ['remove'],
  }),
];
