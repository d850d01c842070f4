import { newAddress, type PeopleFixture } from '../../support/data/provisioning.js';
import { acting } from '../../support/portal/acting.js';
import { JoinFixture, newcomer, STUDENT, TUTOR } from '../../support/portal/join-fixture.js';
import { PASSWORD } from '../../support/portal/portal.js';
import { fixture } from '../../support/process/fixture.js';

const ALLOWANCE = 8;
const PER_DAY = 5;

let school: PeopleFixture;
let child: { id: string };

const desk = await fixture(JoinFixture.open({ CONFIRMATION_MAILS_PER_DAY: String(ALLOWANCE), INVITE_MAILS_PER_DAY: String(PER_DAY) }));
const { sql } = desk;
const { make } = desk.portal;

beforeEach(async () => {
  school = await desk.provisioning();
  child = await make.student(school.id);
});

const decider = { userId: null, requestId: 'request-9' };
const approve = (id: string, as: 'member' | 'parent') => acting(desk.portal, school.id, decider).approve(id, as);
const decline = (id: string, as: 'member' | 'parent') => acting(desk.portal, school.id, decider).decline(id, as);

/** A code of each scope that has one, and what it leads to. */
const CODES: Record<string, { wish: () => Promise<object>; places: number | null }> = {
  'a parent’s': { wish: () => Promise.resolve({ scope: 'parent', student_id: child.id }), places: 2 },
  'a classroom’s': { wish: async () => ({ scope: 'classroom', classroom_id: (await make.classroom(school.id)).id }), places: 40 },
  'a group’s': { wish: async () => ({ scope: 'group', group_id: (await make.group(school.id)).id }), places: 40 },
  'a tutor’s': { wish: async () => ({ scope: 'tutor_student', tutor_id: (await make.tutor(school.id)).id }), places: 40 },
  'a student’s': { wish: () => Promise.resolve(STUDENT), places: null },
  'a tutor’s to the organization': { wish: () => Promise.resolve(TUTOR), places: null },
};

/** Somebody with an account joins: without a password to hash, many can. */
const join = async (code: string, who?: string) => desk.accept(code, null, { signedInAs: who ?? (await desk.person()).id });
const joinMany = async (code: string, most: number) => {
  const people = await make.rows(
    'users',
    Array.from({ length: most }, () => ({})),
  );
  for (const { id } of people) expect(await desk.accept(code, null, { signedInAs: id })).toMatchObject({ status: 'joined' });
  return people.map(({ id }) => id);
};
const mails = (kind: string) => sql<{ recipient: string }>('SELECT recipient FROM outbox WHERE organization_id = $1 AND kind = $2', school.id, kind);
const linked = async (id: string) => (await sql('SELECT FROM parent_students WHERE organization_id = $1 AND parent_id = $2', school.id, id)).length;
const statusOf = async (id: string) =>
  (await sql<{ status: string }>('SELECT status FROM members WHERE organization_id = $1 AND user_id = $2', school.id, id))[0]?.status;

describe.each(Object.entries(CODES))('%s code', (_, { wish, places }) => {
  it(`has ${places ?? 'any number of'} places, and none more under 20 racers`, async () => {
    const code = await desk.invite(school, await wish());
    expect(await sql('SELECT places FROM invites WHERE organization_id = $1 ORDER BY created_at DESC LIMIT 1', school.id)).toEqual([{ places }]);
    if (places === null) return;
    await sql('UPDATE invites SET places = 2 WHERE organization_id = $1', school.id);
    const racers = await Promise.all(Array.from({ length: 20 }, () => desk.person()));
    const outcomes = await Promise.all(racers.map(({ id }) => join(code, id)));
    const inside = racers.filter((_, index) => outcomes[index]!.status === 'joined');
    expect(inside).toHaveLength(2);
    for (const outcome of outcomes) if (outcome.status === 'refused') expect(outcome.problem).toBe('full');
    // Whoever is inside may open the code again, and whoever leaves makes room.
    expect(await join(code, inside[0]!.id)).toMatchObject({ status: 'joined' });
    for (const table of ['members', 'parents'])
      await sql(`UPDATE ${table} SET status = 'archived' WHERE organization_id = $1 AND user_id = $2`, school.id, inside[0]!.id);
    expect(await join(code)).toMatchObject({ status: 'joined' });
    expect(await join(code)).toMatchObject({ problem: 'full' });
  });
});

