import { v7 as uuidv7 } from 'uuid';
import { OpenedInvites } from '@app/access';
import { newAddress, type PeopleFixture, studentRow } from '../../support/data/provisioning.js';
import { JoinFixture, newPasskey, STUDENT } from '../../support/portal/join-fixture.js';
import { PASSWORD } from '../../support/portal/portal.js';

let provisioning: PeopleFixture;

const joining = await JoinFixture.shared();
const { sql } = joining;
beforeEach(async () => {
  provisioning = await joining.provisioning();
});

const newcomer = (email: string, key = newPasskey()) => ({ email, firstName: 'Mia', lastName: 'Nguyen', passkey: key });
const refused = (problem: string) => ({ status: 'refused', problem });

describe('joining with a passkey', () => {
  it('without a proof sets the first credential of a login that the organization created, and no further one', async () => {
    const email = newAddress();
    await provisioning.inviteOne(studentRow({ email }));
    const { token } = await joining.mail(email);
    expect(await joining.accept(token, null, { passkey: newPasskey() })).toMatchObject({ status: 'joined', verified: false });
    expect(await joining.loginOf(email)).toMatchObject({ verified: false, password: false, passkeys: 1 });
    // The login is in use now, so neither a password nor another passkey works without a proof.
    const child = await provisioning.make.student(provisioning.id);
    const again = await joining.invite(provisioning, { scope: 'parent', student_id: child.id, email });
    expect(await joining.portal.app.get(OpenedInvites).look(again, null)).toMatchObject({ needs: 'sign_in' });
    expect(await joining.accept(again, null, { password: PASSWORD })).toEqual(refused('sign_in'));
    expect(await joining.accept(again, null, newcomer(email))).toEqual(refused('sign_in'));
    expect(await joining.loginOf(email)).toMatchObject({ verified: false, password: false, passkeys: 1 });
  });

  it('without a proof does not open a login that another organization also knows', async () => {
    const email = newAddress();
    await provisioning.inviteOne(studentRow({ email }));
    const second = await joining.provisioning();
    const token = await joining.invite(second, { ...STUDENT, email });
    expect(await joining.accept(token, null, newcomer(email))).toEqual(refused('sign_in'));
    expect(await joining.loginOf(email)).toMatchObject({ verified: false, password: false, passkeys: 0 });
  });

  it.each([true, false])('that the login already has accepts, and proves its address by a proof: %s', async (given) => {
    const { id: userId, email } = await joining.portal.make.user({ email: newAddress() });
    await joining.invite(provisioning, { ...STUDENT, email });
    const { token, proof } = await joining.mail(email);
    const { id: passkeyId, credentialId } = await provisioning.make.row('passkeys', { userId });
    const accept = (id: string) => joining.accept(token, given ? proof : null, { userId: id, passkeyId, credentialId });
    expect(await accept((await joining.person()).id)).toEqual(refused('passkey'));
    expect(await accept(userId)).toMatchObject({ status: 'joined', userId, created: false, verified: given });
    expect(await joining.loginOf(email)).toMatchObject({ verified: given, password: false, passkeys: 1 });
  });

  it('does not open a login whose address is proven, with or without a proof', async () => {
    const { email } = await joining.person();
    await joining.invite(provisioning, { ...STUDENT, email });
    const { token, proof } = await joining.mail(email);
    for (const given of [null, proof]) expect(await joining.accept(token, given, newcomer(email))).toEqual(refused('sign_in'));
    expect(await joining.loginOf(email)).toMatchObject({ verified: true, password: true, passkeys: 0 });
  });

  it.each([true, false])('with a proof removes the earlier credentials (a password: %s)', async (before) => {
    const email = newAddress();
    const code = await joining.invite(provisioning, STUDENT);
    const squatter = before ? { email, firstName: 'M', lastName: 'N', password: PASSWORD } : newcomer(email);
    const joined = await joining.accept(code, null, squatter);
    const { userId } = joined as { userId: string };
    const session = await joining.portal.session(userId);
    expect((await joining.portal.get('/account', session)).status).toBe(200);
    const { token, proof } = await joining.mail(email);
    const own = newPasskey();
    const taken = await joining.accept(token, proof, { passkey: own, replaces: true });
    expect(taken).toMatchObject({ status: 'joined', userId, verified: true, created: false });
    expect(await joining.loginOf(email)).toMatchObject({ verified: true, password: false, passkeys: 1 });
    expect(await sql('SELECT user_id FROM passkeys WHERE credential_id = $1', own.credentialId)).toEqual([{ user_id: userId }]);
    expect((await joining.portal.get('/account', session)).status).toBe(303);
    expect((await joining.visitor().post('/sign-in', { email, password: PASSWORD })).status).toBe(422);
  });

  it('replaces an earlier passkey with a password only after confirmation', async () => {
    const email = newAddress();
    await joining.accept(await joining.invite(provisioning, STUDENT), null, newcomer(email));
    const { token, proof } = await joining.mail(email);
    expect(await joining.accept(token, proof, { password: PASSWORD })).toEqual(refused('other_credential'));
    expect(await joining.loginOf(email)).toMatchObject({ verified: false, password: false, passkeys: 1 });
    const visitor = joining.visitor();
    const page = await visitor.follow(await visitor.get(`/join/${token}?proof=${proof}`));
    expect(page.text).toContain('Continue with your passkey');
    const silent = await visitor.post(`/join/${token}`, { password: PASSWORD });
    expect([silent.status, silent.text.includes('a passkey and no password')]).toEqual([422, true]);
    await visitor.post(`/join/${token}`, { password: PASSWORD, replaces: 'yes' });
    expect(await joining.loginOf(email)).toMatchObject({ verified: true, password: true, passkeys: 0 });
    expect(await joining.mail(email)).toMatchObject({ kind: 'password_changed', token: 'forgot-password' });
  });

  it('stores neither the passkey nor the proof when acceptance is refused', async () => {
    const email = newAddress();
    const { id } = await provisioning.inviteOne(studentRow({ email }));
    const { token, proof } = await joining.mail(email);
    await sql(`UPDATE members SET status = 'archived', archived_at = now() WHERE user_id = $1`, id);
    expect(await joining.accept(token, proof, { passkey: newPasskey() })).toEqual(refused('archived'));
    expect(await joining.loginOf(email)).toMatchObject({ verified: false, password: false, passkeys: 0 });
  });

  it('that is already registered neither creates nor takes over a login', async () => {
    const [key, code] = [newPasskey(), await joining.invite(provisioning, STUDENT)];
    expect(await joining.accept(code, null, newcomer(newAddress(), key))).toMatchObject({ status: 'joined' });
    const email = newAddress();
    const copy = { ...key, loginId: uuidv7() };
    expect(await joining.accept(code, null, newcomer(email, copy))).toEqual(refused('passkey'));
    expect(await joining.loginOf(email)).toBeNull();
    await provisioning.inviteOne(studentRow({ email }));
    const { token, proof } = await joining.mail(email);
    expect(await joining.accept(token, proof, { passkey: copy })).toEqual(refused('passkey'));
    expect(await joining.loginOf(email)).toMatchObject({ verified: false, passkeys: 0 });
  });

  it('created for a login with another address creates a new login', async () => {
    const { id } = await joining.person();
    const email = newAddress();
    const outcome = await joining.accept(await joining.invite(provisioning, STUDENT), null, newcomer(email, newPasskey({ loginId: id })));
    expect(outcome).toMatchObject({ status: 'joined', created: true });
    expect((await joining.loginOf(email))!.id).not.toBe(id);
  });
});
