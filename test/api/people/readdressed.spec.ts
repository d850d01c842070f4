import { newAddress, type PeopleFixture, person, refusedAt } from '../../support/data/provisioning.js';
import { Approvals } from '@app/access';
import { Database } from '@app/database';
import { JoinFixture, STUDENT } from '../../support/portal/join-fixture.js';
import { PASSWORD } from '../../support/portal/portal.js';

const joining = await JoinFixture.shared();
const { make } = joining.portal;
let school: PeopleFixture;
beforeEach(async () => {
  school = await joining.provisioning();
});

const KINDS = {
  student: ['/v1/students', 'patch'],
  tutor: ['/v1/tutors', 'put'],
  parent: ['/v1/parents', 'patch'],
} as const;
type Kind = keyof typeof KINDS;
const every = Object.keys(KINDS) as Kind[];

/** Somebody here, whose login is used or not. */
async function added(kind: Kind, used: boolean, email: string | null = newAddress()): Promise<string> {
  const { id } = (await school.post(KINDS[kind][0], person({ email }))).body as { id: string };
  if (kind === 'parent') await school.link(id, (await make.student(school.id)).id);
  if (used) await joining.portal.setPassword(id);
  // Beyond the pause between mails to an address.
  await school.tenMinutesLater();
  return id;
}
const change = (kind: Kind, id: string, body: object, key = school.key) => school.send(KINDS[kind][1], `${KINDS[kind][0]}/${id}`, body, { key });
const RESTORE = {
  student: (id: string) => school.post(`/v1/students/${id}/restore`),
  tutor: (id: string) => school.post(`/v1/tutors/${id}/restore`),
  parent: (id: string) => school.post(`/v1/parents/${id}/restore`),
};
const statusOf = async (kind: Kind, id: string) =>
  (
    await make.query<{ status: string }>(
      `SELECT status FROM ${kind === 'parent' ? 'parents' : 'members'} WHERE organization_id = $1 AND user_id = $2`,
      [school.id, id],
    )
  )[0]!.status;
const decide = (kind: Kind, id: string, decision: 'approve' | 'decline' = 'approve') => {
  const provisioner = { organizationId: school.id, organization: { name: 'Demo Tutoring', timeZone: 'UTC' }, keyId: null };
  const as = kind === 'parent' ? 'parent' : 'member';
  const by = { userId: null, requestId: 'request-1' };
  const { app } = joining.portal;
  return app.get(Database).transaction({ organizationId: school.id }, () => app.get(Approvals)[decision](provisioner, by, id, as));
};
/** Whoever has the new mailbox opens the link. */
const prove = async (email: string) => {
  const { token, proof } = await joining.mail(email);
  return joining.accept(token, proof, { password: PASSWORD, replaces: true });
};

describe.each(every)('the address of a %s', (kind) => {
  it('that nobody has used is changed at once, and reached', async () => {
    const id = await added(kind, false, null);
    const email = newAddress();
    const { status, body } = await change(kind, id, { email });
    expect([status, body]).toMatchObject([200, { email, placeholder_email: false, status: 'accepted' }]);
    await school.tenMinutesLater();
    if (kind !== 'tutor') expect((await school.post(`${KINDS[kind][0]}/${id}/send-invite`)).body).toEqual({ sent: true, email });
  });

  it.each([
    ['proof', 'approval'],
    ['approval', 'proof'],
  ])('that was used makes them pending until %s and %s', async (first) => {
    const [former, email] = [newAddress(), newAddress()];
    const id = await added(kind, true, former);
    const owner = await make.member(school.id, { role: 'owner' });
    const { status, body } = await change(kind, id, { email });
    expect([status, body]).toMatchObject([200, { email, status: 'pending' }]);
    const queued = (await school.queued()).map((mail) => [mail.kind, mail.recipient]);
    for (const told of [
      ['person_readdressed', owner.email],
      ['address_changed', former],
      ['address_confirmation', email],
    ])
      expect(queued).toContainEqual(told);
    const steps = { proof: () => prove(email), approval: () => decide(kind, id) };
    await steps[first as 'proof']();
    expect(await statusOf(kind, id)).toBe('pending');
    if (first === 'proof') {
      const page = (await (await joining.signedIn(id)).get('/organizations')).text;
      expect(page).toContain(`changed the address of your account to ${email}`);
      expect(page).toContain('has to approve the change');
    }
    await steps[first === 'proof' ? 'approval' : 'proof']();
    expect(await statusOf(kind, id)).toBe('accepted');
  });

  it('cannot be taken over by a key in several steps', async () => {
    const [former, email] = [newAddress(), newAddress()];
    const id = await added(kind, true, former);
    expect((await change(kind, id, { email: null })).body).toMatchObject({ email: null, status: 'accepted' });
    expect((await change(kind, id, { email })).body).toMatchObject({ email, status: 'pending' });
    const role = kind === 'parent' ? 'student' : kind;
    if (kind !== 'parent') await joining.accept(await joining.invite(school, { ...STUDENT, role, email }), null, { password: PASSWORD });
    expect(await statusOf(kind, id)).toBe('pending');
    expect((await school.post(`${KINDS[kind][0]}/${id}/offboard`, {})).status).toBe(200);
    expect((await RESTORE[kind](id)).status).toBe(200);
    expect(await statusOf(kind, id)).toBe('pending');
    await prove(email);
    expect(await statusOf(kind, id)).toBe('pending');
  });

  it('is corrected while they wait for a wrong one, whether that was approved or not', async () => {
    for (const approved of [false, true]) {
      const [former, wrong, right] = [newAddress(), newAddress(), newAddress()];
      const id = await added(kind, true, former);
      const owner = await make.member(school.id, { role: 'owner' });
      await change(kind, id, { email: wrong });
      const { token, proof } = await joining.mail(wrong);
      if (approved) await decide(kind, id);
      const times = async (what: string, to: string) => (await school.queued()).filter((mail) => mail.kind === what && mail.recipient === to).length;
      // Else they are gathered in one mail.
      await school.tenMinutesLater();
      await make.query(`DELETE FROM outbox WHERE kind = 'person_readdressed'`);
      const { status, body } = await change(kind, id, { email: right, first_name: 'Mimi' });
      expect([status, body]).toMatchObject([200, { email: right, first_name: 'Mimi', status: 'pending' }]);
      expect([
        await times('address_confirmation', right),
        await times('address_changed', former),
        await times('address_changed', wrong),
        await times('person_readdressed', owner.email),
      ]).toEqual([1, approved ? 1 : 2, 0, 1]);
      // Whoever has the wrong mailbox gets nothing by the link that is in it.
      await joining.accept(token, proof, { password: PASSWORD, replaces: true }).catch(() => null);
      await decide(kind, id);
      expect(await statusOf(kind, id)).toBe('pending');
      await prove(right);
      expect(await statusOf(kind, id)).toBe('accepted');
    }
  });

  it('that a manager declines ends their time here', async () => {
    const id = await added(kind, true);
    await change(kind, id, { email: newAddress() });
    await decide(kind, id, 'decline');
    expect(await statusOf(kind, id)).toBe('archived');
  });

  it('needs accounts:write if it is another one', async () => {
    const email = newAddress();
    const id = await added(kind, false, email);
    const narrow = await joining.api.key(school.id, { scopes: ['read', 'students:write', 'tutors:write'] });
    expect((await change(kind, id, { email: email.toUpperCase(), phone: '7' }, narrow)).status).toBe(200);
    for (const other of [newAddress(), null]) expect((await change(kind, id, { email: other }, narrow)).status).toBe(403);
  });
});

