import { Identities } from '@app/people';
import { newAddress, type PeopleFixture, studentRow } from '../../support/data/provisioning.js';
import { JoinFixture, registration, STUDENT, TUTOR } from '../../support/portal/join-fixture.js';
import { PASSWORD } from '../../support/portal/portal.js';
import { fixture } from '../../support/process/fixture.js';

let provisioning: PeopleFixture;

const joining = await fixture(JoinFixture.open());
const { sql } = joining;
beforeEach(async () => {
  provisioning = await joining.provisioning();
});

const people = () => sql('SELECT user_id, role, status FROM members WHERE organization_id = $1 ORDER BY user_id', provisioning.id);

/** How a valid link stops working, and what its page then says. */
const CLOSED: Record<string, { end: () => Promise<unknown>; says: string; next: string }> = {
  accepted: {
    end: () => sql('UPDATE invites SET accepted_at = now() WHERE organization_id = $1', provisioning.id),
    says: 'This invitation has already been accepted',
    next: 'href="/sign-in"',
  },
  expired: {
    end: () => sql('UPDATE invites SET expires_at = now() WHERE organization_id = $1', provisioning.id),
    says: 'This invitation has expired',
    next: 'Ask Demo Tutoring for a new one',
  },
  revoked: {
    end: () => sql('UPDATE invites SET revoked_at = now() WHERE organization_id = $1', provisioning.id),
    says: 'This invitation was withdrawn',
    next: 'ask for a new invitation',
  },
  moved: {
    end: () => sql('UPDATE invites SET user_id = (SELECT id FROM users ORDER BY id LIMIT 1) WHERE organization_id = $1', provisioning.id),
    says: 'This invitation was for another address',
    next: 'Ask Demo Tutoring for a new invitation',
  },
};

describe('a link', () => {
  it.each(Object.entries(CLOSED))('that is %s says so and what to do next', async (_state, { end, says, next }) => {
    const email = newAddress();
    const { id } = await joining.person();
    const token = await joining.invite(provisioning, { ...STUDENT, email });
    await end();
    const before = await people();
    for (const visitor of [joining.visitor(), await joining.signedIn(id)]) {
      for (const answer of [await visitor.get(`/join/${token}`), await visitor.post(`/join/${token}`, registration())]) {
        expect(answer.status).toBe(410);
        expect(answer.text).toContain(says);
        if (visitor.cookies.size === 0) expect(answer.text).toContain(next);
        expect(answer.text).not.toContain(email);
      }
    }
    expect(await people()).toEqual(before);
  });

  it('that was never created returns 404', async () => {
    for (const text of ['x'.repeat(43), 'x'.repeat(42), '%20', '..%2f..%2faccount', "'", '%00', 'joined', '💡', 'x'.repeat(5_000)]) {
      const answer = await joining.visitor().get(`/join/${encodeURI(text).replaceAll('%25', '%')}`);
      expect([answer.status, text]).toEqual([404, text]);
      expect(answer.text).toContain('This link does not work');
    }
    expect((await joining.visitor().post(`/join/${'x'.repeat(43)}`, registration('a@example.org'))).status).toBe(404);
  });

  it('opened by another account shows a masked address and offers to sign out', async () => {
    const email = `canary-${newAddress()}`;
    const token = await joining.invite(provisioning, { ...STUDENT, email });
    const { id } = await joining.person();
    const visitor = await joining.signedIn(id);
    const shown = await visitor.get(`/join/${token}`);
    expect(shown.text).toContain('c•••@example.org');
    expect(shown.text).not.toContain(email);
    const forced = await visitor.post(`/join/${token}`, registration());
    expect([forced.status, forced.text]).toEqual([200, expect.stringContaining('c•••@example.org')]);
    expect(await people()).toEqual([]);
    const out = await visitor.post(`/join/${token}/sign-out`);
    expect(out.headers.location).toBe(`/join/${token}`);
    expect((await visitor.get(`/join/${token}`)).text).toContain('Choose a password');
    expect((await visitor.get('/account')).status).toBe(303);
  });

  it('changes nothing, however often it is opened', async () => {
    const email = newAddress();
    await joining.invite(provisioning, { ...STUDENT, email });
    const { token, proof } = await joining.mail(email);
    const code = await joining.invite(provisioning, STUDENT);
    const state = () => sql('SELECT i.*, i.xmin::text FROM invites i WHERE organization_id = $1 ORDER BY id', provisioning.id);
    const before = await state();
    const visitor = joining.visitor();
    for (const path of [token, code, token, `${token}?proof=${proof}`, token, code]) await visitor.get(`/join/${path}`);
    expect(await state()).toEqual(before);
    expect(await people()).toEqual([]);
  });
});

