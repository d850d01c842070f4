import { PasswordLinks } from '@app/people';
import { loadEnv } from '@app/config';
import { connect, Database } from '@app/database';
import { rulesOn } from '../../../apps/cli/src/rules.js';
import { cookieOf, PASSWORD, type Someone, TestPortal } from '../../support/portal/portal.js';
import { fixture } from '../../support/process/fixture.js';

const NEW = 'a new and longer password';
const KEY = 'ab'.repeat(32);

const portal = await fixture(
  TestPortal.start({
    SMTP_URL: 'smtp://127.0.0.1:1',
    ENCRYPTION_KEY: KEY,
    MAIL_FROM: 'Study House <no-reply@example.org>',
  }),
);

/** Asks for a link by mail. @returns its path */
async function askForLink(email: string): Promise<string> {
  expect((await portal.post('/forgot-password', { email })).status).toBe(200);
  const { joinUrl } = (await portal.mailsTo(email)).at(-1)!;
  return new URL(joinUrl!).pathname;
}

const signIn = (email: string, password: string) => portal.post('/sign-in', { email, password });

describe('a forgotten password', () => {
  let owner: Someone;
  beforeAll(async () => {
    owner = await portal.someone('owner', { user: { email: 'owner@example.org', emailVerifiedAt: new Date() } });
    await portal.setPassword(owner.user.id);
  });

  it('can be reset once by a mailed link, which ends all sessions', async () => {
    const path = await askForLink('owner@example.org');
    const [mail] = await portal.mailsTo('owner@example.org');
    expect(mail).toMatchObject({ organizationName: 'Study House', joinUrl: expect.stringContaining('http') as string });
    // Mail scanners open links.
    for (let look = 0; look < 3; look++) expect((await portal.get(path)).text).toContain('owner@example.org');
    expect((await portal.post(path, { password: 'short' })).text).toContain('at least 10 characters');
    const set = await portal.post(path, { password: NEW });
    expect([set.status, set.headers.location]).toEqual([303, '/']);
    expect((await portal.get('/account', cookieOf(set)!)).status).toBe(200);
    expect((await portal.get('/account', owner.cookie)).status).toBe(303);
    expect((await signIn('owner@example.org', PASSWORD)).status).toBe(422);
    expect((await signIn('owner@example.org', NEW)).status).toBe(303);
    expect((await portal.post(path, { password: `${NEW}!` })).status).toBe(404);
    expect((await portal.get(path)).status).toBe(404);
  });

  it('has links that work once, within an hour, and only until the address changes', async () => {
    const { user } = await portal.someone('owner', { user: { email: 'links@example.org' } });
    const [old, moved] = [await askForLink('links@example.org'), await askForLink('links@example.org')];
    await portal.make.query(`UPDATE password_links SET expires_at = now() WHERE user_id = $1`, [user.id]);
    expect((await portal.get(old)).status).toBe(404);
    await portal.make.query(`UPDATE password_links SET expires_at = now() + interval '1 hour'`);
    const both = await Promise.all([NEW, `${NEW}!`].map((password) => portal.post(old, { password })));
    expect(both.map(({ status }) => status).sort()).toEqual([303, 404]);
    expect((await portal.get(moved)).status).toBe(404);
    const third = await askForLink('links@example.org');
    await portal.make.query(`UPDATE users SET email = 'b@example.org', email_normalized = 'b@example.org' WHERE id = $1`, [user.id]);
    expect((await portal.get(third)).status).toBe(404);
  });
});

