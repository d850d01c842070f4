import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PasswordLinks } from '@app/accounts';
import { loadEnv, Vault } from '@app/config';
import { connect, Database } from '@app/database';
import type { EmailPayload } from '@app/jobs';
import { cookieOf, PASSWORD, type Someone, TestPortal } from '../support/portal/portal.js';

const NEW = 'a new and longer password';
const KEY = 'ab'.repeat(32);

let portal: TestPortal;

beforeAll(async () => {
  portal = await TestPortal.start({
    SMTP_URL: 'smtp://127.0.0.1:1',
    ENCRYPTION_KEY: KEY,
    MAIL_FROM: 'Study House <no-reply@example.org>',
  });
});
afterAll(() => portal.stop());

async function mailsTo(email: string): Promise<EmailPayload[]> {
  const rows = await portal.make.query<{ payload: Buffer }>(
    `SELECT payload FROM outbox WHERE recipient = $1 AND kind = 'password_reset' ORDER BY created_at, id`,
    [email],
  );
  const vault = portal.app.get(Vault);
  return rows.map(({ payload }) => JSON.parse(vault.open('outbox payloads', payload)) as EmailPayload);
}

/** Asks for a link by mail. @returns its path */
async function askForLink(email: string): Promise<string> {
  expect((await portal.post('/forgot-password', { email })).status).toBe(200);
  const { joinUrl } = (await mailsTo(email)).at(-1)!;
  return new URL(joinUrl!).pathname;
}

const signIn = (email: string, password: string) => portal.post('/sign-in', { email, password });

