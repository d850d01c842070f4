import { randomUUID } from 'node:crypto';
import { type Row, SchemaFixture } from '../support/database/schema-fixture.js';
import { fixture } from '../support/process/fixture.js';

const schema = await fixture(SchemaFixture.create());

/** Which organization homework, feedback and groups belong to is shown by test/api/tenancy/visibility-*.spec.ts. */
describe('what the database derives', () => {
  let school: string;

  beforeEach(async () => {
    school = await schema.organization();
  });

  it('enrols a parent from the first link until the last one is deleted', async () => {
    const parent = await schema.parent(school);
    const children = [await schema.member(school, 'student'), await schema.member(school, 'student')];
    const enrolled = async (): Promise<unknown> => (await schema.all('SELECT enrolled_at FROM parents WHERE user_id = $1', [parent]))[0]?.enrolled_at;
    const link = (student_id: string | undefined, linked_at: string): Promise<string> =>
      schema.insert(school, 'parent_students', { organization_id: school, parent_id: parent, student_id, linked_at });
    const unlink = (student: string | undefined): Promise<Row[]> => schema.as(school, 'DELETE FROM parent_students WHERE student_id = $1', [student]);

    expect(await enrolled()).toBeNull();
    await link(children[0], '2026-02-02T00:00:00Z');
    expect(await enrolled()).toEqual(new Date('2026-02-02'));
    await link(children[1], '2026-03-03T00:00:00Z');
    expect(await enrolled()).toEqual(new Date('2026-02-02'));
    await unlink(children[0]);
    expect(await enrolled()).toEqual(new Date('2026-02-02'));
    await unlink(children[1]);
    expect(await enrolled()).toBeNull();
    await link(children[0], '2026-04-04T00:00:00Z');
    expect(await enrolled()).toEqual(new Date('2026-04-04'));
    const second = await schema.parent(school);
    await schema.as(school, 'UPDATE parent_students SET parent_id = $1 WHERE parent_id = $2', [second, parent]);
    expect(await enrolled()).toBeNull();
  });

  it('the code of a subject, from its name, unless it is given', async () => {
    const code = async (name: string, more: Row = {}): Promise<unknown> => {
      const id = await schema.insert(school, 'subjects', { id: randomUUID(), organization_id: school, name, ...more });
      return (await schema.all('SELECT code FROM subjects WHERE id = $1', [id]))[0]?.code;
    };
    expect(await code('Methods 3/4')).toBe('methods_34');
    expect(await code('  Zoë’s – Chemistry')).toBe('zoes_chemistry');
    expect([await code('ART'), await code('Art.'), await code('art!')]).toEqual(['art', 'art_2', 'art_3']);
    expect([await code('数学'), await code('物理')]).toEqual(['subject', 'subject_2']);
    expect(await code('Physics', { code: 'phys_1' })).toBe('phys_1');
    expect(await code('a '.repeat(100))).toBe('a_'.repeat(45).slice(0, -1));
    await expect(code('Biology', { code: 'Bio' })).rejects.toMatchObject({ code: '23514' });
    await expect(code('Biology', { code: 'phys_1' })).rejects.toMatchObject({ code: '23505' });
  });
});
