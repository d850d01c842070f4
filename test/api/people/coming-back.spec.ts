import sql, { raw } from 'sql-template-tag';
import { Database } from '@app/database';
import { send } from '../../support/http/routes.js';
import { ana, newAddress, type PeopleFixture, person, refusedAt } from '../../support/data/provisioning.js';
import { JoinFixture, STUDENT } from '../../support/portal/join-fixture.js';
import { PASSWORD } from '../../support/portal/portal.js';
import { Visitor } from '../../support/portal/visitor.js';

const joining = await JoinFixture.shared();
const { make } = joining.portal;
let school: PeopleFixture;

beforeEach(async () => {
  school = await joining.provisioning();
});

interface Known {
  id: string;
  email: string;
}

const PATHS = { student: '/v1/students', tutor: '/v1/tutors', parent: '/v1/parents' } as const;
type Role = keyof typeof PATHS;

/** Somebody of the organization whose login was made by it, and used since or not. */
async function added(role: Role, used: boolean): Promise<Known> {
  const email = newAddress();
  const { status, body } = await school.post(PATHS[role], person({ email }));
  expect(status).toBe(201);
  const { id } = body as Known;
  if (role === 'parent') await school.link(id, (await make.student(school.id)).id);
  if (used) await joining.portal.setPassword(id);
  return { id, email };
}

const leave = async (role: Role, id: string) => expect((await school.post(`${PATHS[role]}/${id}/offboard`, {})).status).toBe(200);

async function leaveThemselves(id: string): Promise<void> {
  const visitor = new Visitor(joining.portal, await joining.portal.session(id));
  expect((await visitor.post(`/organizations/${school.id}/leave`)).status).toBe(303);
}

const rename = (id: string) => make.query(`UPDATE users SET first_name = 'Renamed', phone = '0499' WHERE id = $1`, [id]);
const shown = async (role: Role, id: string) =>
  (
    await make.query(`SELECT status FROM ${role === 'parent' ? 'parents' : 'members'} WHERE organization_id = $1 AND user_id = $2`, [school.id, id])
  )[0];

type Door = [name: string, open: (email: string) => Promise<{ status: number }>];
const doors: Record<Role, Door[]> = {
  student: [
    ['POST /v1/students', (email) => school.post('/v1/students', person({ email }))],
    ['bulk-invite', (email) => school.post('/v1/users/bulk-invite', { users: [{ type: 'student', ...person({ email }) }] })],
  ],
  tutor: [
    ['POST /v1/tutors', (email) => school.post('/v1/tutors', person({ email }))],
    ['bulk-invite', (email) => school.post('/v1/users/bulk-invite', { users: [{ type: 'tutor', ...person({ email }) }] })],
  ],
  parent: [
    ['POST /v1/parents', (email) => school.post('/v1/parents', person({ email }))],
    ['the parent of a new student', (email) => school.post('/v1/students', person({ parent: ana({ email }) }))],
  ],
};
const every = Object.entries(doors).flatMap(([role, all]) => all.map(([name, open]) => [role as Role, name, open] as const));

