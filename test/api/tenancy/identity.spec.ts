import { randomBytes } from 'node:crypto';
import { Joining } from '@app/access';
import { SignIn } from '@app/people';
import { TestApi } from '../../support/http/api.js';
import { mailsTo, tokenOf } from '../../support/worker/mailbox.js';
import { newAddress, PeopleFixture, parentRow, type RowWish, studentRow, tutorRow } from '../../support/data/provisioning.js';
import { fixture } from '../../support/process/fixture.js';

let a: PeopleFixture;
let b: PeopleFixture;

const PASSWORD = 'correct horse battery';

const settings = { SMTP_URL: 'smtp://127.0.0.1:1', ENCRYPTION_KEY: randomBytes(32).toString('hex') };
const api = await fixture(TestApi.start(settings));
/** The same code with the database role of the portal, where people join. */
const portal = await fixture(TestApi.start({ ...settings, DATABASE_URL: api.database.portalUrl }, api.database));
const { make } = api;

beforeEach(async () => {
  [a, b] = [await PeopleFixture.open(api, make), await PeopleFixture.open(api, make)];
});

const change = (by: PeopleFixture, id: string, body: object) => by.send('patch', `/v1/students/${id}`, body);
const loginOf = async (address: string) =>
  (await make.query<{ id: string; email_verified_at: Date | null }>('SELECT * FROM users WHERE email_normalized = $1', [address.toLowerCase()]))[0];
const accept = (...[secret, proof, who]: [string, string | null, Parameters<Joining['accept']>[2]]) =>
  portal.app.get(Joining).accept(secret, proof, who, 'test');
const signIn = (address: string, password: string) => portal.app.get(SignIn).withPassword(address, password);
const newest = async (address: string) => (await mailsTo(api, make, address))[0]!;

/** The token of an invite to this address, as its organization receives it. */
async function inviteTo(by: PeopleFixture, email: string, wish: object = {}): Promise<string> {
  const { status, body } = await by.post('/v1/invites', { scope: 'organization', role: 'student', email, ...wish });
  if (status !== 201) throw new Error(`invites answered ${status}: ${JSON.stringify(body)}`);
  return (body as { token: string }).token;
}

/** A member of `by` who has verified the address. */
async function verifiedPerson(by: PeopleFixture, address: string): Promise<string> {
  await inviteTo(by, address);
  const { token, proof } = await newest(address);
  const joined = await accept(token, proof, { password: PASSWORD, firstName: 'Real', lastName: 'Person' });
  if (joined.status !== 'joined') throw new Error(joined.problem);
  return joined.userId;
}