describe('ownership of a login', () => {
  const memberOf = async (userId: string) => {
    const [row] = await portal.make.query<{ status: string }>('SELECT status FROM members WHERE user_id = $1', [userId]);
    return row!.status;
  };

  it('an unused login keeps the membership that the operator created', async () => {
    const { user } = await portal.someone('owner', { user: { email: 'fresh@example.org' } });
    await portal.post(await askForLink('fresh@example.org'), { password: NEW });
    expect(await memberOf(user.id)).toBe('accepted');
  });

  it('memberships accepted before the address was proven become pending, and passkeys are deleted', async () => {
    const { user, cookie } = await portal.someone('tutor', { user: { email: 'victim@example.org' } });
    await portal.setPassword(user.id);
    await portal.make.row('passkeys', { userId: user.id });
    const path = await askForLink('victim@example.org');
    expect((await portal.get(path)).text).toContain('Confirm with your passkey');
    const silent = await portal.post(path, { password: NEW });
    expect([silent.status, silent.text.includes('use your passkey, or tick this')]).toEqual([422, true]);
    expect(await memberOf(user.id)).toBe('accepted');
    await portal.post(path, { password: NEW, replaces: 'yes' });
    expect(await memberOf(user.id)).toBe('pending');
    expect(await portal.make.query('SELECT FROM passkeys WHERE user_id = $1', [user.id])).toEqual([]);
    expect((await portal.get('/account', cookie)).status).toBe(303);
  });

  it('a login with a proven address keeps its membership', async () => {
    const { user } = await portal.someone('tutor', { user: { email: 'proven@example.org', emailVerifiedAt: new Date() } });
    await portal.setPassword(user.id);
    await portal.post(await askForLink('proven@example.org'), { password: NEW });
    expect(await memberOf(user.id)).toBe('accepted');
  });
});

describe('changing the password', () => {
  it('requires the current one and signs out every other browser', async () => {
    const person = await portal.someone('admin', { user: { email: 'changes@example.org' } });
    await portal.setPassword(person.user.id);
    const other = await portal.session(person.user.id);
    const change = (fields: Record<string, string>) => portal.post('/account/password', fields, person.cookie);
    const wrong = await change({ current_password: 'not this one', password: NEW });
    expect([wrong.status, wrong.text.includes('current password is wrong')]).toEqual([422, true]);
    expect((await change({ current_password: PASSWORD, password: 'short' })).status).toBe(422);
    const done = await change({ current_password: PASSWORD, password: NEW });
    expect(done.status).toBe(303);
    for (const cookie of [person.cookie, other]) expect((await portal.get('/account', cookie)).status).toBe(303);
    expect((await portal.get('/account', cookieOf(done)!)).text).toContain('Your account');
    expect((await signIn('changes@example.org', NEW)).status).toBe(303);
  });
});

