import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { newAddress, type Office, studentRow, tutorRow } from '../support/data/provisioning.js';
import { JoinDesk, registration } from '../support/portal/join-desk.js';
import { Visitor } from '../support/portal/visitor.js';

let desk: JoinDesk;
let office: Office;
let owner: Visitor;
let ownerId: string;
/** The path of the organization's people. */
let base: string;

beforeAll(async () => {
  desk = await JoinDesk.open();
});
beforeEach(async () => {
  office = await desk.office();
  const organization = await desk.portal.make.find('organizations', office.id);
  const someone = await desk.portal.someone('owner', { organization });
  [owner, ownerId] = [new Visitor(desk.portal, someone.cookie), someone.user.id];
  base = `/o/${organization.slug}/people`;
});
afterAll(() => desk.close());

const STUDENT = { scope: 'organization', role: 'student' };
const TUTOR = { scope: 'organization', role: 'tutor' };

const sql = <Row = Record<string, unknown>>(statement: string, ...values: unknown[]) =>
  desk.portal.make.query<Row>(statement, values);
const audited = async (operation: string) =>
  (
    await sql<{ by: string; details: object }>(
      'SELECT user_id AS by, details FROM audit_log WHERE organization_id = $1 AND operation = $2',
      office.id,
      operation,
    )
  ).map(({ by, details }) => ({ ...details, by }));
const namesOn = (html: string) =>
  [...html.matchAll(/<strong>([^<]+)<\/strong> <span class="chip">/g)].map(([, name]) => name);

/** A tutor who has joined by a code. */
async function waiting(): Promise<{ id: string; email: string; visitor: Visitor }> {
  const [visitor, email] = [desk.visitor(), newAddress()];
  await visitor.post(`/join/${await desk.invite(office, TUTOR)}`, { ...registration(email), first_name: 'Waiting' });
  const [login] = await sql<{ id: string }>('SELECT id FROM users WHERE email_normalized = $1', email);
  return { id: login!.id, email, visitor };
}

