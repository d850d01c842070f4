import { type Answer, newAddress, type PeopleFixture, studentRow } from '../../support/data/provisioning.js';
import { acting } from '../../support/portal/acting.js';
import { JoinFixture, registration, STUDENT } from '../../support/portal/join-fixture.js';
import { PASSWORD } from '../../support/portal/portal.js';
import type { Visitor } from '../../support/portal/visitor.js';

let provisioning: PeopleFixture;

const desk = await JoinFixture.shared();
const { sql } = desk;
beforeEach(async () => {
  provisioning = await desk.provisioning();
});

/** A target of invites: how its page names it, and what the API shows afterwards. */
interface Kind {
  as: string;
  /** Creates the target. @returns the body of the invite, and the name on its page */
  make: () => Promise<{ wish: object; named: string; target?: string }>;
  /** Whether the person belongs to what the invite was for. */
  belongs: (id: string, target: string) => Promise<boolean>;
}

const isListed = async (path: string, id: string) => (await provisioning.seen(path, id))?.status === 'accepted';

const KINDS: Record<string, Kind> = {
  'an organization, as a student': {
    as: 'Student',
    make: () => Promise.resolve({ wish: STUDENT, named: 'Demo Tutoring' }),
    belongs: (id) => isListed('/v1/students', id),
  },
  'a classroom': {
    as: 'Student',
    make: async () => {
      const { id, name } = await provisioning.make.classroom(provisioning.id, { name: 'Year 9 Algebra' });
      return { wish: { scope: 'classroom', classroom_id: id }, named: name, target: id };
    },
    belongs: async (id, target) => {
      const seats = await sql('SELECT FROM classroom_members WHERE classroom_id = $1 AND user_id = $2', target, id);
      return seats.length === 1 && (await isListed('/v1/students', id));
    },
  },
  'a group': {
    as: 'Student',
    make: async () => {
      const { id } = await provisioning.make.group(provisioning.id, { name: 'Tuesday readers' });
      return { wish: { scope: 'group', group_id: id }, named: 'Tuesday readers', target: id };
    },
    belongs: async (id, target) => {
      const answer: Answer = await desk.api.get(`/v1/student-groups/${target}`, provisioning.key);
      return (answer.body as { student_ids: string[] }).student_ids.includes(id) && (await isListed('/v1/students', id));
    },
  },
  'a tutor': {
    as: 'Student',
    make: async () => {
      const { id } = await provisioning.make.tutor(provisioning.id, { user: { firstName: 'Grace', lastName: 'Hopper' } });
      return { wish: { scope: 'tutor_student', tutor_id: id }, named: 'Grace Hopper', target: id };
    },
    belongs: async (id, target) => {
      const pairs = await sql('SELECT FROM tutor_students WHERE tutor_id = $1 AND student_id = $2', target, id);
      return pairs.length === 1 && (await isListed('/v1/students', id));
    },
  },
  'a child': {
    as: 'Parent',
    make: async () => {
      const { id } = await provisioning.make.student(provisioning.id, { user: { firstName: 'Tim', lastName: 'Canary' } });
      return { wish: { scope: 'parent', student_id: id }, named: 'Tim', target: id };
    },
    belongs: async (id, target) => {
      const answer: Answer = await desk.api.get(`/v1/parents/${id}`, provisioning.key);
      const { student_ids, status } = answer.body as { student_ids: string[]; status: string };
      return status === 'accepted' && student_ids.includes(target);
    },
  },
};

const idOf = async (email: string) => (await sql<{ id: string }>('SELECT id FROM users WHERE email_normalized = $1', email))[0]!.id;

/** Checks that joining signed the person in. @returns the page that welcomes them */
async function welcomed(visitor: Visitor, answer: { status: number; headers: Record<string, string> }): Promise<string> {
  expect([answer.status, answer.headers.location]).toEqual([303, '/join/done']);
  const welcome = await visitor.get('/join/done');
  expect(welcome.status).toBe(200);
  expect((await visitor.get('/account')).status).toBe(200);
  return welcome.text;
}

/** Parents by a code wait. */
const approve = (id: string) => acting(desk.portal, provisioning.id, { userId: null, requestId: 'request-2' }).approve(id, 'parent');

