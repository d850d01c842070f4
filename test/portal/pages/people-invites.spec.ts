import { newAddress, studentRow, tutorRow } from '../../support/data/provisioning.js';
import { JoinFixture, registration, STUDENT, TUTOR } from '../../support/portal/join-fixture.js';
import { PeoplePages } from '../../support/portal/people-pages.js';
import { Visitor } from '../../support/portal/visitor.js';

let pages: PeoplePages;

const joining = await JoinFixture.shared();
const { sql } = joining;
beforeEach(async () => {
  pages = await PeoplePages.open(joining);
});

describe('an invite of a person on the list', () => {
  it.each([
    ['student', studentRow],
    ['tutor', tutorRow],
  ] as const)('is sent again to a pending %s, but not within ten minutes', async (_role, row) => {
    const { email } = await joining.person();
    const { id } = await pages.provisioning.inviteOne(row({ email }));
    const path = `${pages.base}/members/${id}/send-invite`;
    const first = await joining.mail(email);
    expect((await pages.owner.follow(await pages.owner.post(path))).text).toContain(`No email was sent to ${email}`);
    await pages.provisioning.tenMinutesLater();
    expect((await pages.owner.follow(await pages.owner.post(path))).text).toContain(`We are sending a link to ${email}`);
    const second = await joining.mail(email);
    expect(second).toMatchObject({ kind: 'membership_invite' });
    expect(second.token).not.toBe(first.token);
    expect(await pages.audited('send_invite')).toEqual([
      { user_id: id, sent: false, by: pages.ownerId },
      { user_id: id, sent: true, by: pages.ownerId },
    ]);
  });

  it('is sent to a parent', async () => {
    const child = await pages.provisioning.make.student(pages.provisioning.id);
    const parent = await pages.provisioning.make.parent(pages.provisioning.id, { children: [child.id] });
    await pages.owner.post(`${pages.base}/parents/${parent.id}/send-invite`);
    expect(await joining.mail(parent.email)).toMatchObject({ kind: 'account_created' });
  });

  it('stops working when it is revoked', async () => {
    const { email } = await joining.person();
    const { id } = await pages.provisioning.inviteOne(studentRow({ email }));
    const { token } = await joining.mail(email);
    await pages.owner.post(`${pages.base}/members/${id}/revoke-invites`);
    expect((await joining.visitor().get(`/join/${token}`)).text).toContain('This invitation was withdrawn');
    expect((await pages.owner.post(`${pages.base}/members/${id}/revoke-invites`)).status).toBe(404);
    expect(await pages.audited('revoke_account_invites')).toEqual([{ user_id: id, by: pages.ownerId }]);
  });

  it('explains why it cannot be sent', async () => {
    const archived = await pages.provisioning.make.student(pages.provisioning.id, { status: 'archived' });
    const { id: nobody } = await pages.provisioning.inviteOne(studentRow({ email: undefined }));
    const { id: waits } = await pages.waitingTutor();
    for (const [id, said] of [
      [archived.id, 'This person has left'],
      [nobody, 'has no email address'],
      [waits, 'is waiting for approval'],
    ]) {
      const answer = await pages.owner.follow(await pages.owner.post(`${pages.base}/members/${id}/send-invite`));
      expect(answer.text).toContain(said);
    }
  });
});

