import { flag, instant, integer, like, nullable, oneOf, text, texts, uuid, View } from '../../http/kit.js';

/** From the login once the person has accepted; until then, as the organization supplied it. */
const FIRST = `coalesce(u.first_name, m.supplied_first_name, p.supplied_first_name)`;
const LAST = `coalesce(u.last_name, m.supplied_last_name, p.supplied_last_name)`;
const NAME = `${FIRST} || ' ' || ${LAST}`;
const INITIALS = `${FIRST} || ' ' || left(${LAST}, 1) || '.'`;

const rating = like(integer('f.rating', { minimum: 1, maximum: 5 }), 5);

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
