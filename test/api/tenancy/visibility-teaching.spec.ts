import { PeopleFixture } from '../../support/data/provisioning.js';
import { TestApi } from '../../support/http/api.js';

/** Two organizations with a key each. */
let a: PeopleFixture;
let b: PeopleFixture;

const api = await TestApi.shared();
const { make } = api;

beforeEach(async () => {
  [a, b] = [await PeopleFixture.open(api, make), await PeopleFixture.open(api, make)];
});

/** Which organizations list the record. */
async function seenIn(path: string, id: string): Promise<string> {
  const [inA, inB] = await Promise.all(
    [a.key, b.key].map(async (key) => {
      const answer = await api.get(`${path}?limit=100`, key);
      expect(answer.status).toBe(200);
      return (answer.body as { data: { id: string }[] }).data.some((record) => record.id === id);
    }),
  );
  return inA && inB ? 'both' : inA ? 'a' : inB ? 'b' : 'nobody';
}

/** Which organizations can open the record. */
async function openedBy(path: string): Promise<string> {
  const [inA, inB] = await Promise.all([a.key, b.key].map(async (key) => (await api.get(path, key)).status === 200));
  return inA && inB ? 'both' : inA ? 'a' : inB ? 'b' : 'nobody';
}

describe('homework belongs to', () => {
  /** A tutor and a student who belong to both organizations, so that only the assignment decides. */
  async function pair(): Promise<{ tutor: string; student: string }> {
    const [tutor, student] = [await make.tutor(a.id), await make.student(a.id)];
    await make.tutor(b.id, { user: tutor });
    await make.student(b.id, { user: student });
    return { tutor: tutor.id, student: student.id };
  }

  it('the organization of its classroom, else of its group, else of its pair, rather than any other', async () => {
    const { tutor, student } = await pair();
    const [classroom, group] = [await make.classroom(a.id), await make.group(b.id)];
    await make.tutorStudent(b.id, tutor, student);
    const inRoom = { classroomId: classroom.id, groupId: group.id, studentId: student };
    expect(await seenIn('/v1/homework', (await make.homework(tutor, inRoom, b.id)).id)).toBe('a');
    const inGroup = { groupId: (await make.group(a.id)).id, studentId: student };
    expect(await seenIn('/v1/homework', (await make.homework(tutor, inGroup, b.id)).id)).toBe('a');
    const ofPair = { groupId: (await make.group(null, { tutorId: tutor })).id, studentId: student };
    expect(await seenIn('/v1/homework', (await make.homework(tutor, ofPair, a.id)).id)).toBe('b');
  });

  it('the organization that sets it when both have the pair', async () => {
    const { tutor, student } = await pair();
    for (const { id } of [a, b]) await make.tutorStudent(id, tutor, student);
    for (const [writing, seen] of [
      [a.id, 'a'],
      [b.id, 'b'],
      [undefined, 'nobody'],
    ] as const) {
      const homework = await make.homework(tutor, { studentId: student }, writing);
      expect(await seenIn('/v1/homework', homework.id)).toBe(seen);
    }
  });

  it('the only organization of its author, or nobody if there are several or none, or the pair had ended', async () => {
    const author = await make.tutor(a.id);
    await make.tutor(b.id, { user: author, status: 'pending' });
    expect(await seenIn('/v1/homework', (await make.homework(author.id)).id)).toBe('a');
    const { tutor, student } = await pair();
    const ended = { status: 'archived' as const, archivedAt: new Date('2026-01-01T00:00:00Z') };
    await make.tutorStudent(a.id, tutor, student, ended);
    const unowned = [await make.homework(tutor), await make.homework((await make.user()).id), await make.homework(tutor, { studentId: student })];
    for (const { id } of unowned) expect(await seenIn('/v1/homework', id)).toBe('nobody');
    const early = await make.homework(tutor, { studentId: student, createdAt: new Date('2025-12-01T00:00:00Z') });
    expect(await seenIn('/v1/homework', early.id)).toBe('a');
  });

  it('the organization it was created in, whatever changes later', async () => {
    const tutor = await make.tutor(a.id);
    const { id } = await make.homework(tutor.id);
    await make.tutor(b.id, { user: tutor });
    await make.query(`UPDATE members SET status = 'archived' WHERE organization_id = $1`, [a.id]);
    const classroom = await make.classroom(b.id);
    await make.query('UPDATE homework SET organization_id = $2 WHERE id = $1', [id, b.id]);
    const moved = make.query('UPDATE homework SET classroom_id = $2, organization_id = $3 WHERE id = $1', [id, classroom.id, b.id]);
    await expect(moved).rejects.toMatchObject({ code: '23503' });
    expect(await seenIn('/v1/homework', id)).toBe('a');
  });
});

