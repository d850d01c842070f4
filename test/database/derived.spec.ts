import { randomUUID } from 'node:crypto';
import { feedbackRow, homeworkRow, type Row, SchemaFixture } from '../support/database/schema-fixture.js';
import { fixture } from '../support/process/fixture.js';

const schema = await fixture(SchemaFixture.create());

describe('what the database derives', () => {
  let school: string;
  let other: string;

  beforeEach(async () => {
    [school, other] = [await schema.organization(), await schema.organization()];
  });

  async function organizationOf(table: string, id: string): Promise<unknown> {
    return (await schema.all(`SELECT organization_id FROM ${table} WHERE id = $1`, [id]))[0]?.organization_id;
  }

  function group(owner: string | null, tutor: string | null = null): Promise<string> {
    const row = { id: randomUUID(), owner_organization_id: owner, tutor_id: tutor, name: 'Group' };
    return schema.insert(school, 'student_groups', row);
  }

  /** A tutor in both organizations, so authorship alone does not decide. */
  async function busyTutor(): Promise<string> {
    const user = await schema.member(school, 'tutor');
    return schema.member(other, 'tutor', { user });
  }

  function teaches(organization_id: string, tutor_id: string, student_id: string, more: Row = {}): Promise<string> {
    return schema.insert(organization_id, 'tutor_students', {
      id: randomUUID(),
      organization_id,
      tutor_id,
      student_id,
      ...more,
    });
  }

  describe('homework', () => {
    it('belongs to the organization of its classroom first, then of its group', async () => {
      const tutor = await schema.member(school, 'tutor');
      const classroom_id = await schema.insert(other, 'classrooms', {
        id: randomUUID(),
        organization_id: other,
        name: 'Room',
      });
      const group_id = await group(school);
      const inClassroom = homeworkRow(tutor, { classroom_id, group_id });
      expect(await organizationOf('homework', await schema.insert(other, 'homework', inClassroom))).toBe(other);
      const inGroup = homeworkRow(await busyTutor(), { group_id });
      expect(await organizationOf('homework', await schema.insert(school, 'homework', inGroup))).toBe(school);
    });

    it('belongs to the organization in which the author teaches the student', async () => {
      const [tutor, student] = [await busyTutor(), await schema.member(school, 'student')];
      await teaches(school, tutor, student);
      const id = await schema.insert(school, 'homework', homeworkRow(tutor, { student_id: student }));
      expect(await organizationOf('homework', id)).toBe(school);
      // A group that nobody sees does not decide, so the next rule applies.
      const hidden = await group(null, tutor);
      const further = homeworkRow(tutor, { student_id: student, group_id: hidden });
      expect(await organizationOf('homework', await schema.insert(school, 'homework', further))).toBe(school);
    });

    it('belongs to the writing organization if the author teaches the student in several', async () => {
      const [tutor, student] = [await busyTutor(), await schema.member(school, 'student')];
      await schema.member(other, 'student', { user: student });
      for (const organization of [school, other]) await teaches(organization, tutor, student);
      for (const organization of [school, other]) {
        const id = await schema.insert(organization, 'homework', homeworkRow(tutor, { student_id: student }));
        expect(await organizationOf('homework', id)).toBe(organization);
      }
      const third = await schema.organization();
      const id = await schema.insert(third, 'homework', homeworkRow(tutor, { student_id: student }));
      expect(await organizationOf('homework', id)).toBeNull();
    });

    it('does not belong to an organization in which the author had stopped teaching the student', async () => {
      const [tutor, student] = [await busyTutor(), await schema.member(school, 'student')];
      await teaches(school, tutor, student, { status: 'archived', archived_at: '2026-02-01T00:00:00Z' });
      const late = homeworkRow(tutor, { student_id: student, created_at: '2026-03-01T00:00:00Z' });
      expect(await organizationOf('homework', await schema.insert(school, 'homework', late))).toBeNull();
      const early = homeworkRow(tutor, { student_id: student, created_at: '2026-01-01T00:00:00Z' });
      expect(await organizationOf('homework', await schema.insert(school, 'homework', early))).toBe(school);
    });

    it('belongs to the only organization of its author, and to none if there are several', async () => {
      const tutor = await schema.member(school, 'tutor');
      await schema.member(other, 'tutor', { user: tutor, status: 'pending' });
      const id = await schema.insert(school, 'homework', homeworkRow(tutor));
      expect(await organizationOf('homework', id)).toBe(school);
      await schema.setStatus(other, tutor, 'accepted');
      expect(await organizationOf('homework', await schema.insert(school, 'homework', homeworkRow(tutor)))).toBeNull();
      // A derived organization does not change.
      await schema.as(school, `UPDATE homework SET title = 'New', organization_id = NULL WHERE id = $1`, [id]);
      expect(await organizationOf('homework', id)).toBe(school);
    });
  });

  describe('feedback', () => {
    it("belongs to its session's organization, or else to the writing one", async () => {
      const tutor = await schema.member(school, 'tutor');
      const session_id = await schema.session(school);
      const ofSession = await schema.insert(school, 'session_feedback', feedbackRow(tutor, { session_id }));
      expect(await organizationOf('session_feedback', ofSession)).toBe(school);
      const claimed = feedbackRow(tutor, { organization_id: other });
      const ofWriter = await schema.insert(school, 'session_feedback', claimed);
      expect(await organizationOf('session_feedback', ofWriter)).toBe(school);
      const foreign = schema.insert(other, 'session_feedback', feedbackRow(tutor, { session_id }));
      await expect(foreign).rejects.toMatchObject({ code: '42501' });
    });

    it('never has an organization if it is legacy', async () => {
      const tutor = await schema.member(school, 'tutor');
      const row = feedbackRow(tutor, { legacy: true, session_id: await schema.session(school) });
      const id = await schema.insert(school, 'session_feedback', row);
      expect(await organizationOf('session_feedback', id)).toBeNull();
      await schema.all('UPDATE session_feedback SET organization_id = $2 WHERE id = $1', [id, school]);
      expect(await organizationOf('session_feedback', id)).toBeNull();
    });

    it('knows whether there is a comment to read', async () => {
      const tutor = await schema.member(school, 'tutor');
      for (const [comment, expected] of [
        [null, false],
        [' \n\t', false],
        ['Good', true],
      ] as const) {
        const id = await schema.insert(school, 'session_feedback', feedbackRow(tutor, { comment }));
        const [row] = await schema.all('SELECT has_comment FROM session_feedback WHERE id = $1', [id]);
        expect(row?.has_comment).toBe(expected);
      }
    });
  });

  describe('groups', () => {
    it('belong to their owner', async () => {
      const tutor = await busyTutor();
      const id = await group(school, tutor);
      await schema.setStatus(school, tutor, 'archived');
      expect(await organizationOf('student_groups', id)).toBe(school);
      await schema.as(school, `UPDATE student_groups SET name = 'New', organization_id = NULL WHERE id = $1`, [id]);
      expect(await organizationOf('student_groups', id)).toBe(school);
    });

    it("follow their tutor's memberships if nobody owns them", async () => {
      const tutor = await schema.member(school, 'tutor');
      const id = await group(null, tutor);
      expect(await organizationOf('student_groups', id)).toBe(school);
      await schema.member(other, 'tutor', { user: tutor, status: 'pending' });
      expect(await organizationOf('student_groups', id)).toBe(school);
      await schema.setStatus(other, tutor, 'accepted');
      expect(await organizationOf('student_groups', id)).toBeNull();
      await schema.setStatus(other, tutor, 'archived');
      expect(await organizationOf('student_groups', id)).toBe(school);
      await schema.setStatus(school, tutor, 'archived');
      expect(await organizationOf('student_groups', id)).toBeNull();
      await schema.setStatus(other, tutor, 'accepted');
      expect(await organizationOf('student_groups', id)).toBe(other);
      await schema.as(other, 'DELETE FROM members WHERE user_id = $1', [tutor]);
      expect(await organizationOf('student_groups', id)).toBeNull();
    });
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
    expect([await code('ART'), await code('Art'), await code('art!')]).toEqual(['art', 'art_2', 'art_3']);
    expect([await code('数学'), await code('物理')]).toEqual(['subject', 'subject_2']);
    expect(await code('Physics', { code: 'phys_1' })).toBe('phys_1');
    expect(await code('a '.repeat(100))).toBe('a_'.repeat(45).slice(0, -1));
    await expect(code('Biology', { code: 'Bio' })).rejects.toMatchObject({ code: '23514' });
    await expect(code('Biology', { code: 'phys_1' })).rejects.toMatchObject({ code: '23505' });
  });
});
