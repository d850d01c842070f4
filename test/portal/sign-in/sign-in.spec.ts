import { beforeAll, describe, expect, it } from 'vitest';
import { cookieOf, PASSWORD, type Someone, TestPortal } from '../../support/portal/portal.js';
import { fixture } from '../../support/process/fixture.js';

const portal = await fixture(TestPortal.start());
const owner = await portal.someone('owner', { user: { email: 'Owner@example.org' } });

beforeAll(async () => {
  await portal.setPassword(owner.user.id);
});

const signIn = (fields: Record<string, string>, cookie?: string) => portal.post('/sign-in', fields, cookie);

describe('signing in with a password', () => {
  it('opens the organization, and signing out ends the session', async () => {
    const answer = await signIn({ email: ' owner@EXAMPLE.org ', password: PASSWORD });
    expect([answer.status, answer.headers.location]).toEqual([303, '/']);
    const cookie = cookieOf(answer)!;
    for (const set of answer.headers['set-cookie']!) expect(set).toMatch(/; Path=\/;.* HttpOnly; SameSite=Lax$/);
    expect((await portal.get('/', cookie)).headers.location).toBe(`/o/${owner.organization.slug}`);
    expect((await portal.get(`/o/${owner.organization.slug}`, cookie)).text).toContain(owner.organization.name);
    const out = await portal.post('/sign-out', {}, cookie);
    expect(out.headers.location).toBe('/sign-in');
    expect((await portal.get('/account', cookie)).headers.location).toBe('/sign-in?next=%2Faccount');
    expect((await portal.get('/sign-in', cookieOf(out, 'flash')!)).text).toContain('You are signed out.');
  });

  it('binds the cookie to the host over https', async () => {
    const secure = await TestPortal.start({ APP_URL: 'https://portal.example.org' }, portal.database);
    try {
      const answer = await secure.post('/sign-in', { email: 'owner@example.org', password: PASSWORD });
      const [device, session] = answer.headers['set-cookie'] as unknown as string[];
      expect(session).toMatch(/^__Host-session=[\w-]{43}; Path=\/; HttpOnly; Secure; SameSite=Lax$/);
      expect(device).toMatch(
        /^__Host-device=[\w-]+; Max-Age=31536000; Path=\/; Expires=.*; HttpOnly; Secure; SameSite=Lax$/,
      );
    } finally {
      await secure.stop();
    }
  });

  it('stores only the hash of the secret in the cookie', async () => {
    const secret = cookieOf(await signIn({ email: 'owner@example.org', password: PASSWORD }))!.split('=')[1]!;
    const stored = JSON.stringify(await portal.make.query('SELECT * FROM portal_sessions'));
    expect(stored).not.toContain(secret);
    expect(stored).not.toContain(Buffer.from(secret, 'base64url').toString('hex'));
    expect(portal.logged.join()).not.toContain(secret);
  });

  it('always creates a new session: a planted cookie is ignored and the previous session ends', async () => {
    const planted = `session=${Buffer.alloc(32, 7).toString('base64url')}`;
    const first = cookieOf(await signIn({ email: 'owner@example.org', password: PASSWORD }, planted))!;
    expect(first).not.toBe(planted);
    expect((await portal.get('/account', planted)).status).toBe(303);
    const second = cookieOf(await signIn({ email: 'owner@example.org', password: PASSWORD }, first))!;
    expect(second).not.toBe(first);
    expect((await portal.get('/account', first)).status).toBe(303);
    expect((await portal.get('/account', second)).status).toBe(200);
  });

  it('gives the same answer for a wrong password, a login without one and an unknown address', async () => {
    await portal.someone('admin', { user: { email: 'none@example.org' } });
    const answers = [];
    for (const email of ['owner@example.org', 'none@example.org', 'nobody@example.org']) {
      const { status, text, headers } = await signIn({ email, password: 'wrong password' });
      answers.push({ status, text: text.replaceAll(email, '…'), names: Object.keys(headers).sort() });
    }
    expect(answers[0]!.status).toBe(422);
    expect(answers[0]!.text).toContain('or password is wrong');
    expect(answers[1]).toEqual(answers[0]);
    expect(answers[2]).toEqual(answers[0]);
  });

  it('redirects to the requested page and never to another site', async () => {
    const to = async (next: string) => {
      const answer = await signIn({ email: 'owner@example.org', password: PASSWORD, next });
      return answer.headers.location;
    };
    expect(await to('/o/school/keys?status=active')).toBe('/o/school/keys?status=active');
    const elsewhere = [
      'https://evil.example', '//evil.example', '/\\evil.example', '/\t/evil.example', '/%09/evil.example/..//x',
      'javascript:alert(1)', '', '/.//evil.example', '/sign-out', '/x\r\nSet-Cookie: a=b', '///evil.example', 'evil.example',
    ]; // prettier-ignore
    for (const next of elsewhere) {
      const location = await to(next);
      expect(new URL(location!, 'http://portal.invalid').origin).toBe('http://portal.invalid');
      expect(location).not.toMatch(/^\/[/\\]/);
    }
  });

  it('is limited per login and network, and other logins can be signed in to from there', async () => {
    const wrong = { email: 'limited@example.org', password: 'wrong password' };
    for (let attempt = 0; attempt < 10; attempt++) expect((await signIn(wrong)).status).toBe(422);
    const refused = await signIn(wrong);
    expect([refused.status, Number(refused.headers['retry-after']) > 0]).toEqual([429, true]);
    expect((await signIn({ email: 'owner@example.org', password: PASSWORD })).status).toBe(303);
  });

  it('opens a session that ends when the password changes, when it is idle and after its lifetime', async () => {
    const ended = async (change: string) => {
      const cookie = await portal.session(owner.user.id);
      expect((await portal.get('/account', cookie)).status).toBe(200);
      await portal.make.query(change, [owner.user.id]);
      return (await portal.get('/account', cookie)).status;
    };
    expect(await ended(`UPDATE portal_sessions SET last_seen_at = now() - interval '3 days' WHERE user_id = $1`)).toBe(
      303,
    );
    expect(await ended(`UPDATE portal_sessions SET created_at = now() - interval '30 days' WHERE user_id = $1`)).toBe(
      303,
    );
    expect(await ended(`UPDATE credentials SET sessions_valid_from = now() + interval '1 s' WHERE user_id = $1`)).toBe(
      303,
    );
    await portal.make.query(`UPDATE credentials SET sessions_valid_from = now() - interval '1 day'`);
  });
});

