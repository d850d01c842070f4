import { flag, instant, integer, nullable, oneOf, text, texts, uuid } from '../../http/views/columns.js';
import { View } from '../../http/views/view.js';

const NAME = `reviewer.first_name || ' ' || reviewer.last_name`;
const INITIALS = `reviewer.first_name || ' ' || left(reviewer.last_name, 1) || '.'`;

const rating = integer('f.rating', { minimum: 1, maximum: 5 });

/** Names are attributed from the reviewer's login, whole or as "First L.". */
function feedback(name: string) {
  return new View('SessionFeedback', {
    id: uuid('f.id'),
    session_id: nullable(uuid('f.session_id')),
    tutor_id: nullable(uuid('f.tutor_id')),
    rating,
    recommend: nullable(flag('f.recommend')),
    prepared: nullable(flag('f.prepared')),
    positive_tags: texts('f.positive_tags', { type: 'string', examples: ['patient'] }),
    improve_tags: texts('f.improve_tags', { type: 'string', examples: ['pace'] }),
    comment: nullable(text('f.comment', 'Explains it until it clicks.')),
    is_public: flag('f.is_public'),
    reviewer_role: nullable(oneOf('f.reviewer_role', ['student', 'parent', 'tutor'])),
    reviewer_name: nullable(text(name, 'Mia Nguyen')),
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

export const feedbackView = { named: feedback(NAME), anonymized: feedback(INITIALS) };
export const reviewView = { named: review(NAME), anonymized: review(INITIALS) };
