import { randomBytes } from 'node:crypto';
import type { Page } from 'playwright-core';
import { v7 as uuidv7 } from 'uuid';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Joiner, Joining, type NewPasskey, OpenedInvites } from '@app/accounts';
import { newAddress, type Office, studentRow } from '../support/data/provisioning.js';
import { addAuthenticator, axeFaults, TestBrowser } from '../support/portal/browser.js';
import { JoinDesk, registration } from '../support/portal/join-desk.js';
import { PASSWORD } from '../support/portal/portal.js';

let desk: JoinDesk;
let browser: TestBrowser;
let office: Office;

beforeAll(async () => {
  desk = await JoinDesk.open();
  browser = await TestBrowser.start();
});
beforeEach(async () => {
  office = await desk.office();
});
afterAll(async () => {
  await browser.stop();
  await desk.close();
});

const STUDENT = { scope: 'organization', role: 'student' };

const sql = (statement: string, ...values: unknown[]) => office.make.query(statement, values);

/** What is known of the login with this address. */
const loginOf = async (email: string) => {
  const [login] = await sql(
    `SELECT u.id, u.email_verified_at IS NOT NULL AS verified, c.password_hash IS NOT NULL AS password,
       (SELECT count(*)::int FROM passkeys p WHERE p.user_id = u.id) AS passkeys
     FROM users u LEFT JOIN credentials c ON c.user_id = u.id WHERE u.email_normalized = $1`,
    email,
  );
  return login ?? null;
};
const statusOf = async (id: unknown) => {
  const [tie] = await sql(
    `SELECT status FROM members WHERE organization_id = $1 AND user_id = $2
     UNION ALL SELECT status FROM parents WHERE organization_id = $1 AND user_id = $2`,
    office.id,
    id,
  );
  return tie?.status;
};
const allPasskeys = async () => (await sql('SELECT count(*)::int AS n FROM passkeys'))[0]!.n;

/** Everything that can be invited to. */
const SCOPES: Record<string, () => Promise<object>> = {
  organization: () => Promise.resolve(STUDENT),
  classroom: async () => ({ scope: 'classroom', classroom_id: (await office.make.classroom(office.id)).id }),
  group: async () => ({ scope: 'group', group_id: (await office.make.group(office.id)).id }),
  tutor: async () => ({ scope: 'tutor_student', tutor_id: (await office.make.tutor(office.id)).id }),
  child: async () => ({ scope: 'parent', student_id: (await office.make.student(office.id)).id }),
};