describe('a parent by a code', () => {
  const asParent = () => desk.invite(school, { scope: 'parent', student_id: child.id });
  const seen = async (id: string) => (await desk.api.get(`/v1/parents/${id}`, school.key)).status;

  it('waits, sees nothing and is not seen, whatever they confirm; approval links the child', async () => {
    const admin = await make.member(school.id, { role: 'admin' });
    const email = newAddress();
    const code = await asParent();
    const { userId } = (await desk.accept(code, null, newcomer(email))) as { userId: string };
    const { token, proof } = await desk.mail(email);
    const waits = async () => {
      expect([await seen(userId), await linked(userId)]).toEqual([404, 0]);
      const visitor = await desk.signedIn(userId);
      expect((await visitor.get('/organizations')).text).toContain('Demo Tutoring</strong> is checking your request');
      expect((await desk.api.get(`/v1/students/${child.id}`, school.key)).body).toMatchObject({ parent_ids: [] });
    };
    await waits();
    expect(await desk.accept(token, proof, { password: PASSWORD })).toMatchObject({ verified: true, waits: true });
    await waits();
    expect(await join(code, userId)).toMatchObject({ waits: true });
    await waits();
    expect((await mails('approval_request')).map(({ recipient }) => recipient)).toEqual([admin.email]);
    const other = await desk.provisioning();
    await expect(acting(desk.portal, other.id, decider).approve(userId, 'parent')).rejects.toMatchObject({
      why: { kind: 'not_found' },
    });
    await expect(approve(userId, 'member')).rejects.toThrow();
    const both = await Promise.allSettled([approve(userId, 'parent'), approve(userId, 'parent')]);
    expect(both.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect((await desk.api.get(`/v1/parents/${userId}`, school.key)).body).toMatchObject({ student_ids: [child.id], status: 'accepted' });
    expect(await mails('approval_given')).toHaveLength(1);
  });

  it('asks again for each child, and again for one they were unlinked from', async () => {
    const code = await asParent();
    const { id } = await desk.person();
    await join(code, id);
    await approve(id, 'parent');
    const second = await make.student(school.id);
    const more = await desk.invite(school, { scope: 'parent', student_id: second.id });
    expect([await join(more, id), await linked(id)]).toEqual([expect.objectContaining({ waits: true }), 1]);
    await decline(id, 'parent');
    expect((await desk.api.get(`/v1/parents/${id}`, school.key)).body).toMatchObject({ student_ids: [child.id], status: 'accepted' });
    await sql('DELETE FROM parent_students WHERE organization_id = $1 AND parent_id = $2', school.id, id);
    expect([await join(code, id), await linked(id)]).toEqual([expect.objectContaining({ waits: true }), 0]);
  });

  it('that was declined or removed gets nothing of it any more', async () => {
    const [code, { id }] = [await asParent(), await desk.person()];
    await expect(decline(id, 'parent')).rejects.toMatchObject({ why: { kind: 'not_found' } });
    await join(code, id);
    await decline(id, 'parent');
    await expect(approve(id, 'parent')).rejects.toMatchObject({ why: { state: 'decided' } });
    expect([await join(code, id), await linked(id)]).toEqual([{ status: 'refused', problem: 'archived' }, 0]);
    const removed = await desk.person();
    await join(code, removed.id);
    expect((await school.post(`/v1/parents/${removed.id}/offboard`, {})).status).toBe(200);
    await expect(approve(removed.id, 'parent')).rejects.toMatchObject({ why: { state: 'decided' } });
    const late = await desk.person();
    await join(code, late.id);
    expect((await school.post(`/v1/students/${child.id}/offboard`, {})).status).toBe(200);
    await expect(approve(late.id, 'parent')).rejects.toMatchObject({ why: { state: 'decided' } });
  });

  it('that somebody made with another’s address loses their request when the address is proven', async () => {
    const email = newAddress();
    const id = await desk.joined(await asParent(), null, newcomer(email));
    await sql(`SELECT set_config('app.organization_id', '', false)`);
    expect((await sql<{ done: boolean }>('SELECT take_login($1, $2, $3, false) AS done', id, email, 'x'))[0]!.done).toBe(true);
    await expect(approve(id, 'parent')).rejects.toMatchObject({ why: { state: 'decided' } });
  });
});

it('what an unknown manager opened or could read ends when somebody else takes their login over', async () => {
  const { id, email } = await make.member(school.id, { role: 'admin' });
  const other = await make.member(school.id, { role: 'owner' });
  const keyOf = async (by: string, name: string) => {
    const key = await desk.api.key(school.id, { name, scopes: ['read', 'accounts:write'] });
    await sql('UPDATE api_keys SET created_by = $1 WHERE organization_id = $2 AND name = $3', by, school.id, name);
    return key;
  };
  const [theirs, kept] = [await keyOf(id, 'theirs'), await keyOf(other.id, 'kept')];
  const invite = async (key: string, wish: object) => (await school.send('post', '/v1/invites', wish, { key })).body as { id: string };
  const { id: classroom_id } = await make.classroom(school.id);
  const ended = [await invite(theirs, STUDENT), await invite(kept, { scope: 'classroom', classroom_id })];
  const [held, open] = [await invite(theirs, { ...STUDENT, email: newAddress() }), await invite(kept, { ...STUDENT, email: newAddress() })];
  await sql(`SELECT set_config('app.organization_id', '', false)`);
  expect((await sql<{ done: boolean }>('SELECT take_login($1, $2, $3, false) AS done', id, email, 'x'))[0]!.done).toBe(true);
  const me = async (key: string) => (await desk.api.get('/v1/me', key)).status;
  expect([await me(theirs), await me(kept)]).toEqual([401, 200]);
  const states = await sql<{ id: string; revoked: boolean; held: boolean }>(
    `SELECT id, revoked_at IS NOT NULL AS revoked, held_at IS NOT NULL AS held FROM invites WHERE organization_id = $1`, school.id,
  ); // prettier-ignore
  const stateOf = (one: { id: string }) => states.find((row) => row.id === one.id);
  for (const one of ended) expect(stateOf(one)).toMatchObject({ revoked: true });
  expect([stateOf(held), stateOf(open)]).toMatchObject([
    { held: true, revoked: false },
    { held: false, revoked: false },
  ]);
});

it('at most 50 tutors wait in an organization, and the next is told so', async () => {
  const [first, second] = [await desk.invite(school, TUTOR), await desk.invite(school, TUTOR)];
  const waiting = await joinMany(first, 30);
  await joinMany(second, 19);
  const racers = await Promise.all(Array.from({ length: 10 }, () => desk.person()));
  const outcomes = await Promise.all(racers.map(({ id }, index) => join(index % 2 ? first : second, id)));
  expect(outcomes.filter(({ status }) => status === 'joined')).toHaveLength(1);
  expect(outcomes.filter((outcome) => outcome.status === 'refused' && outcome.problem === 'crowded')).toHaveLength(9);
  expect(await join(second, waiting[0])).toMatchObject({ waits: true });
  await decline(waiting[0]!, 'member');
  expect(await join(first)).toMatchObject({ waits: true });
});

it('more than 60 students an hour by one code wait, of which owners are mailed once; approval gives them their place', async () => {
  const owner = await make.member(school.id, { role: 'owner' });
  await make.member(school.id, { role: 'admin' });
  const { id: classroom } = await make.classroom(school.id);
  const code = await desk.invite(school, { scope: 'classroom', classroom_id: classroom });
  await sql('UPDATE invites SET places = 1000 WHERE organization_id = $1', school.id);
  const students = await joinMany(code, 75);
  const statuses = await Promise.all(students.map(statusOf));
  expect([statuses.slice(0, 60).every((status) => status === 'accepted'), statuses.slice(60).every((status) => status === 'pending')]).toEqual([
    true,
    true,
  ]);
  const inClass = () => sql('SELECT FROM classroom_members WHERE classroom_id = $1', classroom);
  expect(await inClass()).toHaveLength(60);
  expect((await mails('code_flooded')).map(({ recipient }) => recipient)).toEqual([owner.email]);
  expect(await mails('approval_request')).toEqual([]);
  const [last] = students.slice(-1);
  await approve(last!, 'member');
  expect([await statusOf(last!), (await inClass()).length]).toEqual(['accepted', 61]);
  // An invite to the address implies approval.
  const known = await desk.person();
  expect(await join(code, known.id)).toMatchObject({ waits: true });
  await join(await desk.invite(school, { ...STUDENT, email: known.email }), known.id);
  expect([await statusOf(known.id), (await inClass()).length]).toEqual(['accepted', 62]);
  // An hour later the burst is over, for the code and for the mail.
  await sql(`UPDATE joins SET joined_at = joined_at - interval '1 hour' WHERE organization_id = $1`, school.id);
  expect(await join(code)).toMatchObject({ waits: false });
  expect(await join(await desk.invite(school, STUDENT))).toMatchObject({ waits: false });
});

it('confirmations to people who join have an allowance of their own', async () => {
  const code = await desk.invite(school, STUDENT);
  const outcomes = [];
  for (let more = 0; more < ALLOWANCE + 2; more++) {
    const { id } = await make.user({ email: newAddress() });
    outcomes.push(await join(code, id));
  }
  const mailed = (outcomes as { confirmationMailed: boolean }[]).filter(({ confirmationMailed }) => confirmationMailed);
  expect(mailed).toHaveLength(ALLOWANCE);
  const invite = async () => (await school.post('/v1/invites', { ...STUDENT, email: newAddress() })).body as { emailed: boolean };
  for (let more = 0; more < PER_DAY; more++) expect(await invite()).toMatchObject({ emailed: true });
  expect(await invite()).toMatchObject({ emailed: false });
});
