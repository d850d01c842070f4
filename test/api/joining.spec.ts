import { Joining, type Joiner, OpenedInvites } from '@app/accounts';
import { TestApi } from '../support/http/api.js';
import { Factories } from '../support/data/factories.js';
import { mailsTo, tokenOf } from '../support/worker/mailbox.js';
import { newAddress, Office, studentRow } from '../support/data/provisioning.js';

let api: TestApi;
let make: Factories;
let office: Office;

const PASSWORD = 'correct horse battery';
const NAMES = { firstName: 'Mia', lastName: 'Nguyen' };

beforeAll(async () => {
  api = await TestApi.start({ SMTP_URL: 'smtp://127.0.0.1:1' });
  make = await Factories.connect(api.database);
});

beforeEach(async () => {
  office = await Office.open(api, make);
});

afterAll(async () => {
  await make.close();
  await api.stop();
});

const accept = (secret: string, proof: string | null, who: Joiner) =>
  api.app.get(Joining).accept(secret, proof, who, 'request-1');
const newcomer = (email = newAddress()) => ({ email, password: PASSWORD, ...NAMES });

async function invite(wish: object): Promise<string> {
  const { status, body } = await office.post('/v1/invites', wish);
  if (status !== 201) throw new Error(`invites answered ${status}: ${JSON.stringify(body)}`);
  return (body as { token: string }).token;
}

async function joined(secret: string, proof: string | null, who: Joiner): Promise<string> {
  const outcome = await accept(secret, proof, who);
  if (outcome.status !== 'joined') throw new Error(outcome.problem);
  return outcome.userId;
}

describe('joining', () => {
  it('an organization makes the member, and the profile of a tutor', async () => {
    for (const [role, path] of [
      ['student', '/v1/students'],
      ['tutor', '/v1/tutors'],
    ]) {
      const email = newAddress();
      const id = await joined(await invite({ scope: 'organization', role, email }), null, newcomer(email));
      expect(await office.seen(path!, id)).toMatchObject({ first_name: 'Mia', email, status: 'accepted' });
    }
    const admin = newAddress();
    const id = await joined(
      await invite({ scope: 'organization', role: 'admin', email: admin }),
      null,
      newcomer(admin),
    );
    expect(await make.query('SELECT role, status FROM members WHERE user_id = $1', [id])).toEqual([
      { role: 'admin', status: 'accepted' },
    ]);
  });

  it('a classroom or group gives a place in it', async () => {
    const classroom = await make.classroom(office.id);
    const group = await make.group(office.id);
    const inRoom = await joined(await invite({ scope: 'classroom', classroom_id: classroom.id }), null, newcomer());
    expect(
      await make.query('SELECT user_id, role FROM classroom_members WHERE classroom_id = $1', [classroom.id]),
    ).toEqual([{ user_id: inRoom, role: 'student' }]);
    const inGroup = await joined(await invite({ scope: 'group', group_id: group.id }), null, newcomer());
    expect((await api.get(`/v1/student-groups/${group.id}`, office.key)).body).toMatchObject({
      student_ids: [inGroup],
    });
    expect((await office.list('/v1/students')).map(({ id }) => id).sort()).toEqual([inRoom, inGroup].sort());
  });

  it('a tutor gives the relation, with its subject', async () => {
    const tutor = await make.tutor(office.id);
    const subject = await make.subject(office.id);
    const link = await invite({ scope: 'tutor_student', tutor_id: tutor.id, subject_id: subject.id });
    const id = await joined(link, null, newcomer());
    await joined(link, null, { signedInAs: id });
    expect(await make.query('SELECT tutor_id, student_id, subject_id, status FROM tutor_students')).toEqual([
      { tutor_id: tutor.id, student_id: id, subject_id: subject.id, status: 'active' },
    ]);
  });

  it('a child gives the link of its parent', async () => {
    const child = await make.student(office.id);
    const id = await joined(await invite({ scope: 'parent', student_id: child.id }), null, newcomer());
    expect((await api.get(`/v1/parents/${id}`, office.key)).body).toMatchObject({
      student_ids: [child.id],
      status: 'accepted',
    });
    expect(await office.list('/v1/students')).toHaveLength(1);
  });

  it('an account that was provisioned confirms it', async () => {
    const email = newAddress();
    const { id } = await office.inviteOne(studentRow({ email }));
    const [mail] = await mailsTo(api, make, email);
    expect(await accept(mail!.token, mail!.proof, { password: PASSWORD })).toMatchObject({
      status: 'joined',
      userId: id,
      created: false,
      verified: true,
    });
  });

  it('leaves an audit row without names or secrets', async () => {
    const email = newAddress();
    const token = await invite({ scope: 'organization', role: 'student', email });
    const id = await joined(token, null, newcomer(email));
    const [row] = await make.query(`SELECT * FROM audit_log WHERE operation = 'join' AND organization_id = $1`, [
      office.id,
    ]);
    expect(row).toMatchObject({
      request_id: 'request-1',
      details: { user_id: id, scope: 'organization', role: 'student' },
    });
    expect(JSON.stringify(row)).not.toMatch(/Mia|Nguyen|person-|correct horse/);
  });
});