describe('the address of a login', () => {
  const ties: [string, (email: string) => RowWish][] = [
    ['student', (email) => studentRow({ email })],
    ['tutor', (email) => tutorRow({ email })],
    ['parent', (email) => parentRow({ email })],
    ['parent of a student', (email) => studentRow({ parent: { first_name: 'Linh', last_name: 'Nguyen', email } })],
  ];

  it.each(ties)('cannot be changed while another organization asks it to be a %s, but the names can', async (_what, row) => {
    const [own, victims] = [newAddress(), newAddress()];
    const { id } = await a.inviteOne(studentRow({ email: own }));
    expect((await change(a, id!, { email: victims })).status).toBe(200);
    await b.invite(row(victims));
    expect((await change(a, id!, { email: own })).status).toBe(422);
    expect((await change(a, id!, { email: null })).status).toBe(422);
    for (const field of [{ first_name: 'Other' }, { phone: '1' }]) expect((await change(a, id!, field)).status).toBe(200);
    expect(await loginOf(victims)).toMatchObject({ id, first_name: 'Other' });
    // It asks for so long as an invite of its own does.
    for (const table of ['members', 'parents'])
      await make.query(`UPDATE ${table} SET created_at = created_at - interval '15 days' WHERE organization_id = $1`, [b.id]);
    await make.query(`UPDATE invites SET expires_at = now() WHERE organization_id = $1`, [b.id]);
    expect((await change(a, id!, { email: own })).status).toBe(200);
    for (const path of ['/v1/students', '/v1/tutors', '/v1/parents'])
      for (const { id: known, status } of await b.list(path)) if (known === id) expect(status).toBe('archived');
  });

  it.each([
    ['never accepted it', 'pending', 200],
    ['had accepted it', 'accepted', 422],
  ])('is changed when another organization has given up and the person %s: %s, %i', async (_what, status, expected) => {
    const [own, victims] = [newAddress(), newAddress()];
    const { id } = await a.inviteOne(studentRow({ email: victims }));
    await b.invite(studentRow({ email: victims }));
    await make.query('UPDATE members SET status = $2 WHERE organization_id = $1', [b.id, status]);
    expect((await b.post(`/v1/students/${id}/offboard`)).status).toBe(200);
    expect((await change(a, id!, { email: own })).status).toBe(expected);
    expect((await change(a, id!, { last_name: 'Other' })).status).toBe(expected);
  });

  it('revokes access for the former address and notifies both when it changes', async () => {
    const [former, next] = [newAddress(), newAddress()];
    const id = await verifiedPerson(a, former);
    // The same address gets another email only after ten minutes.
    await make.query(`UPDATE outbox SET created_at = created_at - interval '11 minutes' WHERE organization_id = $1`, [a.id]);
    await a.post(`/v1/students/${id}/send-invite`);
    const open = await newest(former);
    expect(await signIn(former, PASSWORD)).toMatchObject({ id, verified: true });
    expect((await change(a, id, { email: next })).status).toBe(200);
    expect(await loginOf(next)).toMatchObject({ id, email_verified_at: null });
    for (const address of [former, next]) expect(await signIn(address, PASSWORD)).toBeNull();
    expect(await accept(open.token, open.proof, { password: PASSWORD })).toMatchObject({ problem: 'revoked' });
    expect((await newest(former)).kind).toBe('address_changed');
    const confirmation = await newest(next);
    expect(confirmation).toMatchObject({ kind: 'address_confirmation', proof: expect.stringMatching(/^[\w-]{43}$/) as string });
    const another = 'another password';
    expect(await accept(confirmation.token, confirmation.proof, { password: another })).toMatchObject({ verified: true });
    expect(await signIn(next, another)).toMatchObject({ id, verified: true });
    expect(await accept(confirmation.token, confirmation.proof, { password: another })).toMatchObject({ problem: 'accepted' });
  });

  it('revokes other organizations’ invites to it when it changes', async () => {
    const [own, victims] = [newAddress(), newAddress()];
    const { id } = await a.inviteOne(studentRow({ email: victims }));
    await inviteTo(b, victims);
    const mail = await newest(victims);
    // An invite does not tie the login yet.
    expect((await change(a, id!, { email: own })).status).toBe(200);
    expect(await accept(mail.token, mail.proof, { password: PASSWORD })).toMatchObject({ problem: 'revoked' });
  });

  it('stays consistent when one organization changes it while another adds it', async () => {
    for (let round = 0; round < 20; round++) {
      const [own, victims] = [newAddress(), newAddress()];
      const { id } = await a.inviteOne(studentRow({ email: victims }));
      const [changed, tied] = await Promise.all([change(a, id!, { email: own }), b.inviteOne(studentRow({ email: victims }))]);
      const [at] = await make.query<{ email: string }>('SELECT email FROM users WHERE id = $1', [tied.id]);
      expect(at).toEqual({ email: victims });
      expect(changed.status).toBe(tied.id === id ? 422 : 200);
    }
  });
});