describe('PATCH /v1/parents/{id}', () => {
  it('changes names and phone by the rules for students', async () => {
    const id = await added('parent', true);
    expect((await change('parent', id, { first_name: 'Mimi', phone: '0400' })).body).toMatchObject({ id, first_name: 'Mimi', status: 'accepted' });
    await make.member((await joining.provisioning()).id, { role: 'tutor', user: { id } });
    expect(refusedAt(await change('parent', id, { phone: '7' }))).toEqual(['body.phone']);
    const [alone] = [(await school.post('/v1/parents', person())).body as { id: string }];
    expect((await change('parent', alone.id, { phone: '7' })).status).toBe(404);
    const patch = (by: PeopleFixture) => by.send('patch', `/v1/parents/${id}`, { phone: '7' });
    expect((await patch(await joining.provisioning())).status).toBe(404);
  });

  it('never changes the address or phone of an owner or admin', async () => {
    const id = await added('parent', false);
    await make.member(school.id, { role: 'admin', user: { id } });
    for (const body of [{ email: newAddress() }, { phone: '7' }])
      for (const kind of ['parent', 'tutor'] as const) expect((await change(kind, id, body)).status).toBe(409);
  });
});

describe('POST /v1/{kind}/{id}/restore', () => {
  it.each(every)('takes a %s back once, as adding them again does', async (kind) => {
    for (const used of [true, false]) {
      const email = newAddress();
      const id = await added(kind, used, email);
      expect((await school.post(`${KINDS[kind][0]}/${id}/offboard`, {})).status).toBe(200);
      await make.query(`UPDATE members SET invited_at = invited_at - interval '2 days' WHERE user_id = $1`, [id]);
      const before = (await school.queued()).length;
      const restore = () => RESTORE[kind](id);
      const { status, body } = await restore();
      expect([status, body]).toMatchObject([200, { id, email, status: used ? 'pending' : 'accepted' }]);
      expect((await restore()).body).toEqual(body);
      expect((await school.queued()).length - before).toBe(kind === 'parent' ? 0 : 1);
      if (kind === 'parent') expect(await make.query('SELECT FROM parent_students WHERE parent_id = $1', [id])).toEqual([]);
    }
    const stranger = await make.student((await joining.provisioning()).id, { status: 'archived' });
    expect((await RESTORE[kind](stranger.id)).status).toBe(404);
  });

  it('brings no manager back', async () => {
    const { id } = await make.member(school.id, { role: 'admin', status: 'archived' });
    expect((await RESTORE.tutor(id)).status).toBe(409);
  });

  it('finds who has left by their status', async () => {
    const id = await added('student', false);
    await school.post(`/v1/students/${id}/offboard`, {});
    const answer = await joining.api.get('/v1/students?status=archived', school.key);
    expect((answer.body as { data: { id: string }[] }).data.map((one) => one.id)).toEqual([id]);
  });
});
