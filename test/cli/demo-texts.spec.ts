import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type DemoOrganization, writeDemo } from '../../apps/cli/src/demo/demo.js';
import { remarksOn, tasksIn, TEXTS } from '../../apps/cli/src/demo/texts.js';

const SUBJECTS = [...new Set(TEXTS.organizations.flatMap(({ subjects }) => subjects))];
/** Words that belong to one kind of subject. */
const TERMS: [RegExp, string][] = [
  [/calculus|calculator|formula/i, 'mathematics'],
  [/practical report|reaction|forces/i, 'science'],
  [/essay|quote|paragraph/i, 'language'],
  [/source analysis|cases and dates/i, 'society'],
  [/pseudocode|algorithm\b|my program/i, 'computing'],
];

describe('the texts of the demo', () => {
  let folder: string;
  let schools: DemoOrganization[];
  const rows = (school: DemoOrganization, table: string): Record<string, string | null>[] =>
    readFileSync(join(school.folder, `${table}.ndjson`), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, string | null>);

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'tutoring-demo-texts-'));
    schools = await writeDemo({
      folder,
      students: 200,
      homework: 2_000,
      seed: 7,
      now: new Date('2026-05-06T05:00:00Z'),
    });
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  /** Expects no term of another kind of subject. */
  function expectFit(subject: string, text: string): void {
    for (const [term, field] of TERMS) {
      if (term.test(text)) expect([subject, text, TEXTS.fields[subject]]).toEqual([subject, text, field]);
    }
  }

  it('offer homework and remarks for every subject, rating and reviewer', () => {
    for (const subject of SUBJECTS) {
      for (const kind of ['exam', 'text'] as const) expect(tasksIn(subject, kind).length).toBeGreaterThan(2);
      for (const rating of [1, 2, 3, 4, 5]) {
        for (const by of ['student', 'parent'] as const) expect(remarksOn(subject, rating, by)).not.toEqual([]);
      }
    }
  });

  it('set homework in the subject of its classroom, group or student', () => {
    for (const school of schools) {
      const names = new Map(rows(school, 'subjects').map(({ id, name }) => [id, name!]));
      const subjectOf = new Map(
        [
          ...rows(school, 'classrooms').map(({ id, subject_id }) => [id, subject_id]),
          ...rows(school, 'student_groups').map(({ id, subject_id }) => [id, subject_id]),
          ...rows(school, 'tutor_students')
            .filter(({ subject_id }) => subject_id)
            .map(({ student_id, subject_id }) => [student_id, subject_id]),
        ].map(([id, subject]) => [id!, subject]),
      );
      let compared = 0;
      for (const { title, description, classroom_id, group_id, student_id } of rows(school, 'homework')) {
        const [subject] = title!.split(': ');
        expectFit(subject!, `${title} ${description}`);
        const expected = subjectOf.get((classroom_id ?? group_id ?? student_id)!);
        // The group that nobody sees has no subject.
        if (!expected) continue;
        expect([title, subject]).toEqual([title, names.get(expected)]);
        compared++;
      }
      expect(compared).toBeGreaterThan(400);
    }
  });

  it('review lessons in words that fit the subject and the reviewer', () => {
    for (const school of schools) {
      const names = new Map(rows(school, 'subjects').map(({ id, name }) => [id, name!]));
      const lessons = new Map(rows(school, 'sessions').map(({ id, subject_id }) => [id, names.get(subject_id)!]));
      const feedback = rows(school, 'session_feedback');
      expect(feedback.length).toBeGreaterThan(20);
      for (const { session_id, reviewer_role, comment } of feedback) {
        if (comment === null) continue;
        if (session_id) expectFit(lessons.get(session_id)!, comment!);
        if (reviewer_role === 'student') expect(comment).not.toMatch(/\b(our|we)\b/i);
        if (reviewer_role === 'parent') expect(comment).not.toMatch(/\b(I|me|my)\b/i);
      }
    }
  });
});