describe('the list of people', () => {
  it('shows of somebody who has not accepted what the organization supplied, and nothing else', async () => {
    const stranger = await desk.portal.make.user({ firstName: 'Secretive', lastName: 'Canary' });
    await desk.portal.make.member((await desk.office()).id, { user: stranger });
    await office.inviteOne(studentRow({ email: stranger.email, first_name: 'Supplied', last_name: 'Name' }));
    const { text } = await owner.get(base);
    expect(text).toContain('Supplied Name');
    expect(text).toContain('Invited');
    expect(text).not.toMatch(/Secretive|Canary/);
    const parent = await desk.portal.make.parent(office.id, {
      user: { firstName: 'Linh', lastName: 'Parent' },
      children: [(await office.make.student(office.id)).id],
    });
    await office.make.parent(office.id, { user: { firstName: 'Unlinked' } });
    const all = (await owner.get(base)).text;
    expect(all).toContain(parent.email);
    expect(all).not.toContain('Unlinked');
  });

  it('is filtered by status and role, each of them, and ignores what is none', async () => {
    const make = desk.portal.make;
    const people = { accepted: {}, pending: {}, archived: {} } as const;
    for (const status of Object.keys(people) as (keyof typeof people)[]) {
      for (const role of ['admin', 'tutor', 'student'] as const) {
        const supplied = { suppliedFirstName: status, suppliedLastName: role, suppliedEmail: newAddress() };
        const user = { firstName: status, lastName: role };
        await make.member(office.id, { role, status, user, ...(status === 'pending' ? supplied : {}) });
      }
    }
    await sql(
      `UPDATE members SET accepted_at = created_at WHERE organization_id = $1 AND status = 'archived'`,
      office.id,
    );
    await waiting();
    const listed = async (query: string) => namesOn((await owner.get(`${base}${query}`)).text).sort();
    for (const status of Object.keys(people)) {
      const own = status === 'accepted' ? ['Ada Lovelace'] : [];
      const expected = ['admin', 'student', 'tutor'].map((role) => `${status} ${role}`);
      expect(await listed(`?status=${status}`)).toEqual([...own, ...expected]);
      for (const role of ['admin', 'tutor', 'student']) {
        expect(await listed(`?status=${status}&role=${role}`)).toEqual([`${status} ${role}`]);
      }
    }
    expect(await listed('?status=waiting')).toEqual(['Waiting Nguyen']);
    expect(await listed('?role=owner')).toEqual(['Ada Lovelace']);
    expect(await listed('?role=tutor')).toEqual([
      'Waiting Nguyen',
      'accepted tutor',
      'archived tutor',
      'pending tutor',
    ]);
    const everybody = await listed('');
    expect(everybody).toHaveLength(11);
    for (const query of [
      '?status=x',
      '?role=x',
      '?after=x',
      '?status=a&status=b',
      "?after=1_'",
      '?after=999999999999999_x',
    ]) {
      expect(await listed(query)).toEqual(everybody);
    }
  });

  it('shows every one of many once, page by page, whoever came at the same moment', async () => {
    const make = desk.portal.make;
    const names = Array.from({ length: 130 }, (_, index) => `Person${String(index).padStart(3, '0')}`);
    for (const [index, firstName] of names.entries()) {
      const createdAt = new Date(Date.UTC(2026, 0, 1 + Math.floor(index / 40)));
      const role = index % 3 === 0 ? 'tutor' : 'student';
      await make.member(office.id, { role, user: { firstName, lastName: 'X' }, createdAt });
    }
    const child = await make.student(office.id, { user: { firstName: 'Child', lastName: 'X' } });
    const both = await make.tutor(office.id, { user: { firstName: 'Both', lastName: 'X' } });
    await make.parent(office.id, { user: { firstName: 'Parent', lastName: 'X' }, children: [child.id] });
    await make.query('INSERT INTO parents (organization_id, user_id) VALUES ($1, $2)', [office.id, both.id]);
    await make.link(office.id, both.id, child.id);
    const walk = async (query: string) => {
      const seen: (string | undefined)[] = [];
      for (let path: string | undefined = `${base}${query}`; path;) {
        const { text } = await owner.get(path);
        seen.push(...namesOn(text));
        path = /href="([^"]+)">Next page/.exec(text)?.[1]?.replaceAll('&amp;', '&');
      }
      return seen;
    };
    for (const query of ['', '?status=accepted']) {
      const seen = await walk(query);
      expect([...seen].sort()).toEqual(
        ['Ada Lovelace', ...['Both', 'Child', 'Parent', ...names].map((name) => `${name} X`)].sort(),
      );
    }
    expect(await walk('?role=tutor')).toHaveLength(44 + 1);
    expect(await walk('?role=student&status=accepted')).toHaveLength(86 + 1);
    expect((await walk('?role=parent')).sort()).toEqual(['Both X', 'Parent X']);
  });

  it('is searched by name or address, whatever the case and the accents, with the filters kept', async () => {
    const make = desk.portal.make;
    await make.student(office.id, { user: { firstName: 'Zoë', lastName: 'Åström', email: 'zoe.astrom@example.org' } });
    for (let more = 0; more < 40; more++)
      await make.student(office.id, { user: { firstName: `Sam${more}`, lastName: 'Searched' } });
    await make.tutor(office.id, { user: { firstName: 'Sam', lastName: 'Searched' } });
    const listed = async (query: string) => namesOn((await owner.get(`${base}${query}`)).text);
    for (const search of ['zoe', 'ASTROM', 'åström zoë', 'zoe.astrom@', ' Zoë ']) {
      expect([search, await listed(`?search=${encodeURIComponent(search)}`)]).toEqual([search, ['Zoë Åström']]);
    }
    expect(await listed('?search=zoe+nobody')).toEqual([]);
    expect(await listed('?search=searched&role=tutor')).toEqual(['Sam Searched']);
    const first = (await owner.get(`${base}?search=searched&role=student`)).text;
    const next = /href="([^"]+)">Next page/.exec(first)![1]!.replaceAll('&amp;', '&');
    expect(next).toContain('search=searched');
    const all = [...namesOn(first), ...(await (async () => namesOn((await owner.get(next)).text))())];
    expect(all).toHaveLength(40);
    expect(new Set(all).size).toBe(40);
  });

  it('finds of somebody who has not accepted only what the organization supplied', async () => {
    const stranger = await desk.portal.make.user({ firstName: 'Secretive', lastName: 'Canary' });
    await desk.portal.make.member((await desk.office()).id, { user: stranger });
    await office.inviteOne(studentRow({ email: stranger.email, first_name: 'Supplied', last_name: 'Name' }));
    const listed = async (search: string) => namesOn((await owner.get(`${base}?search=${search}`)).text);
    expect(await listed('supplied')).toEqual(['Supplied Name']);
    for (const search of ['Secretive', 'Canary']) expect(await listed(search)).toEqual([]);
  });

  it('is for owners and admins alone', async () => {
    const organization = await desk.portal.make.find('organizations', office.id);
    for (const role of ['tutor', 'student'] as const) {
      const { cookie } = await desk.portal.someone(role, { organization });
      for (const path of [base, `${base}/invites`]) {
        const answer = await new Visitor(desk.portal, cookie).get(path);
        expect([answer.status, answer.text]).toEqual([403, expect.stringContaining('Only owners and admins')]);
      }
    }
    const { cookie } = await desk.portal.someone('admin', { organization });
    expect((await new Visitor(desk.portal, cookie).get(base)).status).toBe(200);
    expect((await desk.visitor().get(base)).status).toBe(303);
    const elsewhere = await desk.portal.someone('owner');
    expect((await new Visitor(desk.portal, elsewhere.cookie).get(base)).status).toBe(404);
  });
});