describe('an invite', () => {
  it('to one person serves once, however many accept at the same time', async () => {
    const email = newAddress();
    const token = await invite({ scope: 'organization', role: 'student', email });
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => accept(token, null, newcomer(email))));
    expect(outcomes.filter(({ status }) => status === 'joined')).toHaveLength(1);
    for (const outcome of outcomes) if (outcome.status === 'refused') expect(outcome.problem).toBe('accepted');
    expect(await office.list('/v1/students')).toHaveLength(1);
  });

  it('for everybody serves many, and takes codes as they are typed', async () => {
    const code = await invite({ scope: 'organization', role: 'student' });
    expect(code).toHaveLength(10);
    for (const typed of [code, ` ${code.slice(0, 5)}-${code.slice(5)} `, code.toLowerCase()]) {
      await joined(typed, null, newcomer());
    }
    expect(await office.list('/v1/students')).toHaveLength(3);
    expect(await accept(`${code}2`, null, newcomer())).toMatchObject({ problem: 'unknown' });
  });

  it('is looked at as often as anybody likes', async () => {
    const email = newAddress();
    const token = await invite({ scope: 'organization', role: 'student', email });
    const [{ proof }] = (await mailsTo(api, make, email)) as unknown as [{ proof: string }];
    const look = (shown: string | null) => api.app.get(OpenedInvites).look(token, shown);
    for (const shown of [null, proof, null]) {
      expect(await look(shown)).toMatchObject({
        state: 'valid',
        proven: shown === proof,
        email,
        needs: 'registration',
        organization: { name: 'Demo Tutoring' },
      });
    }
    await joined(token, proof, newcomer(email));
    expect(await look(null)).toMatchObject({ state: 'accepted', needs: 'sign_in' });
    expect(await api.app.get(OpenedInvites).look('unknown', null)).toBeNull();
  });

  it('that was revoked, has expired, or leads nowhere any more lets nobody in', async () => {
    for (const [state, sql] of [
      ['revoked', 'UPDATE invites SET revoked_at = now() WHERE organization_id = $1'],
      ['expired', 'UPDATE invites SET revoked_at = NULL, expires_at = now() WHERE organization_id = $1'],
    ] as const) {
      const code = await invite({ scope: 'organization', role: 'student' });
      await make.query(sql, [office.id]);
      expect(await accept(code, null, newcomer())).toEqual({ status: 'refused', problem: state });
    }
    const child = await make.student(office.id);
    const code = await invite({ scope: 'parent', student_id: child.id });
    await make.query(`UPDATE members SET status = 'archived' WHERE user_id = $1`, [child.id]);
    expect(await accept(code, null, newcomer())).toEqual({ status: 'refused', problem: 'gone' });
  });

  it('asks for names, a sound address and a password', async () => {
    const code = await invite({ scope: 'organization', role: 'student' });
    for (const [problem, wrong] of [
      ['name', { firstName: ' ' }],
      ['address', { email: 'nobody' }],
      ['address', { email: 'x@placeholder.invalid' }],
      ['password', { password: 'short' }],
    ] as const) {
      expect(await accept(code, null, { ...newcomer(), ...wrong })).toEqual({ status: 'refused', problem });
    }
    expect(await office.list('/v1/students')).toEqual([]);
  });

  it('is for nobody else', async () => {
    const email = newAddress();
    const token = await invite({ scope: 'organization', role: 'student', email });
    const other = await joined(await invite({ scope: 'organization', role: 'student' }), null, newcomer());
    expect(await accept(token, null, { signedInAs: other })).toEqual({ status: 'refused', problem: 'other_account' });
  });

  it('gives nobody a second role, and lets nobody back in by a code', async () => {
    const id = await joined(await invite({ scope: 'organization', role: 'student' }), null, newcomer());
    const asTutor = await invite({ scope: 'organization', role: 'tutor' });
    expect(await accept(asTutor, null, { signedInAs: id })).toEqual({ status: 'refused', problem: 'role' });
    await make.query(`UPDATE members SET status = 'archived' WHERE user_id = $1`, [id]);
    const code = await invite({ scope: 'organization', role: 'student' });
    expect(await accept(code, null, { signedInAs: id })).toEqual({ status: 'refused', problem: 'archived' });
  });
});

