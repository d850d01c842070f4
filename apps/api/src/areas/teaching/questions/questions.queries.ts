import sql, { raw } from 'sql-template-tag';
import {
  type Caller, flag, instant, integer, kinds, like, list, nullable, parameter, Source, text, texts, uuid, View,
} from '../../../http/kit.js'; // prettier-ignore

const { parse, schema } = kinds.text({ min: 1, max: 100 });
const sourceName = { parse, schema: { ...schema, examples: ['own', 'vcaa'] } };

const OWN = ({ organizationId }: Caller) => sql`q.organization_id = ${organizationId}`;
const CATALOGUES = sql`q.organization_id IS NULL`;

/** The organization's own questions, and those of catalogues, which are the same for all. */
export const QUESTIONS = list({
  id: 'list_questions',
  path: 'v1/questions',
  summary: 'Lists questions, newest first',
  description: 'The organization’s own questions, and those of the catalogues that the operator has imported for all.',
  view: new View('Question', {
    id: uuid('q.id'),
    source: nullable(text(`coalesce(q.catalogue, 'own')`, 'own')),
    topic: nullable(text('q.topic', 'Quadratics')),
    tags: texts('q.tags', { type: 'string', examples: ['exam'] }),
    intro_text: nullable(text('q.intro_text', 'Complete the square: x² + 6x + 2.')),
    is_official_vce: nullable(flag('q.is_official_vce')),
    is_current_study_design: nullable(flag('q.is_current_study_design')),
    question_number: nullable(integer('q.question_number', { examples: [4] })),
    total_marks: nullable(integer('q.total_marks', { examples: [3] })),
    owned_by_org: nullable(flag('q.organization_id IS NOT NULL')),
    author_id: like(nullable(uuid('q.author_id')), null),
    created_at: nullable(instant('q.created_at')),
  }),
  source: new Source('questions', 'q', { shared: true }),
  parameters: [
    parameter('source', sourceName, '`own` for the organization’s, or the name of a catalogue; without it, both.', {
      where: (name, _alias, caller) => (name === 'own' ? OWN(caller) : sql`${CATALOGUES} AND q.catalogue = ${name}`),
    }),
    parameter('topic', kinds.text({ min: 1, max: 200 }), 'Only questions on this topic, as it is spelled.', {
      column: 'topic',
      comparison: 'equals',
    }),
    parameter('curriculum_level_id', kinds.uuid, 'Only questions of this curriculum level.', {
      where: (id, alias) => sql`${raw(alias)}.curriculum_level_ids @> ARRAY[${id}::uuid]`,
    }),
  ],
});