describe('an unconfirmed address', () => {
  const confirm = (cookie: string, next = '/account') => portal.post('/account/confirmation', { next }, cookie);
  const isConfirmed = async (id: string) => (await portal.make.find('users', id)).emailVerifiedAt !== null;

  it('is confirmed by a mailed link and the current password, and nothing else changes', async () => {
    const { user, cookie } = await portal.someone('tutor', { user: { email: 'confirms@example.org' } });
    await portal.setPassword(user.id);
    expect((await portal.get('/account', cookie)).text).toContain('Email me a confirmation link');
    const asked = await confirm(cookie);
    expect([asked.status, asked.headers.location]).toEqual([303, '/account']);
    const { joinUrl } = (await portal.mailsTo('confirms@example.org', 'address_confirmation')).at(-1)!;
    const path = new URL(joinUrl!).pathname;
    expect((await portal.get(path)).text).toContain('Confirm your address');
    // A typo does not reset the password.
    const mistyped = await portal.post(path, { password: `${PASSWORD}!` });
    expect([mistyped.status, mistyped.text.includes('tick this box to set a new one')]).toEqual([422, true]);
    expect(await isConfirmed(user.id)).toBe(false);
    const done = await portal.post(path, { password: PASSWORD });
    expect([done.status, done.headers.location]).toEqual([303, '/']);
    expect(await isConfirmed(user.id)).toBe(true);
    expect((await portal.get('/account', cookie)).status).toBe(200);
    expect((await portal.get('/account', cookieOf(done)!)).text).not.toContain('not confirmed');
    expect((await portal.post(path, { password: PASSWORD })).status).toBe(404);
    expect((await portal.get(path)).text).toContain('Get a new link');
    expect((await portal.get(path, cookie)).text).toContain('You are signed in as <strong>confirms@example.org');
    expect(await portal.mailsTo('confirms@example.org', 'password_changed')).toEqual([]);
  });

  it('gets at most three mails an hour, and the same answer whether or not one is sent', async () => {
    const open = await portal.someone('tutor', { user: { email: 'open@example.org' } });
    const proven = await portal.someone('tutor', { user: { email: 'done@example.org', emailVerifiedAt: new Date() } });
    const answers = [];
    for (const { user, cookie } of [open, proven]) {
      for (let time = 0; time < 5; time++) {
        const asked = await confirm(cookie);
        const { text } = await portal.get('/account', `${cookie}; ${cookieOf(asked, 'flash')}`);
        answers.push(/<p class="flash[^<]+<\/p>/.exec(text)![0].replaceAll(user.email, '…'));
      }
    }
    expect(new Set(answers).size).toBe(1);
    expect(await portal.mailsTo('open@example.org', 'address_confirmation')).toHaveLength(3);
    expect(await portal.mailsTo('done@example.org', 'address_confirmation')).toEqual([]);
    expect((await confirm(open.cookie, '//evil.example')).headers.location).toBe('/');
  });
});

describe('a notice', () => {
  it('is sent when a password is changed or set, with a link to reset it and without a secret', async () => {
    const { user, cookie } = await portal.someone('tutor', { user: { email: 'told@example.org', emailVerifiedAt: new Date() } });
    await portal.setPassword(user.id);
    const changed = await portal.post('/account/password', { current_password: PASSWORD, password: NEW }, cookie);
    const path = await askForLink('told@example.org');
    await portal.post(path, { password: `${NEW}!` });
    const notices = await portal.mailsTo('told@example.org', 'password_changed');
    expect(notices).toHaveLength(2);
    for (const notice of notices) {
      expect(notice).toMatchObject({ organizationName: 'Study House', proof: null, expiresAt: null });
      expect(notice.joinUrl).toMatch(/\/forgot-password$/);
    }
    // Failed changes send nothing.
    await portal.post('/account/password', { current_password: 'wrong', password: NEW }, cookieOf(changed)!);
    await portal.post(path, { password: NEW });
    expect(await portal.mailsTo('told@example.org', 'password_changed')).toHaveLength(2);
  });

  it('is sent once when a passkey is removed', async () => {
    const { user, cookie } = await portal.someone('tutor', { user: { email: 'keyless@example.org' } });
    await portal.setPassword(user.id);
    const passkey = await portal.make.row('passkeys', { userId: user.id });
    for (let time = 0; time < 2; time++) await portal.post(`/account/passkeys/${passkey.id}/remove`, {}, cookie);
    expect(await portal.mailsTo('keyless@example.org', 'passkey_removed')).toHaveLength(1);
  });
});

describe('a link from the operator', () => {
  it('lets a new owner set a password without any mail', async () => {
    const { user, organization } = await portal.someone('owner', { user: { email: 'operators@example.org' } });
    const owner = await connect({ url: portal.database.ownerUrl, poolSize: 1, applicationName: 'tutoring tests' });
    try {
      const env = loadEnv({ ENCRYPTION_KEY: KEY, APP_URL: 'https://portal.example.org' }, {});
      const links = (await rulesOn(new Database(owner), env)).get(PasswordLinks);
      const { url } = await links.handOut(user.id);
      expect(url).toMatch(/^https:\/\/portal\.example\.org\/password\/[\w-]{43}$/);
      const set = await portal.post(new URL(url).pathname, { password: NEW });
      expect((await portal.get('/', cookieOf(set)!)).headers.location).toBe(`/o/${organization.slug}`);
    } finally {
      await owner.destroy();
    }
  });
});