describe('a person', () => {
  it('cannot join in another role', async () => {
    const { id } = await joining.person();
    const visitor = await joining.signedIn(id);
    await visitor.post(`/join/${await joining.invite(provisioning, STUDENT)}`);
    const answer = await visitor.post(`/join/${await joining.invite(provisioning, TUTOR)}`);
    expect([answer.status, answer.text]).toEqual([409, expect.stringContaining('You have another role here')]);
    expect(await people()).toEqual([{ user_id: id, role: 'student', status: 'accepted' }]);
  });

  it('who was archived cannot return with a code or an earlier link', async () => {
    const { id, email } = await joining.person();
    const visitor = await joining.signedIn(id);
    const code = await joining.invite(provisioning, STUDENT);
    const early = await joining.invite(provisioning, { ...STUDENT, email });
    await visitor.post(`/join/${code}`);
    await sql(`UPDATE members SET status = 'archived', archived_at = now() WHERE user_id = $1`, id);
    for (const secret of [code, early]) {
      const answer = await visitor.post(`/join/${secret}`);
      expect([answer.status, answer.text]).toEqual([410, expect.stringContaining('Your membership has ended')]);
    }
    const later = await joining.invite(provisioning, { ...STUDENT, email });
    expect((await visitor.post(`/join/${later}`)).headers.location).toBe('/join/done');
  });
});

describe('the proof in a mailed link', () => {
  it('is removed from the URL at once, survives a sign-in, and appears in no log, header or page', async () => {
    const { id, email } = await joining.person({ verified: false });
    await joining.invite(provisioning, { ...STUDENT, email });
    const { token, proof } = await joining.mail(email);
    const visitor = joining.visitor();
    const opened = await visitor.get(`/join/${token}?proof=${proof}`);
    expect([opened.status, opened.headers.location]).toEqual([303, `/join/${token}`]);
    expect(visitor.cookies.get('join')).not.toContain(proof);
    await visitor.post('/sign-in', { email, password: PASSWORD, next: `/join/${token}` });
    const shown = await visitor.get(`/join/${token}`);
    // The session may belong to whoever created the login, so the reader of the mail must enter the password.
    expect(shown.text).toContain('type="password"');
    expect((await visitor.post(`/join/${token}`, { password: PASSWORD })).headers.location).toBe('/join/done');
    const [login] = await sql('SELECT email_verified_at IS NOT NULL AS verified FROM users WHERE id = $1', id);
    expect(login).toEqual({ verified: true });
    for (const text of [JSON.stringify(opened.headers), shown.text, JSON.stringify(shown.headers), joining.portal.logged.join()]) {
      expect(text).not.toContain(proof);
    }
    for (const header of ['referrer-policy', 'cache-control', 'x-robots-tag']) {
      expect(shown.headers[header]).toMatch(/no-referrer|no-store|noindex/);
    }
  });

  it('proves no address to a session alone, whose login somebody else may have created', async () => {
    const { id, email } = await joining.person({ verified: false });
    await joining.invite(provisioning, { ...STUDENT, email });
    const { token, proof } = await joining.mail(email);
    const refused = { status: 'refused', problem: 'password' };
    expect(await joining.accept(token, proof, { signedInAs: id })).toEqual(refused);
    expect(await sql('SELECT email_verified_at FROM users WHERE id = $1', id)).toEqual([{ email_verified_at: null }]);
    // Without the proof, being signed in is enough.
    expect(await joining.accept(token, null, { signedInAs: id })).toMatchObject({ status: 'joined', created: false });
  });

  it('works only for its own invite', async () => {
    const email = newAddress();
    await joining.invite(provisioning, { ...STUDENT, email });
    const { token, proof } = await joining.mail(email);
    const other = await joining.provisioning();
    const theirs = await joining.invite(other, { ...STUDENT, email });
    const visitor = joining.visitor();
    await visitor.get(`/join/${theirs}?proof=${proof}`);
    await visitor.follow(await visitor.post(`/join/${theirs}`, registration()));
    const [login] = await sql('SELECT email_verified_at FROM users WHERE email_normalized = $1', email);
    expect(login).toEqual({ email_verified_at: null });
    // Somebody else's cookie does not carry it either.
    const stranger = joining.visitor();
    stranger.cookies.set('join', visitor.cookies.get('join') ?? '');
    expect((await stranger.get(`/join/${token}`)).text).toContain('Sign in to accept');
  });

  it('is ignored if it is invalid', async () => {
    const token = await joining.invite(provisioning, { ...STUDENT, email: newAddress() });
    for (const proof of ['', 'x', 'x'.repeat(43), '%00', `a&proof=b`]) {
      const visitor = joining.visitor();
      const answer = await visitor.follow(await visitor.get(`/join/${token}?proof=${proof}`));
      expect([answer.status, answer.text]).toEqual([200, expect.stringContaining('Choose a password')]);
    }
  });
});