describe('a tutor who joins by a code', () => {
  it('waits until somebody approves, who is asked once', async () => {
    const admin = await make.member(office.id, { role: 'admin' });
    const code = await invite({ scope: 'organization', role: 'tutor' });
    const email = newAddress();
    const outcome = await accept(code, null, newcomer(email));
    expect(outcome).toMatchObject({ status: 'joined', waits: true });
    const { userId } = outcome as { userId: string };
    expect(await accept(code, null, { signedInAs: userId })).toMatchObject({ waits: true });
    expect((await mailsTo(api, make, admin.email)).map(({ kind }) => kind)).toEqual(['approval_request']);
    // Proving the address approves of nothing.
    const [confirmation] = await mailsTo(api, make, email);
    expect(await accept(confirmation!.token, confirmation!.proof, { password: PASSWORD })).toMatchObject({
      verified: true,
    });
    expect(await office.seen('/v1/tutors', userId)).toMatchObject({ first_name: 'Mia', email, status: 'pending' });
    const other = await Office.open(api, make);
    expect(await api.app.get(Joining).approve(other.id, userId)).toBe(false);
    expect(await api.app.get(Joining).approve(office.id, userId)).toBe(true);
    expect(await office.seen('/v1/tutors', userId)).toMatchObject({ status: 'accepted' });
  });

  it('does not when the invite was to the address', async () => {
    const email = newAddress();
    const outcome = await accept(await invite({ scope: 'organization', role: 'tutor', email }), null, newcomer(email));
    expect(outcome).toMatchObject({ status: 'joined', waits: false });
  });
});

describe('without a mail server', () => {
  it('a second organization takes a sign-in, since nothing can be proven', async () => {
    const silent = await TestApi.start({}, api.database);
    try {
      const [first, second] = [await Office.open(silent, make), await Office.open(silent, make)];
      const email = newAddress();
      const link = async (by: Office) => {
        const { body } = await by.post('/v1/invites', { scope: 'organization', role: 'student', email });
        return tokenOf((body as { join_url: string }).join_url);
      };
      const joining = silent.app.get(Joining);
      const made = await joining.accept(await link(first), null, newcomer(email), 'r');
      const token = await link(second);
      expect(await joining.accept(token, null, { password: 'not the password' }, 'r')).toMatchObject({
        problem: 'sign_in',
      });
      const { userId } = made as { userId: string };
      expect(await joining.accept(token, null, { signedInAs: userId }, 'r')).toMatchObject({ status: 'joined' });
      expect(await second.seen('/v1/students', userId)).toMatchObject({ status: 'accepted', email });
    } finally {
      await silent.app.close();
    }
  });
});