describe('a group is visible to', () => {
  it('the organization that owns it, wherever its tutor is', async () => {
    const { id } = await make.group(a.id, { tutorId: (await make.tutor(b.id)).id });
    await make.query('UPDATE student_groups SET organization_id = NULL WHERE id = $1', [id]);
    expect(await openedBy(`/v1/student-groups/${id}`)).toBe('a');
  });

  it('nobody while its tutor has several organizations, and to one again when the tutor leaves the other', async () => {
    const tutor = await make.tutor(a.id);
    const { id } = await make.group(null, { tutorId: tutor.id });
    await make.tutor(b.id, { user: tutor, status: 'pending' });
    const path = `/v1/student-groups/${id}`;
    expect(await openedBy(path)).toBe('a');
    await make.query(`UPDATE members SET status = 'accepted' WHERE organization_id = $1`, [b.id]);
    expect(await openedBy(path)).toBe('nobody');
    await make.query(`UPDATE members SET status = 'archived' WHERE organization_id = $1`, [a.id]);
    expect(await openedBy(path)).toBe('b');
    for (const table of ['tutor_profiles', 'members']) await make.query(`DELETE FROM ${table} WHERE organization_id = $1`, [b.id]);
    expect(await openedBy(path)).toBe('nobody');
  });

  it('its organization with its students but not its tutors, in joining order', async () => {
    const { id } = await make.group(a.id);
    const early = await make.student(a.id);
    const late = await make.student(a.id);
    await make.groupMember(id, late.id, { createdAt: new Date('2026-03-02') });
    await make.groupMember(id, early.id, { createdAt: new Date('2026-03-01') });
    await make.groupMember(id, (await make.tutor(a.id)).id, { role: 'tutor' });
    const answer = await api.get(`/v1/student-groups/${id}`, a.key);
    expect(answer.body).toMatchObject({ id, student_ids: [early.id, late.id] });
  });
});

describe('a result is visible to', () => {
  const at = (id: string) => seenIn('/v1/results', id);

  it('each organization where the student has a session, whichever came first', async () => {
    const student = await make.student(a.id);
    const { id } = await make.result(student.id);
    expect(await at(id)).toBe('nobody');
    const session = await make.session(a.id, { studentId: student.id });
    expect(await at(id)).toBe('a');
    await make.student(b.id, { user: student });
    expect(await at(id)).toBe('a');
    await make.session(b.id, { studentId: student.id, status: 'cancelled' });
    expect(await at(id)).toBe('both');
    expect(await at((await make.result(student.id)).id)).toBe('both');
    await make.query('DELETE FROM sessions WHERE id = $1', [session.id]);
    expect(await at(id)).toBe('b');
  });

  it('the organization where the student takes part in someone else’s session', async () => {
    const student = await make.student(a.id);
    const { id } = await make.result(student.id);
    const session = await make.session(a.id);
    await make.participant(a.id, session.id, student.id);
    expect(await at(id)).toBe('a');
    await make.query('DELETE FROM lesson_participants WHERE session_id = $1', [session.id]);
    expect(await at(id)).toBe('nobody');
  });
});
