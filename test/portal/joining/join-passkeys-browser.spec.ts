import type { Page } from 'playwright-core';
import { newAddress, type PeopleFixture } from '../../support/data/provisioning.js';
import { addAuthenticator, axeFaults, TestBrowser } from '../../support/portal/browser.js';
import { JoinFixture, registration, STUDENT } from '../../support/portal/join-fixture.js';
import { PASSWORD } from '../../support/portal/portal.js';
import { fixture } from '../../support/process/fixture.js';

let provisioning: PeopleFixture;

const joining = await JoinFixture.shared();
const { sql } = joining;
const browser = await fixture(TestBrowser.start());
beforeEach(async () => {
  provisioning = await joining.provisioning();
});

const statusOf = async (id: unknown) => {
  const [tie] = await sql(
    `SELECT status FROM members WHERE organization_id = $1 AND user_id = $2
     UNION ALL SELECT status FROM parents WHERE organization_id = $1 AND user_id = $2`,
    provisioning.id,
    id,
  );
  return tie?.status;
};
const allPasskeys = async () => (await sql('SELECT count(*)::int AS n FROM passkeys'))[0]!.n;

async function open(path: string): Promise<Page> {
  const page = await browser.visit(joining.portal, { width: 390 });
  await addAuthenticator(page);
  await page.goto(path);
  return page;
}

async function fill(page: Page, fields: Record<string, string>): Promise<void> {
  for (const [label, value] of Object.entries(fields)) await page.getByLabel(label).fill(value);
}

const NAMES = { 'First name': 'Mia', 'Last name': 'Nguyen' };
const withPasskey = (page: Page) => page.getByRole('button', { name: 'with a passkey' }).click();
const signOut = (page: Page) => page.getByRole('button', { name: 'Sign out', exact: true }).click();

/** Signs out and in again with the passkey. */
async function signInAgain(page: Page): Promise<void> {
  await signOut(page);
  await page.goto('/sign-in?next=%2Faccount');
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
  await page.waitForURL('**/account');
}

describe('a new person in a browser', () => {
  it('joins with only a passkey and signs in with it', async () => {
    const [code, email] = [await joining.invite(provisioning, STUDENT), newAddress()];
    const page = await open(`/join/${code}`);
    expect(await axeFaults(page)).toEqual([]);
    // Missing and invalid fields are reported before a passkey is created.
    await withPasskey(page);
    expect(await page.evaluate<string>('document.activeElement.name')).toBe('first_name');
    const before = await allPasskeys();
    await fill(page, { ...NAMES, 'Email address': 'mia@nowhere' });
    await withPasskey(page);
    await page.getByText('Enter a valid email address').waitFor();
    expect(await allPasskeys()).toBe(before);
    await fill(page, { ...NAMES, 'Email address': email });
    await withPasskey(page);
    await page.waitForURL('**/join/done');
    const login = await joining.loginOf(email);
    expect(login).toMatchObject({ verified: false, password: false, passkeys: 1 });
    expect(await statusOf(login!.id)).toBe('accepted');
    await signInAgain(page);
    await page.context().close();
  });

  it('who was invited by mail proves the address and can add a password', async () => {
    const email = newAddress();
    await joining.invite(provisioning, { ...STUDENT, email });
    const { token, proof } = await joining.mail(email);
    const page = await open(`/join/${token}?proof=${proof}`);
    await fill(page, NAMES);
    await withPasskey(page);
    await page.waitForURL('**/join/done');
    expect(await joining.loginOf(email)).toMatchObject({ verified: true, password: false, passkeys: 1 });
    await page.goto('/account');
    await page.getByRole('link', { name: 'Set or change password' }).click();
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Set a password');
    expect(await axeFaults(page)).toEqual([]);
    await fill(page, { 'New password': PASSWORD });
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Your password was changed.').waitFor();
    const again = await joining.visitor().post('/sign-in', { email, password: PASSWORD });
    expect(again.headers.location).toBe('/');
    expect(await joining.loginOf(email)).toMatchObject({ password: true, passkeys: 1 });
    await page.context().close();
  });
});

describe('a passkey sent with the form', () => {
  it('must answer the challenge of this invite and browser, and works once', async () => {
    const [code, other] = [await joining.invite(provisioning, STUDENT), await joining.invite(provisioning, STUDENT)];
    const page = await open(`/join/${code}`);
    await fill(page, { ...NAMES, 'Email address': newAddress() });
    const [sent] = await Promise.all([
      page.waitForRequest((request) => request.method() === 'POST' && request.url().endsWith(`/join/${code}`)),
      withPasskey(page),
    ]);
    await page.waitForURL('**/join/done');
    const credential = new URLSearchParams(sent.postData() ?? '').get('credential')!;
    const { cookie = '' } = await sent.allHeaders();
    const challenge = /passkey=[^;]+/.exec(cookie)![0];
    await page.context().close();
    const before = await allPasskeys();
    const send = (to: string, header: string, value = credential) =>
      joining.portal.post(`/join/${to}`, { ...registration(newAddress()), password: '', credential: value }, header);
    for (const answer of [
      await send(code, challenge),
      await send(other, challenge),
      await send(code, ''),
      await send(code, challenge, '{'),
      await send(code, challenge, 'null'),
      await send(code, challenge, '{"id":"AAAA"}'),
    ]) {
      expect(answer.status).toBe(400);
    }
    expect(await allPasskeys()).toBe(before);
  });

  it('is not requested from somebody the invite is not for', async () => {
    const { id, email } = await joining.person();
    const theirs = await joining.invite(provisioning, { ...STUDENT, email });
    const stranger = await joining.signedIn((await joining.person()).id);
    for (const visitor of [joining.visitor(), stranger, await joining.signedIn(id)]) {
      expect((await visitor.post(`/join/${theirs}/passkey/options`, registration())).status).toBe(404);
    }
    expect((await joining.visitor().post(`/join/${'x'.repeat(43)}/passkey/options`, registration())).status).toBe(404);
  });
});