describe('a forgotten password', () => {
  let owner: Someone;
  beforeAll(async () => {
    owner = await portal.someone('owner', { user: { email: 'owner@example.org' } });
    await portal.setPassword(owner.user.id);
  });

  it('is reset once by a mailed link, which ends all sessions', async () => {
    const path = await askForLink('owner@example.org');
    const [mail] = await mailsTo('owner@example.org');
    expect(mail).toMatchObject({ organizationName: 'Study House', joinUrl: expect.stringContaining('http') as string });
    // Scanners of mail open links.
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

  it('is asked for alike with a known and an unknown address, and no more than thrice an hour', async () => {
    await portal.someone('owner', { user: { email: 'asked@example.org' } });
    const answers = [];
    for (const email of ['asked@example.org', 'unknown@example.org']) {
      for (let time = 0; time < 5; time++) {
        const { status, text } = await portal.post('/forgot-password', { email });
        answers.push(`${status} ${text.replaceAll(email, '…')}`);
      }
    }
    expect(new Set(answers).size).toBe(1);
    expect(await mailsTo('asked@example.org')).toHaveLength(3);
    expect(await mailsTo('unknown@example.org')).toEqual([]);
  });

  it('keeps its link for one hour, for the login’s present address, and of two at once for one', async () => {
    const { user } = await portal.someone('owner', { user: { email: 'links@example.org' } });
    const [old, moved] = [await askForLink('links@example.org'), await askForLink('links@example.org')];
    await portal.make.query(`UPDATE password_links SET expires_at = now() WHERE user_id = $1`, [user.id]);
    expect((await portal.get(old)).status).toBe(404);
    await portal.make.query(`UPDATE password_links SET expires_at = now() + interval '1 hour'`);
    const both = await Promise.all([NEW, `${NEW}!`].map((password) => portal.post(old, { password })));
    expect(both.map(({ status }) => status).sort()).toEqual([303, 404]);
    expect((await portal.get(moved)).status).toBe(404);
    const third = await askForLink('links@example.org');
    await portal.make.query(
      `UPDATE users SET email = 'b@example.org', email_normalized = 'b@example.org' WHERE id = $1`,
      [user.id],
    );
    expect((await portal.get(third)).status).toBe(404);
  });

  it('stores no secret, and logs none', async () => {
    const secret = (await askForLink('owner@example.org')).split('/')[2]!;
    await portal.get(`/password/${secret}`);
    expect(JSON.stringify(await portal.make.query('SELECT * FROM password_links'))).not.toContain(secret);
    expect(JSON.stringify(await portal.make.query('SELECT * FROM outbox'))).not.toContain(secret);
    expect(portal.logged.join()).not.toContain(secret);
  });
});

describe('whose login it is', () => {
  const memberOf = async (userId: string) => {
    const [row] = await portal.make.query<{ status: string }>('SELECT status FROM members WHERE user_id = $1', [
      userId,
    ]);
    return row!.status;
  };

  it('a login that nobody has used keeps what the operator gave it', async () => {
    const { user } = await portal.someone('owner', { user: { email: 'fresh@example.org' } });
    await portal.post(await askForLink('fresh@example.org'), { password: NEW });
    expect(await memberOf(user.id)).toBe('accepted');
  });

  it('an organization that made the account has no say in what its person accepts', async () => {
    const { user } = await portal.someone('tutor', { user: { email: 'made@example.org' } });
    await portal.post(await askForLink('made@example.org'), { password: NEW });
    expect(await memberOf(user.id)).toBe('pending');
  });

  it('what somebody accepted before the address was proven waits for its person, and their passkeys are gone', async () => {
    const { user, cookie } = await portal.someone('tutor', { user: { email: 'victim@example.org' } });
    await portal.setPassword(user.id);
    await portal.make.query(
      `INSERT INTO passkeys (id, user_id, credential_id, public_key, sign_count, name)
       VALUES (gen_random_uuid(), $1, '\\x01', '\\x01', 0, 'theirs')`,
      [user.id],
    );
    await portal.post(await askForLink('victim@example.org'), { password: NEW });
    expect(await memberOf(user.id)).toBe('pending');
    expect(await portal.make.query('SELECT FROM passkeys WHERE user_id = $1', [user.id])).toEqual([]);
    expect((await portal.get('/account', cookie)).status).toBe(303);
  });

  it('a login whose address is proven keeps everything', async () => {
    const { user } = await portal.someone('tutor', {
      user: { email: 'proven@example.org', emailVerifiedAt: new Date() },
    });
    await portal.setPassword(user.id);
    await portal.post(await askForLink('proven@example.org'), { password: NEW });
    expect(await memberOf(user.id)).toBe('accepted');
  });

  it('an address that changes takes the passkeys of its login with it', async () => {
    const { user } = await portal.someone('tutor');
    await portal.make.query(
      `INSERT INTO passkeys (id, user_id, credential_id, public_key, sign_count, name)
       VALUES (gen_random_uuid(), $1, '\\x02', '\\x01', 0, 'theirs')`,
      [user.id],
    );
    await portal.make.query(
      `UPDATE users SET email = 'n@example.org', email_normalized = 'n@example.org' WHERE id = $1`,
      [user.id],
    );
    expect(await portal.make.query('SELECT FROM passkeys WHERE user_id = $1', [user.id])).toEqual([]);
  });
});

describe('changing the password', () => {
  it('asks for the current one, and signs out every other browser', async () => {
    const person = await portal.someone('admin', { user: { email: 'changes@example.org' } });
    await portal.setPassword(person.user.id);
    const other = await portal.session(person.user.id);
    const change = (fields: Record<string, string>) => portal.post('/account/password', fields, person.cookie);
    const wrong = await change({ current_password: 'not this one', password: NEW });
    expect([wrong.status, wrong.text.includes('not your current password')]).toEqual([422, true]);
    expect((await change({ current_password: PASSWORD, password: 'short' })).status).toBe(422);
    const done = await change({ current_password: PASSWORD, password: NEW });
    expect(done.status).toBe(303);
    for (const cookie of [person.cookie, other]) expect((await portal.get('/account', cookie)).status).toBe(303);
    expect((await portal.get('/account', cookieOf(done)!)).text).toContain('Your account');
    expect((await signIn('changes@example.org', NEW)).status).toBe(303);
  });
});

describe('a link from the operator', () => {
  it('lets a new owner set a password without any mail', async () => {
    const { user, organization } = await portal.someone('owner', { user: { email: 'operators@example.org' } });
    const owner = await connect({ url: portal.database.ownerUrl, poolSize: 1, applicationName: 'tutoring tests' });
    try {
      const env = loadEnv({ ENCRYPTION_KEY: KEY, APP_URL: 'https://portal.example.org' }, {});
      const { url } = await new PasswordLinks(new Database(owner), env, new Vault(env)).handOut(user.id);
      expect(url).toMatch(/^https:\/\/portal\.example\.org\/password\/[\w-]{43}$/);
      const set = await portal.post(new URL(url).pathname, { password: NEW });
      expect((await portal.get('/', cookieOf(set)!)).headers.location).toBe(`/o/${organization.slug}`);
    } finally {
      await owner.destroy();
    }
  });
});