describe('a tutor who waits', () => {
  it('is let in by an owner, once, and sees the organization then', async () => {
    const { id, email, visitor } = await waiting();
    const [{ to }] = (await sql<{ to: string }>('SELECT email AS to FROM users WHERE id = $1', ownerId)) as [
      { to: string },
    ];
    expect(await desk.mail(to)).toMatchObject({ kind: 'approval_request', token: 'people?status=waiting' });
    expect((await owner.get(base)).text).toContain('One tutor is waiting for your approval');
    const answer = await owner.post(`${base}/members/${id}/approve`, { from: '?status=waiting' });
    expect(answer.headers.location).toBe(`${base}?status=waiting`);
    expect((await owner.follow(answer)).text).toContain('The tutor was approved.');
    expect(await office.seen('/v1/tutors', id)).toMatchObject({ status: 'accepted', first_name: 'Waiting' });
    expect((await visitor.get('/organizations')).text).toContain('Demo Tutoring');
    const again = await owner.follow(await owner.post(`${base}/members/${id}/decline`));
    expect(again.text).toContain('This has already been decided.');
    expect(await office.seen('/v1/tutors', id)).toMatchObject({ status: 'accepted' });
    expect(await audited('approve_member')).toEqual([{ user_id: id, by: ownerId }]);
    expect(await audited('decline_member')).toEqual([]);
    expect(await desk.mail(email)).toMatchObject({ kind: 'approval_given', token: 'sign-in', proof: '' });
  });

  it('is declined, and not let in by the code again', async () => {
    const { id, email, visitor } = await waiting();
    await owner.post(`${base}/members/${id}/decline`);
    expect(await desk.mail(email)).toMatchObject({ kind: 'approval_declined', token: '', proof: '' });
    expect(await office.seen('/v1/tutors', id)).toMatchObject({ status: 'archived' });
    const again = await visitor.post(`/join/${await desk.invite(office, TUTOR)}`);
    expect(again.text).toContain('Your membership has ended');
    expect(await audited('decline_member')).toEqual([{ user_id: id, by: ownerId }]);
  });

  it('is decided once, however many decide at the same time', async () => {
    const { id } = await waiting();
    const decide = (index: number) => owner.post(`${base}/members/${id}/${index % 2 ? 'approve' : 'decline'}`);
    await Promise.all(Array.from({ length: 10 }, (_, index) => decide(index)));
    expect([...(await audited('approve_member')), ...(await audited('decline_member'))]).toHaveLength(1);
  });
});

