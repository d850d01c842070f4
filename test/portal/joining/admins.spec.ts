import { newAddress } from '../../support/data/provisioning.js';
import { JoinFixture, registration } from '../../support/portal/join-fixture.js';
import { PeoplePages } from '../../support/portal/people-pages.js';
import { PASSWORD } from '../../support/portal/portal.js';

const joining = await JoinFixture.shared();
const { sql } = joining;
const { make } = joining.portal;

let pages: PeoplePages;

beforeEach(async () => {
  pages = await PeoplePages.open(joining);
});

const here = () => pages.provisioning.id;
const addressOf = async (id: string) => (await sql<{ email: string }>('SELECT email FROM users WHERE id = $1', id))[0]!.email;
const statusOf = async (email: string) =>
  (
    await sql('SELECT m.role, m.status FROM members m JOIN users u ON u.id = m.user_id WHERE organization_id = $1 AND u.email = $2', here(), email)
  )[0];

/** Somebody more who manages, and is signed in. */
async function manager(role: 'owner' | 'admin') {
  return joining.portal.someone(role, { organization: await make.find('organizations', here()) });
}

/** A key with accounts:write alone. */
const narrowKey = () => joining.api.keys.create(here(), { name: 'leaked', scopes: ['accounts:write'] });

/** Invites an admin with a key. @returns the token of the answer */
async function inviteBy(key: string, email: string): Promise<string> {
  const answer = await pages.provisioning.send('post', '/v1/invites', { scope: 'organization', role: 'admin', email }, { key });
  expect(answer.status).toBe(201);
  return (answer.body as { token: string }).token;
}

/** An admin whom a key has invited, who has accepted with the mail's proof. */
async function waitingAdmin() {
  const email = newAddress();
  await inviteBy((await narrowKey()).key, email);
  const { token, proof } = await joining.mail(email);
  const visitor = joining.visitor();
  await visitor.get(`/join/${token}?proof=${proof}`);
  const welcome = await visitor.follow(await visitor.post(`/join/${token}`, registration()));
  return { email, visitor, welcome, id: (await joining.loginOf(email))!.id as string };
}

