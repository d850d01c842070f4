import { newAddress, type PeopleFixture, parentRow, studentRow } from '../../support/data/provisioning.js';
import { JoinFixture, registration, STUDENT, TUTOR } from '../../support/portal/join-fixture.js';
import { type Visitor } from '../../support/portal/visitor.js';

const NEW = 'a new and longer password';

let provisioning: PeopleFixture;

const joining = await JoinFixture.shared();
const { sql } = joining;
beforeEach(async () => {
  provisioning = await joining.provisioning();
});

const tieOf = async (userId: string, at = provisioning) => {
  const [tie] = await sql<{ status: string }>('SELECT status FROM members WHERE organization_id = $1 AND user_id = $2', at.id, userId);
  return tie?.status;
};

/** Sets a new password with a mailed link. @returns the browser, now signed in */
async function resetPassword(email: string): Promise<Visitor> {
  const visitor = joining.visitor();
  await visitor.post('/forgot-password', { email });
  await joining.portal.resolveLinks();
  const { token } = await joining.mail(email);
  expect((await visitor.post(`/password/${token}`, { password: NEW, replaces: 'yes' })).status).toBe(303);
  return visitor;
}

describe('open invitations', () => {
  it('are shown after a reset that proves the address, and can be accepted', async () => {
    const email = newAddress();
    await joining.visitor().post(`/join/${await joining.invite(provisioning, STUDENT)}`, registration(email));
    const [login] = await sql<{ id: string }>('SELECT id FROM users WHERE email_normalized = $1', email);
    const { id } = login!;
    expect(await tieOf(id)).toBe('accepted');
    const visitor = await resetPassword(email);
    expect(await tieOf(id)).toBe('pending');
    const page = (await visitor.get('/')).text;
    expect(page).toContain('Invitations waiting for you');
    expect(page).toContain('Demo Tutoring');
    const done = await visitor.follow(await visitor.post(`/organizations/${provisioning.id}/accept`, { as: 'member' }));
    expect(done.text).toContain('You accepted');
    expect(done.text).not.toContain('Invitations waiting');
    expect(await tieOf(id)).toBe('accepted');
    const again = await visitor.follow(await visitor.post(`/organizations/${provisioning.id}/accept`, { as: 'member' }));
    expect(again.text).toContain('no longer open');
    const rows = await joining.portal.audited(provisioning.id);
    expect(rows.at(-1)).toEqual({ operation: 'join', by: id, details: { user_id: id, as: 'member' } });
  });

  it('can be declined, which archives the membership and reveals nothing', async () => {
    const person = await joining.person();
    await provisioning.inviteOne(studentRow({ email: person.email, first_name: 'Supplied', last_name: 'Name' }));
    const visitor = await joining.signedIn(person.id);
    expect((await visitor.get('/')).text).toContain('Invitations waiting for you');
    await visitor.post(`/organizations/${provisioning.id}/decline`, { as: 'member' });
    expect(await tieOf(person.id)).toBe('archived');
    expect((await visitor.get('/')).text).not.toContain('Invitations waiting');
    expect(await provisioning.seen('/v1/students', person.id)).toMatchObject({ status: 'archived', first_name: 'Supplied' });
    expect((await sql('SELECT accepted_at FROM members WHERE user_id = $1', person.id))[0]).toEqual({ accepted_at: null });
    const declined = { operation: 'decline_membership', by: person.id, details: { user_id: person.id, as: 'member' } };
    expect((await joining.portal.audited(provisioning.id)).at(-1)).toEqual(declined);
  });

  it('name what they are for: a membership, or being a parent', async () => {
    const person = await joining.person();
    const visitor = await joining.signedIn(person.id);
    const offered = async () => [...new Set((await visitor.get('/')).text.match(/(?<=name="as" value=")[^"]*/g))];
    const { id } = await provisioning.inviteOne(parentRow({ email: person.email }));
    expect(await offered()).toEqual([]);
    await provisioning.link(id, (await provisioning.make.student(provisioning.id)).id);
    expect(await offered()).toEqual(['parent']);
    await (await joining.provisioning()).inviteOne(studentRow({ email: person.email }));
    expect((await offered()).sort()).toEqual(['member', 'parent']);
  });

  it('are neither shown to nor accepted by a person with an unproven address', async () => {
    const person = await joining.person({ verified: false });
    const elsewhere = await joining.provisioning();
    await joining.portal.make.member(elsewhere.id, { user: person });
    await provisioning.inviteOne(studentRow({ email: person.email }));
    const visitor = await joining.signedIn(person.id);
    const { text } = await visitor.get('/organizations');
    expect(text).not.toContain('Invitations waiting');
    expect(text).toContain('Email me a confirmation link');
    for (const answer of ['accept', 'decline']) {
      await visitor.post(`/organizations/${provisioning.id}/${answer}`, { as: 'member' });
      expect(await tieOf(person.id)).toBe('pending');
    }
  });

  it('are visible only to their person', async () => {
    const person = await joining.person();
    await provisioning.inviteOne(studentRow({ email: person.email }));
    const stranger = await joining.signedIn((await joining.person()).id);
    const absent = await stranger.follow(await stranger.post('/organizations/018cc251-0000-7000-8000-000000000000/accept', { as: 'member' }));
    const foreign = await stranger.follow(await stranger.post(`/organizations/${provisioning.id}/accept`, { as: 'member' }));
    expect(foreign.text).toBe(absent.text);
    expect(await tieOf(person.id)).toBe('pending');
  });
});

describe('a tutor who waits for approval', () => {
  it('cannot get in with a new password, an open invitation or the code again', async () => {
    const [email, code] = [newAddress(), await joining.invite(provisioning, TUTOR)];
    await joining.visitor().post(`/join/${code}`, registration(email));
    const [login] = await sql<{ id: string }>('SELECT id FROM users WHERE email_normalized = $1', email);
    const { id } = login!;
    expect(await tieOf(id)).toBe('pending');
    const visitor = await resetPassword(email);
    expect((await visitor.get('/')).text).not.toContain('Invitations waiting');
    await visitor.post(`/organizations/${provisioning.id}/accept`, { as: 'member' });
    expect(await tieOf(id)).not.toBe('accepted');
    await visitor.post(`/join/${code}`);
    expect(await tieOf(id)).not.toBe('accepted');
  });
});