describe('an invite of somebody who is there', () => {
  it.each([
    ['student', studentRow],
    ['tutor', tutorRow],
  ] as const)('is mailed again to a pending %s, with a pause', async (_role, row) => {
    const { email } = await desk.person();
    const { id } = await office.inviteOne(row({ email }));
    const path = `${base}/members/${id}/send-invite`;
    const first = await desk.mail(email);
    expect((await owner.follow(await owner.post(path))).text).toContain(`No email was sent to ${email}`);
    await office.tenMinutesLater();
    expect((await owner.follow(await owner.post(path))).text).toContain(`We are sending a link to ${email}`);
    const second = await desk.mail(email);
    expect(second).toMatchObject({ kind: 'membership_invite' });
    expect(second.token).not.toBe(first.token);
    expect(await audited('send_invite')).toEqual([
      { user_id: id, sent: false, by: ownerId },
      { user_id: id, sent: true, by: ownerId },
    ]);
  });

  it('is mailed to a parent', async () => {
    const child = await office.make.student(office.id);
    const parent = await office.make.parent(office.id, { children: [child.id] });
    await owner.post(`${base}/parents/${parent.id}/send-invite`);
    expect(await desk.mail(parent.email)).toMatchObject({ kind: 'account_created' });
  });

  it('is revoked: its mailed links stop working', async () => {
    const { email } = await desk.person();
    const { id } = await office.inviteOne(studentRow({ email }));
    const { token } = await desk.mail(email);
    await owner.post(`${base}/members/${id}/revoke-invites`);
    expect((await desk.visitor().get(`/join/${token}`)).text).toContain('This invitation was withdrawn');
    expect((await owner.post(`${base}/members/${id}/revoke-invites`)).status).toBe(404);
    expect(await audited('revoke_account_invites')).toEqual([{ user_id: id, by: ownerId }]);
  });

  it('says why there can be none', async () => {
    const archived = await office.make.student(office.id, { status: 'archived' });
    const { id: nobody } = await office.inviteOne(studentRow({ email: undefined }));
    const { id: waits } = await waiting();
    for (const [id, said] of [
      [archived.id, 'This person is archived'],
      [nobody, 'no email address yet'],
      [waits, 'waits for approval'],
    ]) {
      const answer = await owner.follow(await owner.post(`${base}/members/${id}/send-invite`));
      expect(answer.text).toContain(said);
    }
  });
});

describe('open invites', () => {
  it('are listed with what they are for, and never with a secret', async () => {
    const make = desk.portal.make;
    const email = newAddress();
    const [room, tutor, child] = [
      await make.classroom(office.id, { name: 'Year 9 Algebra' }),
      await make.tutor(office.id, { user: { firstName: 'Grace', lastName: 'Hopper' } }),
      await make.student(office.id, { user: { firstName: 'Tim', lastName: 'Young' } }),
    ];
    const secrets = [
      await desk.invite(office, { ...STUDENT, email }),
      await desk.invite(office, TUTOR),
      await desk.invite(office, { scope: 'classroom', classroom_id: room.id }),
      await desk.invite(office, { scope: 'tutor_student', tutor_id: tutor.id }),
      await desk.invite(office, { scope: 'parent', student_id: child.id }),
    ];
    const { text } = await owner.get(`${base}/invites`);
    for (const shown of [
      email,
      'Classroom Year 9 Algebra',
      'With Grace Hopper',
      'Of Tim Young',
      'Anybody with the link',
      'Anybody with the code',
    ]) {
      expect(text).toContain(shown);
    }
    for (const secret of secrets) expect(text).not.toContain(secret);
    await desk.visitor().post(`/join/${secrets[0]}`, registration());
    expect((await owner.get(`${base}/invites`)).text).not.toContain(email);
  });

  it('are walked page by page', async () => {
    for (let index = 0; index < 60; index++)
      await desk.invite(office, { ...STUDENT, email: `walk-${index}-${newAddress()}` });
    const first = (await owner.get(`${base}/invites`)).text;
    const next = /href="([^"]+)">Next page/.exec(first)![1]!;
    const second = (await owner.get(next)).text;
    const addresses = [...`${first}${second}`.matchAll(/<strong>(walk-\d+)-/g)].map(([, address]) => address);
    expect(new Set(addresses).size).toBe(60);
    expect(addresses).toHaveLength(60);
    expect(second).not.toContain('Next page');
  });

  it('are sent again: the new link works, the former one does not', async () => {
    const email = newAddress();
    const former = await desk.invite(office, { ...TUTOR, email });
    const id = async () =>
      (await sql<{ id: string }>('SELECT id FROM invites WHERE email = $1 AND revoked_at IS NULL', email))[0]!.id;
    const first = await id();
    const early = await owner.post(`${base}/invites/${first}/resend`);
    expect((await owner.follow(early)).text).toContain(`No email was sent to ${email}`);
    expect((await desk.visitor().get(`/join/${former}`)).status).toBe(200);
    await office.tenMinutesLater();
    const resent = await owner.post(`${base}/invites/${first}/resend`);
    expect(resent.status).toBe(200);
    const [, shown] = /value="[^"]*\/join\/([\w-]{43})"/.exec(resent.text)!;
    const mail = await desk.mail(email);
    expect(mail).toMatchObject({ kind: 'organization_invite', token: shown });
    expect(resent.text).not.toContain(mail.proof);
    expect((await desk.visitor().get(`/join/${former}`)).text).toContain('This invitation was withdrawn');
    expect((await desk.visitor().get(`/join/${shown}`)).text).toContain('Tutor');
    expect(await audited('resend_invite')).toEqual([
      { invite_id: await id(), replaces: first, emailed: true, by: ownerId },
    ]);
    expect((await owner.post(`${base}/invites/${first}/resend`)).status).toBe(404);
  });

  it('that expired are sent again too, and codes to one person as a new code', async () => {
    const email = newAddress();
    const child = await office.make.student(office.id);
    await desk.invite(office, { scope: 'parent', student_id: child.id, email });
    await sql('UPDATE invites SET expires_at = now() WHERE email = $1', email);
    const [invite] = await sql<{ id: string }>('SELECT id FROM invites WHERE email = $1', email);
    expect((await owner.get(`${base}/invites`)).text).toContain('Expired');
    const { text } = await owner.post(`${base}/invites/${invite!.id}/resend`);
    expect(text).toContain('share the invite');
    const [, code] = /value="([0-9A-Z]{10})"/.exec(text)!;
    expect((await desk.visitor().get(`/join/${code}`)).status).toBe(200);
  });

  it('are revoked once; the permanent codes are not', async () => {
    const code = await desk.invite(office, STUDENT);
    const [invite] = await sql<{ id: string }>('SELECT id FROM invites WHERE organization_id = $1', office.id);
    await owner.post(`${base}/invites/${invite!.id}/revoke`);
    expect((await desk.visitor().get(`/join/${code}`)).status).toBe(404);
    expect((await owner.post(`${base}/invites/${invite!.id}/revoke`)).status).toBe(404);
    expect(await audited('revoke_invite')).toEqual([{ invite_id: invite!.id, by: ownerId }]);
    const { id } = await desk.api.organizations.create({ name: 'Standing', slug: `standing-${Date.now()}` });
    const standing = await sql<{ id: string }>('SELECT id FROM invites WHERE organization_id = $1 AND standing', id);
    const organization = await desk.portal.make.find('organizations', id);
    const { cookie } = await desk.portal.someone('owner', { organization });
    const keeper = new Visitor(desk.portal, cookie);
    for (const one of standing) {
      expect((await keeper.post(`/o/${organization.slug}/people/invites/${one.id}/revoke`)).status).toBe(404);
    }
  });
});