describe('an admin whom an API key invites', () => {
  it('does not get in with the link of the key’s answer', async () => {
    const email = newAddress();
    const token = await inviteBy((await narrowKey()).key, email);
    for (const visitor of [joining.visitor(), await joining.signedIn((await joining.person({ email })).id)]) {
      const shown = await visitor.get(`/join/${token}`);
      expect([shown.status, shown.text]).toEqual([409, expect.stringContaining('Open the link in the email')]);
      expect((await visitor.post(`/join/${token}`, registration())).status).toBe(409);
      expect((await visitor.post(`/join/${token}?proof=${'x'.repeat(43)}`, registration())).status).toBe(409);
    }
    expect(await joining.accept(token, 'x'.repeat(43), { email, password: PASSWORD, firstName: 'M', lastName: 'N' })).toEqual({
      status: 'refused',
      problem: 'unproven',
    });
    expect(await statusOf(email)).toBeUndefined();
    await joining.visitor().post(`/join/${token}/decline`);
    expect((await joining.visitor().get(`/join/${token}`)).text).toContain('This invitation was declined');
  });

  it('waits for an owner, sees and does nothing meanwhile, and all owners are told', async () => {
    const [second, admin] = [await manager('owner'), await manager('admin')];
    const { id, email, visitor, welcome } = await waitingAdmin();
    expect(welcome.text).toContain('An owner of Demo Tutoring has to approve you');
    expect(await statusOf(email)).toEqual({ role: 'admin', status: 'pending' });
    const routes = joining.portal.routes().filter(({ access, method }) => access === 'managers' && method === 'GET');
    const slug = pages.base.split('/')[2]!;
    for (const { path } of routes) expect([path, (await visitor.get(path.replace(':slug', slug))).status]).toEqual([path, 404]);
    expect((await visitor.get('/')).text).not.toContain('Invitations waiting');
    await visitor.post(`/organizations/${here()}/accept`, { as: 'member' });
    expect(await statusOf(email)).toEqual({ role: 'admin', status: 'pending' });
    for (const { user } of [{ user: { email: await addressOf(pages.ownerId) } }, second])
      expect(await joining.portal.mailsTo(user.email, 'manager_waits')).toHaveLength(1);
    expect(await joining.portal.mailsTo(admin.user.email, 'manager_waits')).toEqual([]);
    for (const decision of ['approve', 'decline']) {
      await joining.portal.post(`${pages.base}/members/${id}/${decision}`, {}, admin.cookie);
      expect(await statusOf(email)).toEqual({ role: 'admin', status: 'pending' });
    }
    expect((await joining.portal.get(`${pages.base}?status=waiting`, admin.cookie)).text).toContain('An owner has to approve');
    await pages.owner.post(`${pages.base}/members/${id}/approve`);
    expect(await statusOf(email)).toEqual({ role: 'admin', status: 'accepted' });
    expect((await visitor.get(pages.base)).status).toBe(200);
    for (const address of [await addressOf(pages.ownerId), second.user.email])
      expect(await joining.portal.mailsTo(address, 'manager_added')).toHaveLength(1);
    expect(await joining.portal.mailsTo(email, 'approval_given')).toMatchObject([{ role: 'admin' }]);
    expect(await pages.audited('approve_member')).toEqual([{ user_id: id, by: pages.ownerId }]);
  });

  it('is declined by an owner', async () => {
    const { id, email } = await waitingAdmin();
    await pages.owner.post(`${pages.base}/members/${id}/decline`);
    expect(await statusOf(email)).toEqual({ role: 'admin', status: 'archived' });
    expect((await joining.portal.mailsTo(email, 'approval_declined'))[0]).toMatchObject({ role: 'admin' });
  });

  it('waits again after a removal, and after an admin has resent the invite', async () => {
    const { id, email, visitor } = await waitingAdmin();
    await pages.owner.post(`${pages.base}/members/${id}/approve`);
    await pages.owner.post(`${pages.base}/${id}/remove`);
    await pages.provisioning.tenMinutesLater();
    await inviteBy((await narrowKey()).key, email);
    await pages.provisioning.tenMinutesLater();
    const admin = await manager('admin');
    const [invite] = await sql<{ id: string }>('SELECT id FROM invites WHERE email = $1 AND revoked_at IS NULL AND accepted_at IS NULL', email);
    await joining.portal.post(`${pages.base}/invites/${invite!.id}/resend`, {}, admin.cookie);
    const { token, proof } = await joining.mail(email);
    await visitor.get(`/join/${token}?proof=${proof}`);
    const answer = await visitor.follow(await visitor.post(`/join/${token}`));
    expect(answer.text).toContain('Waiting for approval');
    expect(await statusOf(email)).toEqual({ role: 'admin', status: 'pending' });
    expect((await pages.owner.get(`${pages.base}/${id}`)).text).toContain('Mia Nguyen');
  });

  it('is let in by the owner who invites them, without a second approval; other owners are told', async () => {
    const [second, email] = [await manager('owner'), newAddress()];
    await pages.owner.post(`${pages.base}/invite`, { role: 'admin', email });
    const { token } = await joining.mail(email);
    const visitor = joining.visitor();
    const welcome = await visitor.follow(await visitor.post(`/join/${token}`, registration()));
    expect(welcome.text).toContain('You are now an admin');
    expect(await statusOf(email)).toEqual({ role: 'admin', status: 'accepted' });
    expect((await joining.portal.mailsTo(second.user.email, 'manager_added'))[0]!.membership).toMatchObject({
      person: 'Mia Nguyen',
      by: 'Ada Lovelace',
    });
  });

  it('is let in once an owner has resent the invite', async () => {
    const email = newAddress();
    await inviteBy((await narrowKey()).key, email);
    await pages.provisioning.tenMinutesLater();
    const [invite] = await sql<{ id: string }>('SELECT id FROM invites WHERE email = $1', email);
    await pages.owner.post(`${pages.base}/invites/${invite!.id}/resend`);
    const { token } = await joining.mail(email);
    await joining.visitor().post(`/join/${token}`, registration());
    expect(await statusOf(email)).toEqual({ role: 'admin', status: 'accepted' });
  });

  it('of an owner who is no longer one waits', async () => {
    const [second, email] = [await manager('owner'), newAddress()];
    await joining.portal.post(`${pages.base}/invite`, { role: 'admin', email }, second.cookie);
    await sql(`UPDATE members SET role = 'admin' WHERE user_id = $1`, second.user.id);
    const { token, proof } = await joining.mail(email);
    expect((await joining.visitor().get(`/join/${token}`)).status).toBe(409);
    expect(await joining.accept(token, proof, { email, password: PASSWORD, firstName: 'M', lastName: 'N' })).toMatchObject({ waits: true });
  });
});

