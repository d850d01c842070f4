import { JoinFixture, registration, STUDENT } from '../../support/portal/join-fixture.js';
import { PASSWORD } from '../../support/portal/portal.js';
import { type CreationOptions, type RequestOptions, SoftwarePasskey } from '../../support/portal/software-passkey.js';
import type { Visitor } from '../../support/portal/visitor.js';

const joining = await JoinFixture.shared();
const { portal } = joining;

const NEXT = '/account/first-password';
const CONFIRM = `/confirm?next=${encodeURIComponent(NEXT)}`;
const NEEDED = [303, CONFIRM];

const age = (userId: string, interval = '16 minutes') =>
  portal.make.query(`UPDATE portal_sessions SET confirmed_at = now() - $2::interval WHERE user_id = $1`, [userId, interval]);

/** What a page that the cookie alone does not open answers: a redirect to the confirmation, or to the change of an existing password. */
async function open(visitor: Visitor): Promise<[number, string | undefined]> {
  const { status, headers } = await visitor.get(NEXT);
  return [status, headers.location];
}
const OPENED = [303, '/account/password'];

/** Somebody with a password who has signed in with it. */
async function signedIn(): Promise<{ visitor: Visitor; id: string; email: string }> {
  const { id, email } = await joining.person();
  const visitor = joining.visitor();
  expect((await visitor.post('/sign-in', { email, password: PASSWORD })).status).toBe(303);
  return { visitor, id, email };
}

/** A passkey of somebody who has just signed in. */
async function addPasskey(visitor: Visitor): Promise<SoftwarePasskey> {
  const passkey = new SoftwarePasskey();
  const options = (await visitor.json('/account/passkeys/options', {})).body as CreationOptions;
  const answer = await visitor.json('/account/passkeys', { credential: passkey.create(options, visitor.origin) });
  expect(answer.body).toEqual({ location: '/account' });
  return passkey;
}

async function use(visitor: Visitor, passkey: SoftwarePasskey) {
  const options = (await visitor.json('/sign-in/passkey/options', {})).body as RequestOptions;
  return visitor.post('/confirm', { next: NEXT, assertion: JSON.stringify(passkey.use(options, visitor.origin)) });
}

