import { PeopleFixture } from '../../support/data/provisioning.js';
import { TestApi } from '../../support/http/api.js';

type Shown = { id: string; comment: string | null; reviewer_name: string | null };
let a: PeopleFixture;
let b: PeopleFixture;
/** Teaches in both organizations. */
let tutor: string;

const api = await TestApi.shared();
const { make } = api;

beforeEach(async () => {
  [a, b] = [await PeopleFixture.open(api, make), await PeopleFixture.open(api, make)];
  const person = await make.tutor(a.id);
  await make.tutor(b.id, { user: person });
  tutor = person.id;
});

async function list(path: string, key: string): Promise<Shown[]> {
  const answer = await api.get(path, key);
  expect(answer.status).toBe(200);
  return (answer.body as { data: Shown[] }).data;
}

const feedback = async (key: string, query = ''): Promise<string[]> => (await list(`/v1/session-feedback${query}`, key)).map(({ id }) => id);

const reviews = async (key: string, query = ''): Promise<string[]> => (await list(`/v1/tutors/${tutor}/reviews${query}`, key)).map(({ id }) => id);

describe('feedback', () => {
  it('belongs to the organization it was submitted in, even if the tutor also teaches elsewhere', async () => {
    const [inA, inB] = [await make.feedback(a.id, tutor), await make.feedback(b.id, tutor)];
    expect(await feedback(a.key)).toEqual([inA.id]);
    expect(await feedback(b.key)).toEqual([inB.id]);
  });

  it('belongs to the organization of its session, whichever organization records it', async () => {
    const session = await make.session(a.id, { tutorId: tutor });
    const { id } = await make.feedback(b.id, tutor, { sessionId: session.id });
    expect(await feedback(a.key)).toEqual([id]);
    expect(await feedback(b.key)).toEqual([]);
  });

  it('stays with its organization when the tutor leaves', async () => {
    const { id } = await make.feedback(a.id, tutor);
    await make.query(`UPDATE members SET status = 'archived' WHERE organization_id = $1`, [a.id]);
    await make.query('UPDATE session_feedback SET organization_id = $2 WHERE id = $1', [id, b.id]);
    expect(await feedback(a.key)).toEqual([id]);
    expect(await feedback(b.key)).toEqual([]);
  });

  it('without an organization is visible to nobody', async () => {
    const session = await make.session(a.id, { tutorId: tutor });
    const legacy = { legacy: true, sessionId: session.id, comment: 'Splendid', isPublic: true };
    const old = await make.feedback(a.id, tutor, legacy);
    await make.query('UPDATE session_feedback SET organization_id = $2 WHERE id = $1', [old.id, a.id]);
    const { id } = await make.feedback(a.id, tutor, { ...legacy, legacy: false });
    expect(await feedback(a.key)).toEqual([id]);
    expect(await feedback(b.key)).toEqual([]);
    expect(await reviews(a.key)).toEqual([id]);
  });

  it('is listed public or private, with or without a comment, unless public_only is set', async () => {
    const hidden = await make.feedback(a.id, tutor, { isPublic: false, comment: 'Just between us' });
    const open = await make.feedback(a.id, tutor, { isPublic: true });
    expect(await feedback(a.key)).toEqual([open.id, hidden.id]);
    expect(await feedback(a.key, '?public_only=true')).toEqual([open.id]);
    expect(await feedback(a.key, '?public_only=false')).toEqual([open.id, hidden.id]);
  });
});

