import { hash, uuidFrom } from './random.js';
import type { Row } from './rows.js';
import { TEXTS } from './texts.js';

/** The name of the demo's catalogue of questions, which all organizations can read. */
export const SAMPLE_CATALOGUE = 'sample';

const SALT = hash(`catalogue ${SAMPLE_CATALOGUE}`, 0);
const WRITTEN = Date.UTC(2024, 0, 1);

/** The same rows for every seed, because the catalogue belongs to no organization. */
export function sampleQuestions(): (Row & { id: string })[] {
  return TEXTS.questions.map(({ topic, text, marks, tags }, index) => ({
    id: uuidFrom(SALT, index, WRITTEN + index * 1_000),
    topic,
    tags,
    intro_text: text,
    is_current_study_design: true,
    question_number: index + 1,
    total_marks: marks,
    created_at: new Date(WRITTEN + index * 1_000).toISOString(),
  }));
}