describe('a login that somebody else created first', () => {
  /** A creates the victim's login with its own password and books them into a session. */
  async function squat(victims: string): Promise<string> {
    const token = await inviteTo(a, victims);
    const joined = await accept(token, null, { password: 'the squatter’s', firstName: 'Supplied', lastName: 'Byasquatter' });
    expect(joined).toMatchObject({ status: 'joined', created: true, verified: false });
    const { userId } = joined as { userId: string };
    await make.session(a.id, { studentId: userId });
    return userId;
  }

  it('is taken over by whoever reads the email, and hidden from its creator', async () => {
    const victims = newAddress();
    const id = await squat(victims);
    await b.invite(studentRow({ email: victims }));
    const { token, proof } = await newest(victims);
    expect(await accept(token, proof, { password: PASSWORD, replaces: true })).toMatchObject({ status: 'joined', userId: id, verified: true });
    expect(await signIn(victims, 'the squatter’s')).toBeNull();
    expect(await signIn(victims, PASSWORD)).toMatchObject({ id, verified: true });
    const result = await make.result(id);
    await make.query(`UPDATE users SET first_name = 'Private' WHERE id = $1`, [id]);
    expect(await a.seen('/v1/students', id)).toMatchObject({ first_name: 'Supplied', email: victims, status: 'pending' });
    expect(await a.seen('/v1/results', result.id)).toBeUndefined();
    expect(await b.seen('/v1/students', id)).toMatchObject({ first_name: 'Private', status: 'accepted' });
  });

  it('does not accept other organizations’ invites without a proof', async () => {
    const victims = newAddress();
    const id = await squat(victims);
    const token = await inviteTo(b, victims);
    for (const who of [{ signedInAs: id }, { password: 'the squatter’s' }]) {
      expect(await accept(token, null, who)).toEqual({ status: 'refused', problem: 'unconfirmed' });
    }
    expect(await accept(token, null, { password: 'somebody else’s' })).toMatchObject({ problem: 'sign_in' });
    const { body } = await b.post('/v1/invites', { scope: 'organization', role: 'student' });
    const code = (body as { token: string }).token;
    expect(await accept(code, null, { signedInAs: id })).toMatchObject({ problem: 'unconfirmed' });
    // A session is not proof enough either: it may be the squatter's.
    const { proof } = await newest(victims);
    expect(await accept(token, proof, { signedInAs: id })).toMatchObject({ problem: 'password' });
    expect(await b.list('/v1/students')).toEqual([]);
  });

  it('gets no first password from an organization if another one knows it', async () => {
    const victims = newAddress();
    await a.inviteOne(studentRow({ email: victims }));
    const token = await inviteTo(b, victims);
    expect(await accept(token, null, { password: PASSWORD })).toMatchObject({ problem: 'sign_in' });
    await b.inviteOne(studentRow({ email: victims }));
    const classroom = await make.classroom(a.id);
    const own = await inviteTo(a, victims, { scope: 'classroom', role: undefined, classroom_id: classroom.id });
    expect(await accept(own, null, { password: PASSWORD })).toMatchObject({ problem: 'sign_in' });
  });
});

describe('a person who has not accepted', () => {
  const secret = { firstName: 'Secretive', lastName: 'Canary' };

  async function stranger(): Promise<{ id: string; email: string }> {
    const email = newAddress();
    return make.student(b.id, { user: { ...secret, email } });
  }

  it('is not named as a reviewer', async () => {
    const { id, email } = await stranger();
    const tutor = await make.tutor(a.id);
    await a.inviteOne(studentRow({ email, first_name: 'Mia', last_name: 'Nguyen' }));
    const unknown = await make.user(secret);
    for (const reviewerId of [id, unknown.id]) {
      await make.feedback(a.id, tutor.id, { reviewerId, comment: 'Good', isPublic: true });
    }
    for (const path of ['/v1/session-feedback', `/v1/tutors/${tutor.id}/reviews`]) {
      expect((await a.list(path)).map((row) => row.reviewer_name)).toEqual([null, 'Mia Nguyen']);
    }
  });

  it('has no results here, even with a session, until they accept', async () => {
    const { id, email } = await stranger();
    const before = await make.result(id);
    await a.inviteOne(studentRow({ email }));
    await make.session(a.id, { studentId: id });
    const after = await make.result(id);
    expect(await a.list('/v1/results')).toEqual([]);
    const { token, proof } = await newest(email);
    expect(await accept(token, proof, { password: PASSWORD })).toMatchObject({ status: 'joined' });
    expect((await a.list('/v1/results')).map((row) => row.id).sort()).toEqual([before.id, after.id].sort());
    // After the takeover, the former organization's membership is pending.
    expect(await b.seen('/v1/students', id)).toMatchObject({ status: 'pending' });
  });
});

describe('the proof in an email', () => {
  it('appears only in the email', async () => {
    const address = newAddress();
    const { body, text } = await a.post('/v1/invites', { scope: 'organization', role: 'student', email: address });
    const mail = await newest(address);
    expect(mail.token).toBe(tokenOf((body as { join_url: string }).join_url));
    const audit = JSON.stringify(await make.query('SELECT * FROM audit_log'));
    const stored = JSON.stringify(await make.query('SELECT encode(proof_hash, $1) FROM invites', ['escape']));
    for (const shown of [text, audit, stored, api.logged.join('')]) expect(shown).not.toContain(mail.proof);
  });
});