describe('reviewers', () => {
  /** The reviewer's names on one feedback, full and anonymized, in both lists. */
  async function namesOf(firstName: string, lastName: string): Promise<(string | null)[]> {
    const { id: reviewerId } = await make.student(a.id, { user: { firstName, lastName } });
    await make.feedback(a.id, tutor, { reviewerId, comment: 'Good', isPublic: true });
    const paths = ['/v1/session-feedback', `/v1/tutors/${tutor}/reviews`];
    const queries = ['', '?anonymize=false', '?anonymize=true', '?anonymize=1'];
    const shown = paths.flatMap((path) => queries.map((query) => list(path + query, a.key)));
    return (await Promise.all(shown)).map(([newest]) => newest!.reviewer_name);
  }

  it.each([
    ['Mia', 'Nguyen', 'Mia N.'],
    ['Anne Marie', 'de Vries', 'Anne Marie d.'],
    ['Björk', 'Ólafsdóttir', 'Björk Ó.'],
    ['小', '明', '小 明.'],
    ['Max', '𝒵urich', 'Max 𝒵.'],
  ])('are named "%s %s", or "%s" when anonymized', async (first, last, anonymized) => {
    const whole = `${first} ${last}`;
    const expected = [whole, whole, anonymized, anonymized];
    expect(await namesOf(first, last)).toEqual([...expected, ...expected]);
  });

  it('who are unknown have no name', async () => {
    await make.feedback(a.id, tutor, { reviewerId: null, comment: 'Good', isPublic: true });
    for (const path of ['/v1/session-feedback', `/v1/tutors/${tutor}/reviews`]) {
      for (const query of ['', '?anonymize=true']) {
        expect(await list(path + query, a.key)).toMatchObject([{ reviewer_name: null }]);
      }
    }
  });

  it('cannot be identified from an anonymized list', async () => {
    const { id, email } = await make.student(a.id, { user: { firstName: 'Zuleika', lastName: 'Quartermaine' } });
    await make.feedback(a.id, tutor, { reviewerId: id, comment: 'Good', isPublic: true });
    for (const path of ['/v1/session-feedback', `/v1/tutors/${tutor}/reviews`]) {
      const { text } = await api.get(`${path}?anonymize=true`, a.key);
      expect(text).toContain('Zuleika Q.');
      for (const trace of ['Quartermaine', id, email]) expect(text).not.toContain(trace);
    }
  });
});

describe('a tutor’s reviews', () => {
  it('are public feedback with a written comment, submitted in this organization', async () => {
    const written = { isPublic: true, comment: 'Explains it until it clicks.' };
    const shown = await make.feedback(a.id, tutor, written);
    await make.feedback(b.id, tutor, written);
    await make.feedback(a.id, tutor, { ...written, isPublic: false });
    for (const comment of [null, '', ' ', '   \t', '\n\r\n']) await make.feedback(a.id, tutor, { ...written, comment });
    const other = await make.tutor(a.id);
    await make.feedback(a.id, other.id, written);
    expect(await reviews(a.key)).toEqual([shown.id]);
    expect((await feedback(a.key)).length).toBe(8);
  });

  it('return 404 for people who are not staff here, and none for staff without a profile', async () => {
    const teachesElsewhere = await make.tutor(b.id);
    await make.feedback(a.id, teachesElsewhere.id, { isPublic: true, comment: 'Was here once' });
    const strangers = [teachesElsewhere, await make.student(a.id), await make.user()];
    for (const { id } of strangers) {
      for (const query of ['', '?cursor=start', '?offset=5']) {
        const answer = await api.get(`/v1/tutors/${id}/reviews${query}`, a.key);
        expect(answer.status).toBe(404);
        expect(answer.body).toMatchObject({ error: { code: 'not_found' } });
      }
    }
    expect((await api.get(`/v1/tutors/${teachesElsewhere.id}/reviews`, b.key)).status).toBe(200);
    // Whoever the list of tutors shows has the pages below it.
    for (const role of ['owner', 'admin', 'tutor'] as const) {
      const { id } = await make.member(a.id, { role });
      expect((await api.get(`/v1/tutors/${id}/reviews`, a.key)).body).toEqual({ data: [], meta: { limit: 20, offset: 0, count: 0 } });
      expect((await api.get(`/v1/tutors/${id}/reviews`, b.key)).status).toBe(404);
    }
  });
});
