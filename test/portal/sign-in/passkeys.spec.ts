import { createHash } from 'node:crypto';
import { addAuthenticator, TestBrowser } from '../../support/portal/browser.js';
import { TestPortal } from '../../support/portal/portal.js';
import { fixture } from '../../support/process/fixture.js';

const portal = await TestPortal.shared();
const browser = await fixture(TestBrowser.start());
const owner = await portal.someone('owner');

describe('a passkey', () => {
  it('can be added, used to sign in, renamed and removed', async () => {
    const page = await browser.visit(portal, { cookie: owner.cookie });
    await addAuthenticator(page);
    await page.goto('/account');
    await page.getByRole('button', { name: 'Add a passkey' }).click();
    await page.getByText('The passkey was added').waitFor();
    expect(await page.getByText('never used').count()).toBe(1);
    // The same device cannot be added twice.
    await page.getByRole('button', { name: 'Add a passkey' }).click();
    await page.getByText('This device already has a passkey for your account.').waitFor();

    const signIn = async () => {
      await page.getByRole('button', { name: 'Sign out', exact: true }).click();
      await page.goto('/sign-in?next=%2Faccount');
      await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
    };
    await signIn();
    await page.waitForURL('**/account');
    expect(await page.getByText('never used').count()).toBe(0);

    await page.getByText('Rename', { exact: false }).first().click();
    await page.getByLabel('New name').fill('My laptop');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The passkey was renamed.').waitFor();
    const remove = () => page.getByRole('button', { name: 'Remove My laptop' }).click();
    await remove();
    await page.getByText('This passkey is your only way to sign in.').waitFor();
    await portal.setPassword(owner.user.id);
    await remove();
    await page.getByText('The passkey was removed.').waitFor();
    await signIn();
    await page.getByText('This passkey was not accepted.').waitFor();
    await page.context().close();
  });

  it('added after the session ended leads to the sign-in, which returns to the account', async () => {
    const page = await browser.visit(portal, { cookie: (await portal.someone('owner')).cookie });
    await addAuthenticator(page);
    await page.goto('/account');
    await page.context().clearCookies();
    await page.getByRole('button', { name: 'Add a passkey' }).click();
    await page.waitForURL('**/sign-in?next=%2Faccount');
    await page.context().close();
  });

  it('answers each challenge once, in the browser and for the purpose that it was issued for', async () => {
    const page = await browser.visit(portal, { cookie: (await portal.someone('admin')).cookie });
    await addAuthenticator(page);
    await page.goto('/account');
    await page.getByRole('button', { name: 'Add a passkey' }).click();
    await page.getByText('The passkey was added').waitFor();
    await page.getByRole('button', { name: 'Sign out', exact: true }).click();
    await page.goto('/sign-in');
    const [sent] = await Promise.all([
      page.waitForRequest((request) => request.url().endsWith('/sign-in/passkey')),
      page.getByRole('button', { name: 'Sign in with a passkey' }).click(),
    ]);
    await page.waitForURL((url) => !url.pathname.startsWith('/sign-in'));
    const { cookie = '' } = await sent.allHeaders();
    const again = (path: string, withCookie: string) =>
      portal
        .post(path, {}, withCookie)
        .type('json')
        .send(sent.postData() ?? '');
    expect(cookie).toContain('passkey=');
    expect((await again('/sign-in/passkey', cookie)).status).toBe(400);
    expect((await again('/sign-in/passkey', '')).status).toBe(400);
    const other = await portal.someone('owner');
    expect((await again('/account/passkeys', `${other.cookie}; ${cookie.match(/passkey=[^;]+/)![0]}`)).status).toBe(400);
    await page.context().close();
  });

  it('is not added if a proof of the address ends the session meanwhile', async () => {
    const { user, cookie } = await portal.someone('owner');
    await portal.make.query(`UPDATE portal_sessions SET created_at = now() - interval '1 minute' WHERE user_id = $1`, [user.id]);
    const secret = createHash('sha256')
      .update(Buffer.from(cookie.split('=')[1]!, 'base64url'))
      .digest();
    let adding: Promise<unknown> | undefined;
    await portal.make.db.transaction(async (manager) => {
      await manager.query('SELECT take_login($1, $2, NULL, false)', [user.id, user.emailNormalized]);
      adding = portal.make.query(`SELECT add_passkey($1, gen_random_uuid(), '\\x0b', '\\x01', 0, '{}', 'x') AS done`, [secret]);
      await expect
        .poll(() =>
          portal.make.query(
            `SELECT 1 AS one FROM pg_stat_activity
             WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE 'SELECT add_passkey%'`,
          ),
        )
        .toEqual([{ one: 1 }]);
    });
    expect(await adding).toEqual([{ done: false }]);
  });
});