describe('a confirmation', () => {
  it('is a sign-in, and is asked for 15 minutes later', async () => {
    const { visitor, id, email } = await signedIn();
    expect(await open(visitor)).toEqual(OPENED);
    await age(id, '14 minutes 50 seconds');
    expect(await open(visitor)).toEqual(OPENED);
    await age(id, '15 minutes');
    expect(await open(visitor)).toEqual(NEEDED);
    const { text } = await visitor.get(CONFIRM);
    expect(text).toContain('<title>Confirm that it is you</title>');
    expect(text).toContain(email);
    const right = await visitor.post('/confirm', { next: NEXT, password: PASSWORD });
    expect([right.status, right.headers.location]).toEqual([303, NEXT]);
    expect(await open(visitor)).toEqual(OPENED);
    // Nothing is left to ask.
    expect((await visitor.get(CONFIRM)).headers.location).toBe(NEXT);
  });

  it.each(['password', 'passkey'])('by %s gives the session a new secret, so that a copied cookie is worthless', async (way) => {
    const { visitor, id } = await signedIn();
    const passkey = await addPasskey(visitor);
    await age(id);
    const thief = joining.visitor();
    for (const [name, value] of visitor.cookies) thief.cookies.set(name, value);
    expect(await open(thief)).toEqual(NEEDED);
    const done = way === 'passkey' ? await use(visitor, passkey) : await visitor.post('/confirm', { next: NEXT, password: PASSWORD });
    expect([done.status, done.headers.location]).toEqual([303, NEXT]);
    expect(await open(visitor)).toEqual(OPENED);
    expect((await open(thief))[1]).toMatch(/^\/sign-in/);
  });

  it('belongs to one session, and dies with it', async () => {
    const { visitor, id, email } = await signedIn();
    await age(id);
    const other = joining.visitor();
    await other.post('/sign-in', { email, password: PASSWORD });
    expect([await open(visitor), await open(other)]).toEqual([NEEDED, OPENED]);
    await other.post('/sign-out');
    expect((await open(other))[1]).toMatch(/^\/sign-in/);
    expect(await open(visitor)).toEqual(NEEDED);
  });

  it('takes the password or passkey of this login', async () => {
    const [mine, theirs] = [await signedIn(), await signedIn()];
    await addPasskey(mine.visitor);
    const foreign = await addPasskey(theirs.visitor);
    await age(mine.id);
    const refused = await use(mine.visitor, foreign);
    expect([refused.status, refused.text.includes('This passkey belongs to another account')]).toEqual([422, true]);
    expect(await open(mine.visitor)).toEqual(NEEDED);
    // The function has the same rule, whatever the portal says.
    const [row] = await portal.make.query<{ secret: Buffer; hash: string }>(
      `SELECT s.secret_hash AS secret, c.password_hash AS hash FROM portal_sessions s, credentials c WHERE s.user_id = $1 AND c.user_id = $2`,
      [mine.id, theirs.id],
    );
    for (const [password, passkey] of [[row!.hash, null], [null, foreign.id], [null, null]]) {
      const confirm = `SELECT confirm_portal_session($1, sha256('fresh'), $2, $3) AS done`;
      expect(await portal.make.query(confirm, [row!.secret, password, passkey])).toEqual([{ done: false }]);
    } // prettier-ignore
  });

  it('refuses a form that was shown to somebody else', async () => {
    const [{ visitor, id }, { id: another }] = [await signedIn(), await signedIn()];
    await age(id);
    expect((await visitor.post('/confirm', { next: NEXT, password: PASSWORD, person: another })).status).toBe(409);
    expect((await visitor.post('/confirm', { next: NEXT, password: PASSWORD, person: id })).status).toBe(303);
  });

  it('leads only to paths of the portal', async () => {
    const { visitor } = await signedIn();
    for (const next of ['//evil.example', 'https://evil.example/', '/\\evil.example', '', 'account']) {
      expect([next, (await visitor.get(`/confirm?next=${encodeURIComponent(next)}`)).headers.location]).toEqual([next, '/']);
      expect([next, (await visitor.post('/confirm', { next, password: PASSWORD })).headers.location]).toEqual([next, '/']);
    }
  });
});

describe('a wrong password', () => {
  it('is said at its field, with an error in the title', async () => {
    const { visitor, id } = await signedIn();
    await age(id);
    for (const [password, problem] of Object.entries({ wrong: 'This is not the password of your account.', '': 'Enter your password.' })) {
      const { status, text } = await visitor.post('/confirm', { next: NEXT, password });
      expect(status).toBe(422);
      expect(text).toContain('<title>Error: Confirm that it is you</title>');
      expect(text).toContain(problem);
      expect(text).toMatch(/name="password"[^>]* autofocus[^>]* aria-invalid="true"/);
      expect(text).toContain(`name="next" value="${NEXT}"`);
    }
    expect(await open(visitor)).toEqual(NEEDED);
  });

  it('counts with those at the sign-in and at the change of the password, in this browser and in an unknown one', async () => {
    for (const known of [true, false]) {
      const { visitor, id, email } = await signedIn();
      await age(id);
      if (!known) visitor.cookies.delete('device');
      const attempts: number[] = [];
      for (let more = 0; more < 6; more++) attempts.push((await visitor.post('/confirm', { next: NEXT, password: 'wrong' })).status);
      for (let more = 0; more < 2; more++)
        attempts.push((await visitor.post('/account/password', { current_password: 'wrong', password: `${PASSWORD}!` })).status);
      const session = visitor.cookies.get('session')!;
      visitor.cookies.delete('session');
      for (let more = 0; more < 2; more++) attempts.push((await visitor.post('/sign-in', { email, password: 'wrong' })).status);
      expect(attempts).toEqual(Array.from({ length: 10 }, () => 422));
      expect((await visitor.post('/sign-in', { email, password: PASSWORD })).status).toBe(429);
      visitor.cookies.set('session', session);
      const { status, text } = await visitor.post('/confirm', { next: NEXT, password: PASSWORD });
      expect([known, status]).toEqual([known, 429]);
      expect(text).toContain('Sign in another way');
      expect(text).toContain(`data-next="${NEXT}"`);
      expect(await open(visitor)).toEqual(NEEDED);
    }
  });
});