describe('open invites', () => {
  it('are listed with their purpose but without their secrets', async () => {
    const make = joining.portal.make;
    const email = newAddress();
    const [room, tutor, child] = [
      await make.classroom(pages.provisioning.id, { name: 'Year 9 Algebra' }),
      await make.tutor(pages.provisioning.id, { user: { firstName: 'Grace', lastName: 'Hopper' } }),
      await make.student(pages.provisioning.id, { user: { firstName: 'Tim', lastName: 'Young' } }),
    ];
    const secrets = [
      await joining.invite(pages.provisioning, { ...STUDENT, email }),
      await joining.invite(pages.provisioning, TUTOR),
      await joining.invite(pages.provisioning, { scope: 'classroom', classroom_id: room.id }),
      await joining.invite(pages.provisioning, { scope: 'tutor_student', tutor_id: tutor.id }),
      await joining.invite(pages.provisioning, { scope: 'parent', student_id: child.id }),
    ];
    const { text } = await pages.owner.get(`${pages.base}/invites`);
    for (const shown of [email, 'Classroom Year 9 Algebra', 'With Grace Hopper', 'Of Tim Young', 'Anyone with the link', 'Anyone with the code']) {
      expect(text).toContain(shown);
    }
    for (const secret of secrets) expect(text).not.toContain(secret);
    await joining.visitor().post(`/join/${secrets[0]}`, registration());
    expect((await pages.owner.get(`${pages.base}/invites`)).text).not.toContain(email);
  });

  it('are listed page by page', async () => {
    for (let index = 0; index < 60; index++) await joining.invite(pages.provisioning, { ...STUDENT, email: `walk-${index}-${newAddress()}` });
    const text = await joining.portal.walk(`${pages.base}/invites`, pages.owner.header, 'Next page');
    const addresses = [...text.matchAll(/<strong>(walk-\d+)-/g)].map(([, address]) => address);
    expect(new Set(addresses).size).toBe(60);
    expect(addresses).toHaveLength(60);
  });

  it('are replaced by a new link when sent again', async () => {
    const email = newAddress();
    const former = await joining.invite(pages.provisioning, { ...TUTOR, email });
    const id = async () => (await sql<{ id: string }>('SELECT id FROM invites WHERE email = $1 AND revoked_at IS NULL', email))[0]!.id;
    const first = await id();
    const early = await pages.owner.post(`${pages.base}/invites/${first}/resend`);
    expect((await pages.owner.follow(early)).text).toContain(`No email was sent to ${email}`);
    expect((await joining.visitor().get(`/join/${former}`)).status).toBe(200);
    await pages.provisioning.tenMinutesLater();
    const resent = await pages.owner.post(`${pages.base}/invites/${first}/resend`);
    expect(resent.status).toBe(200);
    const [, shown] = /value="[^"]*\/join\/([\w-]{43})"/.exec(resent.text)!;
    const mail = await joining.mail(email);
    expect(mail).toMatchObject({ kind: 'organization_invite', token: shown });
    expect(resent.text).not.toContain(mail.proof);
    expect((await joining.visitor().get(`/join/${former}`)).text).toContain('This invitation was withdrawn');
    expect((await joining.visitor().get(`/join/${shown}`)).text).toContain('Tutor');
    expect(await pages.audited('resend_invite')).toEqual([{ invite_id: await id(), replaces: first, emailed: true, by: pages.ownerId }]);
    expect((await pages.owner.post(`${pages.base}/invites/${first}/resend`)).status).toBe(404);
  });

  it('can be sent again after they expire, as a new code if they were codes', async () => {
    const email = newAddress();
    const child = await pages.provisioning.make.student(pages.provisioning.id);
    await joining.invite(pages.provisioning, { scope: 'parent', student_id: child.id, email });
    await sql('UPDATE invites SET expires_at = now() WHERE email = $1', email);
    const [invite] = await sql<{ id: string }>('SELECT id FROM invites WHERE email = $1', email);
    expect((await pages.owner.get(`${pages.base}/invites`)).text).toContain('Expired');
    const { text } = await pages.owner.post(`${pages.base}/invites/${invite!.id}/resend`);
    expect(text).toContain('share the invite');
    const [, code] = /value="([0-9A-Z]{12})"/.exec(text)!;
    expect((await joining.visitor().get(`/join/${code}`)).status).toBe(200);
  });

  it('can be revoked once, except the permanent codes', async () => {
    const code = await joining.invite(pages.provisioning, STUDENT);
    const [invite] = await sql<{ id: string }>('SELECT id FROM invites WHERE organization_id = $1', pages.provisioning.id);
    await pages.owner.post(`${pages.base}/invites/${invite!.id}/revoke`);
    expect((await joining.visitor().get(`/join/${code}`)).status).toBe(404);
    expect((await pages.owner.post(`${pages.base}/invites/${invite!.id}/revoke`)).status).toBe(404);
    expect(await pages.audited('DELETE /v1/invites/:invite_id')).toEqual([{ invite_id: invite!.id, by: pages.ownerId }]);
    const { id } = await joining.api.organizations.create({ name: 'Standing', slug: `standing-${Date.now()}` });
    const standing = await sql<{ id: string }>('SELECT id FROM invites WHERE organization_id = $1 AND standing', id);
    const organization = await joining.portal.make.find('organizations', id);
    const { cookie } = await joining.portal.someone('owner', { organization });
    const keeper = new Visitor(joining.portal, cookie);
    for (const one of standing) {
      expect((await keeper.post(`/o/${organization.slug}/people/invites/${one.id}/revoke`)).status).toBe(404);
    }
  });
});