describe('whoever has left', () => {
  it.each(every)('comes back as a %s by %s only as pending if they have used their login, and shown as they were', async (role, _name, open) => {
    const { id, email } = await added(role, true);
    await leave(role, id);
    await rename(id);
    expect((await open(email)).status).toBeLessThan(300);
    expect(await shown(role, id)).toEqual({ status: 'pending' });
    if (role === 'parent') await school.link(id, (await make.student(school.id)).id);
    const found = await school.seen(PATHS[role], id);
    expect(found).toMatchObject({ first_name: 'Mia', last_name: 'Nguyen', email, status: 'pending' });
    expect((await joining.api.get(`/v1/users?email=${email}`, school.key)).body).toMatchObject({ id, first_name: 'Mia' });
    expect((await joining.api.get('/v1/users?phone=0499', school.key)).status).toBe(404);
  });

  it.each(every)('comes back as a %s by %s at once if nobody has used the login that only this organization made', async (role, _name, open) => {
    const { id, email } = await added(role, false);
    await leave(role, id);
    expect((await open(email)).status).toBeLessThan(300);
    expect(await shown(role, id)).toEqual({ status: 'accepted' });
  });

  it('is seen again once they accept, without what they had', async () => {
    const { id, email } = await added('student', true);
    const { id: tutor } = await make.tutor(school.id);
    await make.tutorStudent(school.id, tutor, id);
    await make.query('UPDATE users SET email_verified_at = now() WHERE id = $1', [id]);
    await leave('student', id);
    await rename(id);
    await school.post('/v1/students', person({ email }));
    const visitor = new Visitor(joining.portal, await joining.portal.session(id));
    expect((await visitor.post(`/organizations/${school.id}/accept`)).status).toBe(303);
    expect(await school.seen('/v1/students', id)).toMatchObject({ first_name: 'Renamed', status: 'accepted' });
    expect(await make.query('SELECT status FROM tutor_students WHERE student_id = $1', [id])).toEqual([{ status: 'archived' }]);
  });

  it('as a parent whose last link ended comes back with a link, pending if they have used their login', async () => {
    for (const used of [true, false]) {
      const { id } = await added('parent', used);
      const [link] = await make.query<{ student_id: string }>('SELECT student_id FROM parent_students WHERE parent_id = $1', [id]);
      const child = link!.student_id;
      const unlinked = await send(joining.api, 'DELETE', `/v1/parents/${id}/students/${child}`, { Authorization: `Token token=${school.key}` });
      expect(unlinked.status).toBe(204);
      await rename(id);
      await school.link(id, child);
      const status = used ? 'pending' : 'accepted';
      expect(await school.seen('/v1/parents', id)).toMatchObject({ status, first_name: used ? 'Mia' : 'Renamed' });
    }
  });

  it('cannot be let in by a process that forgets to ask', async () => {
    const { id } = await added('student', true);
    await leave('student', id);
    const db = joining.api.app.get(Database);
    const accept = (sets: string) =>
      db.transaction({ organizationId: school.id }, () => db.query(sql`UPDATE members SET ${raw(sets)} WHERE user_id = ${id}`));
    for (const sets of [`status = 'accepted'`, `status = 'accepted', accepted_at = '2020-01-01'`])
      for (let times = 0; times < 10; times++) await expect(accept(sets)).rejects.toThrow('only this person can accept');
    await accept(`accepted_at = '2020-01-01'`);
    expect(await make.query('SELECT accepted_at FROM members WHERE user_id = $1', [id])).toEqual([{ accepted_at: null }]);
  });
});

describe('whoever left by themselves or declined', () => {
  const asked = async (email: string) =>
    (await school.queued()).filter(
      ({ kind, recipient }) => recipient === email && ['membership_invite', 'account_created', 'organization_invite'].includes(kind),
    ).length;
  const later = async (days: number) => {
    await make.query(`UPDATE outbox SET created_at = created_at - $2 * interval '1 day' WHERE organization_id = $1`, [school.id, days]);
    for (const table of ['members', 'parents'])
      await make.query(`UPDATE ${table} SET refused_at = refused_at - $2 * interval '1 day' WHERE organization_id = $1`, [school.id, days]);
    await make.query(`UPDATE members SET invited_at = invited_at - $2 * interval '1 day' WHERE organization_id = $1`, [school.id, days]);
    await make.query(`UPDATE invites SET declined_at = declined_at - $2 * interval '1 day' WHERE organization_id = $1 AND declined_at IS NOT NULL`, [
      school.id,
      days,
    ]);
  };
  const waysToAsk: Door[] = [
    ['POST /v1/students', (email) => school.post('/v1/students', person({ email }))],
    ['bulk-invite', (email) => school.post('/v1/users/bulk-invite', { users: [{ type: 'student', ...person({ email }) }] })],
    ['POST /v1/invites', (email) => school.post('/v1/invites', { ...STUDENT, email })],
  ];

  it.each(waysToAsk)('is asked at most once in 30 days by %s', async (_name, ask) => {
    const { id, email } = await added('student', true);
    await leaveThemselves(id);
    await later(2);
    const before = await asked(email);
    await ask(email);
    expect(await asked(email)).toBe(before + 1);
    for (const [, other] of waysToAsk) {
      await later(2);
      await other(email);
      await school.post(`/v1/students/${id}/send-invite`);
    }
    expect(await asked(email)).toBe(before + 1);
    await later(31);
    await ask(email);
    expect(await asked(email)).toBe(before + 2);
  });

  it('is asked no more often after declining an invite to an address that has no account', async () => {
    const email = newAddress();
    const secret = await joining.invite(school, { ...STUDENT, email });
    expect((await new Visitor(joining.portal).post(`/join/${secret}/decline`)).status).toBe(303);
    for (let times = 0; times < 3; times++) {
      await later(2);
      await joining.invite(school, { ...STUDENT, email });
    }
    expect(await asked(email)).toBe(2);
  });

  it('whom the organization removed is asked like anybody', async () => {
    const { id, email } = await added('student', true);
    await leave('student', id);
    const before = await asked(email);
    for (let times = 0; times < 2; times++) {
      await later(2);
      await school.post('/v1/students', person({ email }));
    }
    expect(await asked(email)).toBe(before + 2);
  });
});