describe('what belongs to others', () => {
  it('looks like what is not there, on every path, and does not change', async () => {
    const theirs = await desk.office();
    const email = newAddress();
    await desk.invite(theirs, { ...STUDENT, email });
    const [invite] = await sql<{ id: string }>('SELECT id FROM invites WHERE email = $1', email);
    const { email: pending } = await desk.person();
    const { id: member } = await theirs.inviteOne(studentRow({ email: pending }));
    const parent = await theirs.make.parent(theirs.id, { children: [(await theirs.make.student(theirs.id)).id] });
    const before = { office, theirs };
    office = before.theirs;
    const { id: waits } = await waiting();
    office = before.office;
    const state = () =>
      sql(
        `SELECT (SELECT json_agg(m ORDER BY id) FROM members m WHERE organization_id = $1) AS members,
           (SELECT json_agg(i ORDER BY id) FROM invites i WHERE organization_id = $1) AS invites,
           (SELECT count(*) FROM outbox WHERE organization_id = $1) AS mails,
           (SELECT count(*) FROM audit_log WHERE organization_id = ANY ($2)) AS audited`,
        theirs.id,
        [theirs.id, office.id],
      );
    const untouched = await state();
    const posts = desk.portal
      .routes()
      .filter(({ method, path }) => method === 'POST' && path.startsWith('/o/:slug/people'));
    expect(posts.length).toBeGreaterThanOrEqual(6);
    const missing = '01920000-0000-7000-8000-000000000000';
    for (const { path } of posts) {
      for (const kind of path.includes(':kind') ? ['members', 'parents', 'students'] : ['']) {
        for (const id of [invite!.id, member!, parent.id, waits, missing, 'x', "'"]) {
          const filled = path
            .replace('/o/:slug/people', base)
            .replace(':kind', kind)
            .replace(/:(user|invite)_id/, id);
          expect([filled, (await owner.post(filled)).status]).toEqual([filled, 404]);
        }
      }
    }
    expect(await state()).toEqual(untouched);
    expect((await owner.get(base)).text).not.toContain(pending);
    expect((await owner.get(`${base}/invites`)).text).not.toContain(email);
  });
});
