import { newAddress, type PeopleFixture, parentRow, studentRow, tutorRow } from '../../support/data/provisioning.js';
import { JoinFixture, newPasskey } from '../../support/portal/join-fixture.js';
import { PASSWORD } from '../../support/portal/portal.js';
import type { Visitor } from '../../support/portal/visitor.js';

let provisioning: PeopleFixture;

const joining = await JoinFixture.shared();
beforeEach(async () => {
  provisioning = await joining.provisioning();
});

const TYPO = `${PASSWORD}e`;

/** Every kind of mail that proves an address, sent to a login that the organization knows or not. */
const MAILS: Record<string, (email: string) => Promise<unknown>> = {
  'an account of a student': (email) => provisioning.inviteOne(studentRow({ email })),
  'an account of a tutor': (email) => provisioning.inviteOne(tutorRow({ email })),
  'an account of a parent': async (email) => {
    const { id } = await provisioning.inviteOne(parentRow({ email }));
    const child = await provisioning.make.student(provisioning.id);
    await provisioning.post(`/v1/parents/${id}/link-student`, { student_id: child.id });
    await provisioning.post(`/v1/parents/${id}/send-invite`);
  },
  'an invite to an organization': (email) => joining.invite(provisioning, { scope: 'organization', role: 'student', email }),
  'an invite to a tutor': async (email) => {
    const tutor = await provisioning.make.tutor(provisioning.id);
    return joining.invite(provisioning, { scope: 'tutor_student', tutor_id: tutor.id, email });
  },
};

/** A login whose address nobody has proven, in use with the given credentials. */
async function inUse({ password, passkeys }: { password: boolean; passkeys: boolean }): Promise<string> {
  const { id, email } = await joining.portal.make.user({ email: newAddress() });
  if (password) await joining.portal.setPassword(id);
  if (passkeys) await joining.portal.make.row('passkeys', { userId: id });
  return email;
}

/** Opens the newest mail to the address. */
async function openMail(email: string): Promise<{ visitor: Visitor; path: string; page: string }> {
  const { token, proof } = await joining.mail(email);
  const visitor = joining.visitor();
  const { text } = await visitor.follow(await visitor.get(`/join/${token}?proof=${proof}`));
  return { visitor, path: `/join/${token}`, page: text };
}

describe.each(Object.keys(MAILS))('the mail of %s', (kind) => {
  it('leaves the password of a login in use as it is after a typing error', async () => {
    const email = await inUse({ password: true, passkeys: false });
    await MAILS[kind]!(email);
    const before = await joining.loginOf(email);
    const { visitor, path, page } = await openMail(email);
    expect(page).toContain('autocomplete="current-password"');
    const answer = await visitor.post(path, { password: TYPO });
    expect([answer.status, answer.text]).toEqual([422, expect.stringContaining('not the account’s password')]);
    expect(await joining.loginOf(email)).toEqual(before);
    expect((await joining.visitor().post('/sign-in', { email, password: TYPO })).status).toBe(422);
    expect((await visitor.post(path, { password: PASSWORD })).headers.location).toBe('/join/done');
    expect(await joining.loginOf(email)).toEqual({ ...before, verified: true });
  });
});

it('somebody’s first password is answered with a welcome by the organization, not with a warning', async () => {
  const email = newAddress();
  await MAILS['an account of a student']!(email);
  const { visitor, path } = await openMail(email);
  expect((await visitor.post(path, { password: PASSWORD })).headers.location).toBe('/join/done');
  expect(await joining.mail(email)).toMatchObject({ kind: 'welcome', token: '' });
});

describe('a login in use', () => {
  it('gets a new password from its mail only if the person ticks that', async () => {
    const email = await inUse({ password: true, passkeys: true });
    await MAILS['an account of a student']!(email);
    const { visitor, path, page } = await openMail(email);
    expect(page).toContain('make this the new password and remove the passkeys');
    expect((await visitor.post(path, { password: TYPO, replaces: 'yes' })).headers.location).toBe('/join/done');
    expect(await joining.loginOf(email)).toMatchObject({ verified: true, password: true, passkeys: 0 });
    expect(await joining.mail(email)).toMatchObject({ kind: 'password_changed' });
    expect((await joining.visitor().post('/sign-in', { email, password: TYPO })).headers.location).toBe('/');
  });

  it('keeps its password where a new passkey is sent, unless the person ticks that', async () => {
    const email = await inUse({ password: true, passkeys: false });
    await MAILS['an account of a student']!(email);
    const { visitor, path, page } = await openMail(email);
    expect(page).not.toContain('data-passkey="join"');
    expect((await visitor.post(`${path}/passkey/options`)).status).toBe(404);
    const { token, proof } = await joining.mail(email);
    const passkey = newPasskey({ loginId: (await joining.loginOf(email))!.id as string });
    expect(await joining.accept(token, proof, { passkey })).toEqual({ status: 'refused', problem: 'other_credential' });
    expect(await joining.loginOf(email)).toMatchObject({ verified: false, password: true, passkeys: 0 });
    expect(await joining.accept(token, proof, { passkey, replaces: true })).toMatchObject({ status: 'joined' });
    expect(await joining.loginOf(email)).toMatchObject({ verified: true, password: false, passkeys: 1 });
  });

  it('keeps the password that somebody chose while the form for a first one was open', async () => {
    const email = newAddress();
    await MAILS['an account of a student']!(email);
    const { visitor, path, page } = await openMail(email);
    expect(page).toContain('Choose a password');
    await joining.portal.setPassword((await joining.loginOf(email))!.id as string);
    expect((await visitor.post(path, { password: TYPO })).status).toBe(422);
    expect((await visitor.post(path, { password: PASSWORD })).headers.location).toBe('/join/done');
  });
});