it('owners are told of a new owner by a change of role, also the one who made it', async () => {
  const [second, admin] = [await manager('owner'), await manager('admin')];
  await pages.owner.post(`${pages.base}/${admin.user.id}/role`, { role: 'owner' });
  for (const address of [await addressOf(pages.ownerId), second.user.email])
    expect(await joining.portal.mailsTo(address, 'manager_added')).toHaveLength(1);
});

describe('revoking a key', () => {
  it('ends the open invites that it made, but no links to accounts', async () => {
    const { id, key } = await narrowKey();
    const classroom = await make.classroom(here());
    const wishes = [
      { scope: 'organization', role: 'admin', email: newAddress() },
      { scope: 'organization', role: 'tutor', email: newAddress() },
      { scope: 'classroom', classroom_id: classroom.id },
    ];
    for (const wish of wishes) await pages.provisioning.send('post', '/v1/invites', wish, { key });
    const student = { first_name: 'Mia', last_name: 'N', email: newAddress() };
    await pages.provisioning.send('post', '/v1/students', student, { key });
    const another = await joining.invite(pages.provisioning, { scope: 'organization', role: 'student', email: newAddress() });
    await pages.owner.post(`${pages.base.replace('/people', '/keys')}/${id}/revoke`);
    const open = 'SELECT scope FROM invites WHERE organization_id = $1 AND revoked_at IS NULL AND NOT standing ORDER BY 1';
    expect(await sql(open, here())).toEqual([{ scope: 'account' }, { scope: 'organization' }]);
    expect((await joining.visitor().get(`/join/${another}`)).status).toBe(200);
    expect(await pages.audited('revoke API key')).toMatchObject([{ invites: 3 }]);
  });

  it('by a demotion of its maker, they wait for an owner', async () => {
    const { id, key } = await narrowKey();
    const admin = await manager('admin');
    await sql('UPDATE api_keys SET created_by = $1 WHERE id = $2', admin.user.id, id);
    const token = await inviteBy(key, newAddress());
    await pages.owner.post(`${pages.base}/${admin.user.id}/role`, { role: 'tutor' });
    expect((await joining.visitor().get(`/join/${token}`)).text).toContain('This invitation waits');
  });
});

describe('without a mail server', () => {
  it('an owner’s approval is enough, because nothing can be proven', async () => {
    const silent = await JoinFixture.open({ SMTP_URL: '' });
    try {
      const by = await silent.provisioning();
      const email = newAddress();
      const token = await silent.invite(by, { scope: 'organization', role: 'admin', email });
      const visitor = silent.visitor();
      const answer = await visitor.follow(await visitor.post(`/join/${token}`, registration()));
      expect(answer.text).toContain('Waiting for approval');
    } finally {
      await silent.stop();
    }
  });
});
