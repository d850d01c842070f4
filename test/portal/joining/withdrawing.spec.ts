import { newAddress } from '../../support/data/provisioning.js';
import { JoinFixture, registration, STUDENT, TUTOR } from '../../support/portal/join-fixture.js';
import { PeoplePages } from '../../support/portal/people-pages.js';
import type { Visitor } from '../../support/portal/visitor.js';

const joining = await JoinFixture.shared();
const { sql } = joining;
const { make } = joining.portal;

let pages: PeoplePages;
beforeEach(async () => {
  pages = await PeoplePages.open(joining);
});
const here = () => pages.provisioning.id;

/** Who waits for approval, of each kind: how their pages name what they asked for. */
const KINDS: Record<string, { as: 'member' | 'parent'; asks: string; wish: () => Promise<object> }> = {
  'a tutor by a code': { as: 'member', asks: 'a tutor', wish: () => Promise.resolve(TUTOR) },
  'a parent by a code': {
    as: 'parent',
    asks: 'a parent of Tim',
    wish: async () => ({ scope: 'parent', student_id: (await make.student(here(), { user: { firstName: 'Tim' } })).id }),
  },
  'an admin whom a key invited': { as: 'member', asks: 'an admin', wish: () => Promise.resolve({ ...STUDENT, role: 'admin', email: newAddress() }) },
};

/** Joins with an invite, by the mail's link if there is a mail, and waits. */
async function waiting(wish: object & { email?: string }): Promise<{ id: string; visitor: Visitor; secret: string }> {
  const [visitor, email] = [joining.visitor(), wish.email ?? newAddress()];
  const made = await joining.invite(pages.provisioning, wish);
  const { token: secret, proof } = wish.email ? await joining.mail(email) : { token: made, proof: '' };
  if (proof) await visitor.get(`/join/${secret}?proof=${proof}`);
  await visitor.post(`/join/${secret}`, registration(wish.email ? undefined : email));
  return { id: (await joining.loginOf(email))!.id as string, visitor, secret };
}

const withdraw = (visitor: Visitor, as: string) => visitor.post(`/organizations/${here()}/withdraw`, { as });
const tieOf = async (id: string, as: string) =>
  (await sql<{ status: string; refused: boolean }>(
    `SELECT status, refused_at IS NOT NULL AS refused FROM ${as === 'parent' ? 'parents' : 'members'} WHERE organization_id = $1 AND user_id = $2`,
    here(), id))[0]; // prettier-ignore
const waitsHere = async (id: string) => (await pages.owner.get(`${pages.base}?status=waiting`)).text.includes(id);

describe.each(Object.entries(KINDS))('%s who waits', (_, { as, asks, wish }) => {
  it('reads for whom, since when, after joining and on every day after', async () => {
    const { visitor } = await waiting(await wish());
    const done = (await visitor.get('/join/done')).text;
    expect(done).toContain('Waiting for approval');
    expect(done).toMatch(new RegExp(`You asked to join as</dt><dd>${asks}</dd>\\s*<dt>Waiting since</dt><dd><time datetime="20`));
    expect((await visitor.get('/organizations')).text).toMatch(
      new RegExp(`is checking your request of <time[^>]*>[^<]+</time> to join as ${asks}\\.`),
    );
  });

  it('withdraws the request, once, and managers see it no more', async () => {
    const { id, visitor, secret } = await waiting(await wish());
    expect(await waitsHere(id)).toBe(true);
    for (const page of ['/join/done', '/organizations'])
      expect((await visitor.get(page)).text).toContain(`action="/organizations/${here()}/withdraw"`);
    for (let time = 1; time <= 2; time++) {
      const answer = await withdraw(visitor, as);
      expect([answer.status, answer.headers.location]).toEqual([303, '/organizations']);
      const { text } = await visitor.follow(answer);
      expect(text).toContain('You withdrew your request');
      expect(text).not.toContain('Waiting for approval');
    }
    expect((await visitor.get('/join/done')).headers.location).toBe('/');
    expect(await tieOf(id, as)).toEqual({ status: 'archived', refused: true });
    expect(await waitsHere(id)).toBe(false);
    expect(await pages.audited('withdraw_request')).toEqual([{ user_id: id, as, by: id }]);
    // What was withdrawn cannot be approved, and only an invite lets them back in.
    const kind = as === 'parent' ? 'parents' : 'members';
    const approved = await pages.owner.follow(await pages.owner.post(`${pages.base}/${kind}/${id}/approve`, { from: '?status=waiting' }));
    expect(approved.text).toContain('already been decided');
    expect((await visitor.post(`/join/${secret}`)).text).toMatch(/Your membership has ended|already been accepted/);
    expect(await tieOf(id, as)).toMatchObject({ status: 'archived' });
    expect(await sql('SELECT FROM joins WHERE organization_id = $1 AND user_id = $2', here(), id)).toEqual([]);
  });

  it.each(['approve', 'decline'])('does not withdraw what somebody has decided: %s', async (decision) => {
    const { id, visitor } = await waiting(await wish());
    await pages.owner.post(`${pages.base}/${as === 'parent' ? 'parents' : 'members'}/${id}/${decision}`);
    const before = await tieOf(id, as);
    expect((await visitor.follow(await withdraw(visitor, as))).text).toContain('no longer open');
    expect(await tieOf(id, as)).toEqual(before);
    expect(await pages.audited('withdraw_request')).toEqual([]);
  });

  it('decides at the same moment as a manager: one of them does', async () => {
    const { id, visitor } = await waiting(await wish());
    const kind = as === 'parent' ? 'parents' : 'members';
    await Promise.all([
      ...Array.from({ length: 4 }, () => withdraw(visitor, as)),
      ...Array.from({ length: 4 }, () => pages.owner.post(`${pages.base}/${kind}/${id}/approve`)),
    ]);
    const done = await Promise.all(['withdraw_request', as === 'parent' ? 'approve_parent' : 'approve_member'].map((one) => pages.audited(one)));
    expect(done.map(({ length }) => length).sort()).toEqual([0, 1]);
    expect((await tieOf(id, as))!.status).toBe(done[0]!.length === 1 ? 'archived' : 'accepted');
  });
});

