import { cookieOf, PASSWORD, TestPortal } from '../../support/portal/portal.js';

const portal = await TestPortal.shared();
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
      expect(device).toMatch(/^__Host-device=[\w-]+; Max-Age=31536000; Path=\/; Expires=.*; HttpOnly; Secure; SameSite=Lax$/);
    } finally {
      await secure.stop();
    }
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

  it('keeps the address but not the password where the password is wrong', async () => {
    const { status, text } = await signIn({ email: 'owner@example.org', password: 'wrong password' });
    expect(status).toBe(422);
    expect(text).toContain('or password is wrong');
    expect(text).toContain('value="owner@example.org"');
    expect(text).not.toContain('wrong password"');
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

  it('opens a session that ends when it is idle and after its lifetime', async () => {
    const ended = async (change: string) => {
      const cookie = await portal.session(owner.user.id);
      expect((await portal.get('/account', cookie)).status).toBe(200);
      await portal.make.query(change, [owner.user.id]);
      return (await portal.get('/account', cookie)).status;
    };
    expect(await ended(`UPDATE portal_sessions SET last_seen_at = now() - interval '3 days' WHERE user_id = $1`)).toBe(303);
    expect(await ended(`UPDATE portal_sessions SET created_at = now() - interval '30 days' WHERE user_id = $1`)).toBe(303);
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
    const alive = async () => (await Promise.all(others.map((cookie) => portal.get('/account', cookie)))).map(({ status }) => status);
    expect((await alive()).sort()).toEqual([200, 303]);
    expect((await portal.post('/account/sessions/end-others', {}, person.cookie)).status).toBe(303);
    expect(await alive()).toEqual([303, 303]);
    expect((await portal.get('/account', person.cookie)).status).toBe(200);
  });
});

describe('the pages of an organization', () => {
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