describe.each(Object.entries(KINDS))('an invite to %s', (name, kind) => {
  it.each([true, false])('is accepted by a new person (addressed to them: %s)', async (addressed) => {
    const { wish, named, target = '' } = await kind.make();
    const email = newAddress();
    const secret = await desk.invite(provisioning, addressed ? { ...wish, email } : wish);
    const visitor = desk.visitor();
    const shown = await visitor.get(`/join/${secret}`);
    expect(shown.status).toBe(200);
    for (const text of ['Join Demo Tutoring', kind.as, named, 'Valid until', 'Accept and join']) {
      expect(shown.text).toContain(text);
    }
    expect(shown.text).not.toContain('Canary');
    expect(shown.text.includes(`value="${email}"`)).toBe(addressed);
    const accepted = await visitor.post(`/join/${secret}`, registration(addressed ? undefined : email));
    const waits = name === 'a child' && !addressed;
    expect(await welcomed(visitor, accepted)).toContain(waits ? 'Waiting for approval' : 'Welcome to Demo Tutoring');
    const id = await idOf(email);
    if (waits) await approve(id);
    expect(await kind.belongs(id, target)).toBe(true);
    const audited = await sql(`SELECT * FROM audit_log WHERE organization_id = $1 AND operation = 'join'`, provisioning.id);
    expect(audited).toMatchObject([{ details: { user_id: id, scope: (wish as { scope: string }).scope, role: kind.as.toLowerCase() } }]);
    expect(JSON.stringify(audited)).not.toMatch(/Mia|Nguyen|person-|correct horse/);
    expect((await desk.visitor().get(`/join/${secret}`)).status).toBe(addressed ? (secret.length === 12 ? 404 : 410) : 200);
  });

  it('is accepted by a signed-in person, whose session is renewed', async () => {
    const { wish, target = '' } = await kind.make();
    const { id, email } = await desk.person();
    const visitor = await desk.signedIn(id);
    const before = visitor.cookies.get('session');
    const secret = await desk.invite(provisioning, wish);
    const shown = await visitor.get(`/join/${secret}`);
    expect(shown.text).toContain(email);
    expect(shown.text).not.toContain('type="password"');
    await welcomed(visitor, await visitor.post(`/join/${secret}`));
    expect(visitor.cookies.get('session')).not.toBe(before);
    if (name === 'a child') await approve(id);
    expect(await kind.belongs(id, target)).toBe(true);
  });

  it('is accepted after a sign-in that returns to it', async () => {
    const { wish, target = '' } = await kind.make();
    const { id, email } = await desk.person();
    const secret = await desk.invite(provisioning, { ...wish, email });
    const visitor = desk.visitor();
    const shown = await visitor.get(`/join/${secret}`);
    expect(shown.text).toContain('Sign in to accept');
    expect(shown.text).not.toContain(email);
    expect((await visitor.post(`/join/${secret}`, registration())).status).toBe(200);
    expect(await kind.belongs(id, target).catch(() => false)).toBe(false);
    const next = /href="\/sign-in\?next=([^"]+)"/.exec(shown.text)![1]!;
    const signedIn = await visitor.post('/sign-in', { email, password: PASSWORD, next });
    expect(signedIn.headers.location).toBe(`/join/${secret}`);
    await welcomed(visitor, await visitor.post(`/join/${secret}`));
    expect(await kind.belongs(id, target)).toBe(true);
  });
});

describe('an account', () => {
  it('that was provisioned gets its password through the mailed link, which proves the address', async () => {
    const email = newAddress();
    const { id } = await provisioning.inviteOne(studentRow({ email }));
    const { token, proof } = await desk.mail(email);
    const visitor = desk.visitor();
    const shown = await visitor.follow(await visitor.get(`/join/${token}?proof=${proof}`));
    expect(shown.text).toContain('Your account at Demo Tutoring');
    const welcome = await welcomed(visitor, await visitor.post(`/join/${token}`, { password: PASSWORD }));
    expect(welcome).not.toContain('Confirm your address');
    const [login] = await sql('SELECT email_verified_at IS NOT NULL AS verified FROM users WHERE id = $1', id);
    expect(login).toEqual({ verified: true });
    const again = await desk.visitor().post('/sign-in', { email, password: PASSWORD });
    expect(again.headers.location).toBe('/');
  });

  it('is confirmed by the link mailed after registration, with the same password', async () => {
    const email = newAddress();
    const code = await desk.invite(provisioning, STUDENT);
    const visitor = desk.visitor();
    const welcome = await welcomed(visitor, await visitor.post(`/join/${code}`, registration(email)));
    expect(welcome).toContain(`We have sent a link to <strong>${email}`);
    const { token, proof, kind } = await desk.mail(email);
    expect(kind).toBe('join_confirmation');
    await visitor.get(`/join/${token}?proof=${proof}`);
    const confirmed = await welcomed(visitor, await visitor.post(`/join/${token}`, { password: PASSWORD }));
    expect(confirmed).not.toContain('Confirm your address');
  });
});

describe('the form', () => {
  it('shows the error at each field and keeps the input, except the password', async () => {
    const code = await desk.invite(provisioning, STUDENT);
    const wrong = [
      [{ first_name: ' ' }, 'Enter your first name'],
      [{ first_name: '\u200b' }, 'Enter your first name'],
      [{ last_name: '\u3164\u2800' }, 'Enter your last name'],
      [{ last_name: 'x'.repeat(201) }, 'Enter your last name'],
      [{ email: '' }, 'Enter your email address'],
      [{ email: 'nobody' }, 'Enter a valid email address'],
      [{ password: 'short' }, 'Use at least 10 characters'],
    ] as const;
    for (const [change, said] of wrong) {
      const answer = await desk.visitor().post(`/join/${code}`, { ...registration('mia@example.org'), ...change });
      expect(answer.status).toBe(422);
      expect(answer.text).toContain(said);
      expect(answer.text).toContain('aria-invalid="true"');
      expect(answer.text.includes('value="Nguyen"')).toBe(!('last_name' in change));
      expect(answer.text).not.toContain(PASSWORD);
    }
    expect(await provisioning.list('/v1/students')).toEqual([]);
  });

  it('asks a person whose address has an account to sign in, whatever the password', async () => {
    const { email } = await desk.person();
    const code = await desk.invite(provisioning, STUDENT);
    const answer = await desk.visitor().post(`/join/${code}`, { ...registration(email), password: 'another password' });
    expect(answer.status).toBe(409);
    expect(answer.text).toContain('You already have an account');
    expect(answer.text).toContain(`/sign-in?next=/join/${code}`);
    expect(await provisioning.list('/v1/students')).toEqual([]);
  });

  it('shares its limit of password attempts with the sign-in', async () => {
    const { email } = await desk.person();
    const code = await desk.invite(provisioning, STUDENT);
    const visitor = desk.visitor();
    const statuses: number[] = [];
    for (let attempt = 0; attempt < 6; attempt++) {
      statuses.push((await visitor.post('/sign-in', { email, password: `wrong ${attempt}` })).status);
      statuses.push((await visitor.post(`/join/${code}`, { ...registration(email), password: `wrong ${attempt} too` })).status);
    }
    expect(statuses.slice(0, 10)).not.toContain(429);
    expect(statuses.slice(10)).toEqual([429, 429]);
  });
});