async function open(path: string): Promise<Page> {
  const page = await browser.visit(desk.portal, { width: 390 });
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

/** Signs out, and in again with the passkey. */
async function signInAgain(page: Page): Promise<void> {
  await signOut(page);
  await page.goto('/sign-in?next=%2Faccount');
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
  await page.waitForURL('**/account');
}

describe('a new person in a browser', () => {
  it.each(Object.entries(SCOPES))('joins with a passkey alone, and signs in with it: %s', async (_scope, wish) => {
    const [code, email] = [await desk.invite(office, await wish()), newAddress()];
    const page = await open(`/join/${code}`);
    expect(await axeFaults(page)).toEqual([]);
    // What is missing is said before a passkey is made.
    await withPasskey(page);
    expect(await page.evaluate<string>('document.activeElement.name')).toBe('first_name');
    await fill(page, { ...NAMES, 'Email address': email });
    await withPasskey(page);
    await page.waitForURL('**/join/done');
    const login = await loginOf(email);
    expect(login).toMatchObject({ verified: false, password: false, passkeys: 1 });
    expect(await statusOf(login!.id)).toBe('accepted');
    await signInAgain(page);
    await page.context().close();
  });

  it('who was invited by mail proves the address, and adds a password to the passkey', async () => {
    const email = newAddress();
    await desk.invite(office, { ...STUDENT, email });
    const { token, proof } = await desk.mail(email);
    const page = await open(`/join/${token}?proof=${proof}`);
    await fill(page, NAMES);
    await withPasskey(page);
    await page.waitForURL('**/join/done');
    expect(await loginOf(email)).toMatchObject({ verified: true, password: false, passkeys: 1 });
    await page.goto('/account');
    await page.getByRole('link', { name: 'Set or change your password' }).click();
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Set a password');
    expect(await axeFaults(page)).toEqual([]);
    await fill(page, { 'New password': PASSWORD });
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Your password was changed.').waitFor();
    const again = await desk.visitor().post('/sign-in', { email, password: PASSWORD });
    expect(again.headers.location).toBe('/');
    expect(await loginOf(email)).toMatchObject({ password: true, passkeys: 1 });
    await page.context().close();
  });

  it('confirms the address with the passkey of the account, which stays', async () => {
    const [code, email] = [await desk.invite(office, STUDENT), newAddress()];
    const page = await open(`/join/${code}`);
    await fill(page, { ...NAMES, 'Email address': email });
    await withPasskey(page);
    await page.waitForURL('**/join/done');
    const { token, proof } = await desk.mail(email);
    await page.goto(`/join/${token}?proof=${proof}`);
    expect(await axeFaults(page)).toEqual([]);
    const [before] = await sql('SELECT id FROM passkeys WHERE user_id = $1', (await loginOf(email))!.id);
    await page.getByRole('button', { name: 'with your passkey' }).click();
    await page.waitForURL('**/join/done');
    expect(await loginOf(email)).toMatchObject({ verified: true, password: false, passkeys: 1 });
    expect(await sql('SELECT id FROM passkeys WHERE user_id = $1', (await loginOf(email))!.id)).toEqual([before]);
    await signInAgain(page);
    await page.context().close();
  });

  it('is told what is wrong before a passkey is made', async () => {
    const page = await open(`/join/${await desk.invite(office, STUDENT)}`);
    await fill(page, { ...NAMES, 'Email address': 'mia@nowhere' });
    const before = await allPasskeys();
    await withPasskey(page);
    await page.getByText('Enter an address that can receive mail').waitFor();
    expect(await allPasskeys()).toBe(before);
    await page.context().close();
  });

  it('whose invite ends meanwhile leaves neither login nor passkey', async () => {
    const [code, email] = [await desk.invite(office, STUDENT), newAddress()];
    const page = await open(`/join/${code}`);
    await fill(page, { ...NAMES, 'Email address': email });
    const before = await allPasskeys();
    await page.route(`**/join/${code}`, async (route) => {
      await sql('UPDATE invites SET revoked_at = now() WHERE organization_id = $1', office.id);
      await route.continue();
    });
    await withPasskey(page);
    await page.getByText('This code does not work').waitFor();
    expect([await loginOf(email), await allPasskeys()]).toEqual([null, before]);
    await page.context().close();
  });

  it('whose address has an account signs in to it', async () => {
    const [code, { email }] = [await desk.invite(office, STUDENT), await desk.person()];
    const page = await open(`/join/${code}`);
    await fill(page, { ...NAMES, 'Email address': email });
    await withPasskey(page);
    await page.getByText('You already have an account').waitFor();
    expect(await loginOf(email)).toMatchObject({ passkeys: 0 });
    await page.context().close();
  });
});

describe('the passkey that comes with a form', () => {
  it('answers the challenge of this invite and browser, once', async () => {
    const [code, other] = [await desk.invite(office, STUDENT), await desk.invite(office, STUDENT)];
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
      desk.portal.post(`/join/${to}`, { ...registration(newAddress()), password: '', credential: value }, header);
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

  it('is not asked for by somebody whom the invite is not for', async () => {
    const { id, email } = await desk.person();
    const theirs = await desk.invite(office, { ...STUDENT, email });
    const stranger = await desk.signedIn((await desk.person()).id);
    for (const visitor of [desk.visitor(), stranger, await desk.signedIn(id)]) {
      expect((await visitor.post(`/join/${theirs}/passkey/options`, registration())).status).toBe(404);
    }
    expect((await desk.visitor().post(`/join/${'x'.repeat(43)}/passkey/options`, registration())).status).toBe(404);
  });
});

/** A passkey as it is after its registration was verified. */
const passkey = (change: Partial<NewPasskey> = {}): NewPasskey => ({
  loginId: uuidv7(),
  credentialId: randomBytes(16),
  publicKey: randomBytes(77),
  counter: 0,
  transports: ['internal'],
  name: 'Safari on iPhone',
  ...change,
});
const newcomer = (email: string, key = passkey()) => ({ email, firstName: 'Mia', lastName: 'Nguyen', passkey: key });
const accept = (secret: string, proof: string | null, who: Joiner) =>
  desk.portal.app.get(Joining).accept(secret, proof, who, 'request-1');
const refused = (problem: string) => ({ status: 'refused', problem });

describe('a passkey, by the rules of identity', () => {
  it('without a proof is the first credential of a login that the organization made, and of no other', async () => {
    const email = newAddress();
    await office.inviteOne(studentRow({ email }));
    const { token } = await desk.mail(email);
    expect(await accept(token, null, { passkey: passkey() })).toMatchObject({ status: 'joined', verified: false });
    expect(await loginOf(email)).toMatchObject({ verified: false, password: false, passkeys: 1 });
    // Somebody uses it now: neither a password nor another passkey gets in without a proof.
    const child = await office.make.student(office.id);
    const again = await desk.invite(office, { scope: 'parent', student_id: child.id, email });
    expect(await desk.portal.app.get(OpenedInvites).look(again, null)).toMatchObject({ needs: 'sign_in' });
    expect(await accept(again, null, { password: PASSWORD })).toEqual(refused('sign_in'));
    expect(await accept(again, null, newcomer(email))).toEqual(refused('sign_in'));
    expect(await loginOf(email)).toMatchObject({ verified: false, password: false, passkeys: 1 });
  });

  it('without a proof opens no login that another organization knows of', async () => {
    const email = newAddress();
    await office.inviteOne(studentRow({ email }));
    const second = await desk.office();
    const token = await desk.invite(second, { ...STUDENT, email });
    expect(await accept(token, null, newcomer(email))).toEqual(refused('sign_in'));
    expect(await loginOf(email)).toMatchObject({ verified: false, password: false, passkeys: 0 });
  });

  it('opens no login whose address is proven, with or without a proof', async () => {
    const { email } = await desk.person();
    await desk.invite(office, { ...STUDENT, email });
    const { token, proof } = await desk.mail(email);
    for (const given of [null, proof]) expect(await accept(token, given, newcomer(email))).toEqual(refused('sign_in'));
    expect(await loginOf(email)).toMatchObject({ verified: true, password: true, passkeys: 0 });
  });

  it.each([true, false])('with a proof ends what opened the login before (a password: %s)', async (before) => {
    const email = newAddress();
    const code = await desk.invite(office, STUDENT);
    const squatter = before ? { email, firstName: 'M', lastName: 'N', password: PASSWORD } : newcomer(email);
    const joined = await accept(code, null, squatter);
    const { userId } = joined as { userId: string };
    const session = await desk.portal.session(userId);
    expect((await desk.portal.get('/account', session)).status).toBe(200);
    const { token, proof } = await desk.mail(email);
    const own = passkey();
    const taken = await accept(token, proof, { passkey: own });
    expect(taken).toMatchObject({ status: 'joined', userId, verified: true, created: false });
    expect(await loginOf(email)).toMatchObject({ verified: true, password: false, passkeys: 1 });
    expect(await sql('SELECT user_id FROM passkeys WHERE credential_id = $1', own.credentialId)).toEqual([
      { user_id: userId },
    ]);
    expect((await desk.portal.get('/account', session)).status).toBe(303);
    expect((await desk.visitor().post('/sign-in', { email, password: PASSWORD })).status).toBe(422);
  });

  it('from before goes when the proof comes with a password, never without a word', async () => {
    const email = newAddress();
    await accept(await desk.invite(office, STUDENT), null, newcomer(email));
    const { token, proof } = await desk.mail(email);
    expect(await accept(token, proof, { password: PASSWORD })).toEqual(refused('passkeys'));
    expect(await loginOf(email)).toMatchObject({ verified: false, password: false, passkeys: 1 });
    const visitor = desk.visitor();
    const page = await visitor.follow(await visitor.get(`/join/${token}?proof=${proof}`));
    expect(page.text).toContain('Continue with your passkey');
    const silent = await visitor.post(`/join/${token}`, { password: PASSWORD });
    expect([silent.status, silent.text.includes('or tick this to replace it')]).toEqual([422, true]);
    await visitor.post(`/join/${token}`, { password: PASSWORD, replaces: 'yes' });
    expect(await loginOf(email)).toMatchObject({ verified: true, password: true, passkeys: 0 });
    expect(await desk.mail(email)).toMatchObject({ kind: 'password_changed', token: 'forgot-password' });
  });

  it('of a refused acceptance is not kept, nor what it proved', async () => {
    const email = newAddress();
    const { id } = await office.inviteOne(studentRow({ email }));
    const { token, proof } = await desk.mail(email);
    await sql(`UPDATE members SET status = 'archived', archived_at = now() WHERE user_id = $1`, id);
    expect(await accept(token, proof, { passkey: passkey() })).toEqual(refused('archived'));
    expect(await loginOf(email)).toMatchObject({ verified: false, password: false, passkeys: 0 });
  });

  it('that is somebody’s already makes no login, and takes none over', async () => {
    const [key, code] = [passkey(), await desk.invite(office, STUDENT)];
    expect(await accept(code, null, newcomer(newAddress(), key))).toMatchObject({ status: 'joined' });
    const email = newAddress();
    const copy = { ...key, loginId: uuidv7() };
    expect(await accept(code, null, newcomer(email, copy))).toEqual(refused('passkey'));
    expect(await loginOf(email)).toBeNull();
    await office.inviteOne(studentRow({ email }));
    const { token, proof } = await desk.mail(email);
    expect(await accept(token, proof, { passkey: copy })).toEqual(refused('passkey'));
    expect(await loginOf(email)).toMatchObject({ verified: false, passkeys: 0 });
  });

  it('made for a login that has another address by now makes a new one', async () => {
    const { id } = await desk.person();
    const email = newAddress();
    const outcome = await accept(await desk.invite(office, STUDENT), null, newcomer(email, passkey({ loginId: id })));
    expect(outcome).toMatchObject({ status: 'joined', created: true });
    expect((await loginOf(email))!.id).not.toBe(id);
  });

  it('is stored once when twenty accept an invite to one person at the same time', async () => {
    const email = newAddress();
    const token = await desk.invite(office, { ...STUDENT, email });
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => accept(token, null, newcomer(email))));
    expect(outcomes.filter(({ status }) => status === 'joined')).toHaveLength(1);
    expect(await loginOf(email)).toMatchObject({ passkeys: 1 });
  });
});