it('a page shows the invite and its login as they were at one moment', async () => {
  const email = newAddress();
  const token = await joining.invite(provisioning, { ...STUDENT, email });
  const read = vi.spyOn(Identities.prototype, 'readByAddress').mockImplementation(async function (this: Identities) {
    read.mockRestore();
    // Somebody accepts between the two reads: of the invite and of its login.
    await sql('UPDATE invites SET accepted_at = now() WHERE organization_id = $1', provisioning.id);
    await joining.person({ email });
    return this.readByAddress(email);
  });
  const { status, text } = await joining.visitor().get(`/join/${token}`);
  expect([status, text.includes('Sign in to accept')]).toEqual([200, false]);
  expect((await joining.visitor().get(`/join/${token}`)).status).toBe(410);
});

describe('twenty concurrent requests', () => {
  it('accept a personal link once', async () => {
    const email = newAddress();
    const token = await joining.invite(provisioning, { ...STUDENT, email });
    const visitors = Array.from({ length: 20 }, () => joining.visitor());
    const answers = await Promise.all(visitors.map((visitor) => visitor.post(`/join/${token}`, registration())));
    const statuses = answers.map(({ status }) => status);
    // Whoever knows the password that it was just accepted with is welcomed too: a button pressed twice, a second browser.
    expect(statuses).toEqual(Array<number>(20).fill(303));
    expect(await people()).toHaveLength(1);
    expect(await sql(`SELECT FROM audit_log WHERE organization_id = $1 AND operation = 'join'`, provisioning.id)).toHaveLength(1);
  });

  it('from one account join once with a code', async () => {
    const code = await joining.invite(provisioning, STUDENT);
    const { id } = await joining.person();
    const visitors = await Promise.all(Array.from({ length: 20 }, () => joining.signedIn(id)));
    const answers = await Promise.all(visitors.map((visitor) => visitor.post(`/join/${code}`)));
    expect(answers.map(({ headers }) => headers.location)).toEqual(Array.from({ length: 20 }, () => '/join/done'));
    expect(await people()).toHaveLength(1);
  });
});

describe('without a mail server', () => {
  it('a link shared by hand is accepted, and no mail is promised', async () => {
    const silent = await JoinFixture.open({ SMTP_URL: '' });
    try {
      const by = await silent.provisioning();
      const email = newAddress();
      await by.inviteOne(studentRow({ email }));
      const token = await silent.invite(by, { ...STUDENT, role: 'tutor', email: newAddress() });
      const visitor = silent.visitor();
      const welcome = await visitor.follow(await visitor.post(`/join/${token}`, registration()));
      expect(welcome.text).toContain('is not confirmed yet');
      expect(welcome.text).not.toContain('We have sent');
    } finally {
      await silent.stop();
    }
  });
});