describe('a session', () => {
  it('that begins with a mailed link or an invite is confirmed, because a password was set', async () => {
    const { email, id } = await joining.person();
    await joining.visitor().post('/forgot-password', { email });
    const [mail] = await portal.mailsTo(email);
    const visitor = joining.visitor();
    expect((await visitor.post(new URL(mail!.joinUrl!).pathname, { password: `${PASSWORD}!` })).status).toBe(303);
    expect(await open(visitor)).toEqual(OPENED);
    await age(id);
    // Accepting an invite while signed in renews the secret and confirms nothing.
    const code = await joining.invite(await joining.provisioning(), STUDENT);
    const before = visitor.cookies.get('session');
    expect((await visitor.post(`/join/${code}`)).headers.location).toBe('/join/done');
    expect(visitor.cookies.get('session')).not.toBe(before);
    expect(await open(visitor)).toEqual(NEEDED);

    const newcomer = joining.visitor();
    const second = await joining.invite(await joining.provisioning(), STUDENT);
    expect((await newcomer.post(`/join/${second}`, registration('newcomer@example.org'))).headers.location).toBe('/join/done');
    expect(await open(newcomer)).toEqual(OPENED);
    const third = await joining.invite(await joining.provisioning(), STUDENT);
    await portal.make.query(`UPDATE users SET email_verified_at = now() WHERE email_normalized = 'newcomer@example.org'`);
    await newcomer.post(`/join/${third}`);
    expect(await open(newcomer)).toEqual(OPENED);
  });

  it('of somebody with only a passkey confirms with it before a first password is set', async () => {
    const { visitor, id, email } = await signedIn();
    const passkey = await addPasskey(visitor);
    await portal.make.withoutTriggers(`UPDATE credentials SET password_hash = NULL WHERE user_id = '${id}'`);
    expect((await visitor.get('/account/password')).headers.location).toBe(NEXT);
    await age(id);
    for (const answer of [await visitor.get(NEXT), await visitor.post(NEXT, { password: `${PASSWORD}!` })]) {
      expect([answer.status, answer.headers.location]).toEqual(NEEDED);
    }
    // Nor by the page for those who have one.
    const change = { current_password: '', password: `${PASSWORD}!` };
    expect((await visitor.post('/account/password', change)).headers.location).toBe(NEXT);
    const page = await visitor.get(CONFIRM);
    expect(page.text).not.toContain('name="password"');
    expect(page.text).toContain('Use your passkey');
    expect((await use(visitor, passkey)).headers.location).toBe(NEXT);
    expect((await visitor.post(NEXT, { password: `${PASSWORD}!` })).headers.location).toBe('/account');
    expect((await joining.visitor().post('/sign-in', { email, password: `${PASSWORD}!` })).status).toBe(303);
  });

  it('of somebody with neither is told to set a password by mail', async () => {
    const { id } = await portal.make.user();
    const visitor = await joining.signedIn(id);
    await age(id);
    const { text } = await visitor.get(CONFIRM);
    expect(text).toContain('neither a password nor a passkey');
    expect(text).toContain('href="/forgot-password"');
    expect((await visitor.post('/confirm', { next: NEXT, password: PASSWORD })).status).toBe(422);
    expect(await open(visitor)).toEqual(NEEDED);
  });

  it('that has ended leads from the form to the sign-in', async () => {
    const { visitor, id } = await signedIn();
    await portal.make.query('DELETE FROM portal_sessions WHERE user_id = $1', [id]);
    const answer = await visitor.post('/confirm', { next: NEXT, password: PASSWORD });
    expect(answer.headers.location).toMatch(/^\/sign-in/);
  });

  it('whose form was not sent says so on the page that asks', async () => {
    const { visitor, id } = await signedIn();
    await age(id);
    await visitor.post(NEXT, { password: PASSWORD });
    expect((await visitor.get(CONFIRM)).text).toContain('Nothing was changed yet.');
  });
});