describe('the sessions of a person', () => {
  it('are listed, and can be ended one by one and all at once', async () => {
    const person = await portal.someone('owner');
    const others = [await portal.session(person.user.id), await portal.session(person.user.id)];
    const list = (await portal.get('/account', person.cookie)).text;
    expect(list.match(/Chrome on Linux/g)).toHaveLength(5);
    const [, id] = /\/account\/sessions\/([0-9a-f-]+)\/end"/.exec(list)!;
    expect((await portal.post(`/account/sessions/${id}/end`, {}, person.cookie)).status).toBe(303);
    const alive = async () =>
      (await Promise.all(others.map((cookie) => portal.get('/account', cookie)))).map(({ status }) => status);
    expect((await alive()).sort()).toEqual([200, 303]);
    expect((await portal.post('/account/sessions/end-others', {}, person.cookie)).status).toBe(303);
    expect(await alive()).toEqual([303, 303]);
    expect((await portal.get('/account', person.cookie)).status).toBe(200);
  });

  it('cannot be ended by another account', async () => {
    const [a, b] = [await portal.someone('owner'), await portal.someone('owner')];
    const [{ id } = { id: '' }] = await portal.make.query<{ id: string }>(
      'SELECT id FROM portal_sessions WHERE user_id = $1',
      [b.user.id],
    );
    expect((await portal.post(`/account/sessions/${id}/end`, {}, a.cookie)).status).toBe(404);
    expect((await portal.get('/account', b.cookie)).status).toBe(200);
  });
});

describe('the pages of an organization', () => {
  it('open for owners and admins, tell other members why not, and return 404 to strangers', async () => {
    const at = (someone: Someone, slug = someone.organization.slug) => portal.get(`/o/${slug}`, someone.cookie);
    expect((await at(await portal.someone('admin'))).status).toBe(200);
    for (const role of ['tutor', 'student'] as const) {
      const refused = await at(await portal.someone(role));
      expect(refused.status).toBe(403);
      expect(refused.text).toContain(`Only owners and admins of Demo Tutoring can open this page`);
    }
    const [a, b] = [await portal.someone('owner'), await portal.someone('owner')];
    const [foreign, absent] = [await at(a, b.organization.slug), await at(a, 'none')];
    expect([foreign.status, foreign.text]).toEqual([404, absent.text]);
  });

  it('let a person in two organizations choose, and open both', async () => {
    const [a, b] = [await portal.someone('owner'), await portal.someone('owner')];
    await portal.make.member(b.organization.id, { user: { id: a.user.id }, role: 'admin', status: 'accepted' });
    const choice = (await portal.get('/', a.cookie)).text;
    for (const { organization } of [a, b]) {
      expect(choice).toContain(`href="/o/${organization.slug}"`);
      expect((await portal.get(`/o/${organization.slug}`, a.cookie)).status).toBe(200);
    }
  });
});