describe('POST for somebody known', () => {
  it.each(Object.keys(PATHS) as Role[])('is 200 with the %s if accepted or pending, 201 if archived, 422 with another role', async (role) => {
    for (const elsewhere of [false, true]) {
      const email = newAddress();
      if (elsewhere) await make.student((await joining.provisioning()).id, { user: { email } });
      const first = await school.post(PATHS[role], person({ email }));
      const again = await school.post(PATHS[role], person({ email, first_name: 'Other' }));
      expect([first.status, again.status, again.body]).toEqual([201, 200, first.body]);
      const { id } = first.body as Known;
      const other = role === 'student' ? 'parent' : 'student';
      expect(refusedAt(await school.post(PATHS[other], person({ email })))).toEqual(['body.email']);
      if (role === 'parent') await school.link(id, (await make.student(school.id)).id);
      await leave(role, id);
      expect((await school.post(PATHS[role], person({ email }))).status).toBe(201);
    }
  });

  it('refuses a parent for a known student, and adds a child without an address of their own', async () => {
    const email = newAddress();
    const first = await school.post('/v1/students', person({ email }));
    const parent = ana();
    expect(refusedAt(await school.post('/v1/students', person({ first_name: 'Ben', email, parent })))).toEqual(['body.parent']);
    const ben = await school.post('/v1/students', person({ first_name: 'Ben', email: undefined, parent }));
    expect([ben.status, ben.body]).toMatchObject([201, { first_name: 'Ben', email: null, placeholder_email: true }]);
    const { id } = ben.body as Known;
    expect(id).not.toBe((first.body as Known).id);
    await leave('student', id);
    expect(await school.seen('/v1/students', id)).toMatchObject({ first_name: 'Ben', email: null, placeholder_email: true });
  });
});

it('an invite accepted twice at once lets both see the welcome', async () => {
  const email = newAddress();
  await school.post('/v1/invites', { ...STUDENT, email });
  const { token, proof } = await joining.mail(email);
  const visitor = new Visitor(joining.portal);
  await visitor.get(`/join/${token}?proof=${proof}`);
  const form = { first_name: 'Mia', last_name: 'Nguyen', password: PASSWORD };
  const both = await Promise.all([visitor.post(`/join/${token}`, form), visitor.post(`/join/${token}`, form)]);
  expect(both.map(({ status, headers }) => [status, headers.location])).toEqual([
    [303, '/join/done'],
    [303, '/join/done'],
  ]);
  expect((await visitor.follow(both[1])).text).toContain('Welcome');
  // Neither another password nor another person does.
  const stranger = new Visitor(joining.portal);
  expect((await stranger.post(`/join/${token}`, { ...form, password: 'another long password' })).status).toBe(410);
  expect((await stranger.post(`/join/${token}`)).status).toBe(410);
});