it('somebody else’s request, another organization’s and none look the same, and stay', async () => {
  const { id } = await waiting(TUTOR);
  const stranger = await joining.signedIn((await joining.person()).id);
  const answers = await Promise.all(
    [here(), (await joining.provisioning()).id, '018cc251-0000-7000-8000-000000000000'].map(async (at) =>
      stranger.follow(await stranger.post(`/organizations/${at}/withdraw`, { as: 'member' })),
    ),
  );
  expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
  expect(answers[0]!.text).toContain('no longer open');
  expect(await tieOf(id, 'member')).toEqual({ status: 'pending', refused: false });
});

it('a parent who belongs takes back one child, and stays the parent of the other', async () => {
  const parent = await make.parent(here());
  const [first, second] = [await make.student(here()), await make.student(here(), { user: { firstName: 'Lena' } })];
  await make.insert('parent_students', [{ parent_id: parent.id, student_id: first.id }], { organization_id: here() });
  await make.query('UPDATE users SET email_verified_at = now() WHERE id = $1', [parent.id]);
  const visitor = await joining.signedIn(parent.id);
  const secret = await joining.invite(pages.provisioning, { scope: 'parent', student_id: second.id });
  expect((await visitor.follow(await visitor.post(`/join/${secret}`))).text).toContain('Waiting for approval');
  expect((await visitor.get('/organizations')).text).toContain('to join as a parent of Lena');
  await withdraw(visitor, 'parent');
  expect(await tieOf(parent.id, 'parent')).toMatchObject({ status: 'accepted' });
  const children = await sql('SELECT student_id FROM parent_students WHERE organization_id = $1 AND parent_id = $2', here(), parent.id);
  expect(children).toEqual([{ student_id: first.id }]);
  expect((await visitor.get('/organizations')).text).not.toContain('Lena');
});

it('whose address the organization changed waits for it, and has no request to withdraw', async () => {
  const { id, visitor } = await waiting(TUTOR);
  await make.query('UPDATE members SET readdressed_at = now() WHERE user_id = $1', [id]);
  expect((await visitor.get('/organizations')).text).not.toContain('/withdraw"');
  expect((await visitor.follow(await withdraw(visitor, 'member'))).text).toContain('no longer open');
  expect(await tieOf(id, 'member')).toMatchObject({ status: 'pending' });
});

describe('the first mail', () => {
  it('welcomes whoever joined by a code and asks to confirm the address; who waits is not welcomed yet', async () => {
    for (const [wish, waits] of [[STUDENT, undefined], [TUTOR, true]] as const) {
      const email = newAddress();
      await joining.visitor().post(`/join/${await joining.invite(pages.provisioning, wish)}`, registration(email));
      expect((await joining.portal.mailsTo(email, 'join_confirmation'))[0]!.waits).toBe(waits);
    }
  });

  it('welcomes whoever accepted by the mail, with a link to their pages', async () => {
    const email = newAddress();
    await pages.provisioning.inviteOne({ type: 'student', first_name: 'Mia', last_name: 'Nguyen', email });
    const { token, proof } = await joining.mail(email);
    const visitor = joining.visitor();
    await visitor.get(`/join/${token}?proof=${proof}`);
    await visitor.post(`/join/${token}`, registration());
    expect((await joining.portal.mailsTo(email, 'welcome'))[0]).toMatchObject({ organizationName: 'Demo Tutoring', role: 'student' });
  });
}); // prettier-ignore
