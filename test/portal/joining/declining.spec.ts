import type { EmailPayload } from '@app/jobs';
import { newAddress, person, studentRow, tutorRow } from '../../support/data/provisioning.js';
import { JoinFixture, registration } from '../../support/portal/join-fixture.js';
import { PeoplePages } from '../../support/portal/people-pages.js';
import type { Visitor } from '../../support/portal/visitor.js';

const joining = await JoinFixture.shared();
const { sql } = joining;
const { make } = joining.portal;

let pages: PeoplePages;
let owner: string;

beforeEach(async () => {
  pages = await PeoplePages.open(joining);
  const [login] = await sql<{ email: string }>('SELECT email FROM users WHERE id = $1', pages.ownerId);
  owner = login!.email;
});

const here = () => pages.provisioning.id;

/** An invite that somebody holds, and what is known of it. */
interface Held {
  secret: string;
  /** The address that it is for; null if many may use it. */
  email: string | null;
  /** Whether declining closes it. */
  closes: boolean;
  /** The text on its page, besides the organization's name. */
  says: string[];
  /** What the mail to the owners names. */
  target?: string;
}

/** Body of an invite, and how its page names the target. */
const TARGETS: Record<string, () => Promise<{ wish: object; says: string[]; target?: string }>> = {
  'the organization, as a student': () =>
    Promise.resolve({ wish: { scope: 'organization', role: 'student' }, says: ['as a student', 'results of all your exercises'] }),
  'the organization, as a tutor': () =>
    Promise.resolve({ wish: { scope: 'organization', role: 'tutor' }, says: ['as a tutor', 'students whom you teach'] }),
  'a tutor': async () => {
    const { id } = await make.tutor(here(), { user: { firstName: 'Grace', lastName: 'Hopper' } });
    return { wish: { scope: 'tutor_student', tutor_id: id }, says: ['as a student of Grace Hopper'], target: 'Grace Hopper' };
  },
  'a classroom': async () => {
    const { id } = await make.classroom(here(), { name: 'Year 9 Algebra' });
    return { wish: { scope: 'classroom', classroom_id: id }, says: ['as a student, in the classroom Year 9 Algebra'], target: 'Year 9 Algebra' };
  },
  'a group': async () => {
    const { id } = await make.group(here(), { name: 'Tuesday readers' });
    return { wish: { scope: 'group', group_id: id }, says: ['as a student, in the group Tuesday readers'], target: 'Tuesday readers' };
  },
  'a child': async () => {
    const { id } = await make.student(here(), { user: { firstName: 'Tim', lastName: 'Nguyen' } });
    return {
      wish: { scope: 'parent', student_id: id },
      says: ['as a parent of Tim', 'messages and invoices of Tim', 'This is not my child'],
      target: 'Tim Nguyen',
    };
  },
};

/** Every kind of invite, as an API key makes it. */
const KINDS: Record<string, (email: string) => Promise<Held>> = {
  ...Object.fromEntries(
    Object.entries(TARGETS).flatMap(([name, makeTarget]) =>
      [true, false].map((addressed) => [
        `${name}, ${addressed ? 'for one address' : 'for anybody'}`,
        async (email: string) => {
          const { wish, says, target } = await makeTarget();
          const secret = await joining.invite(pages.provisioning, addressed ? { ...wish, email } : wish);
          const closes = addressed || 'student_id' in wish;
          return { secret, email: addressed ? email : null, closes, says, ...(target && { target }) };
        },
      ]),
    ),
  ),
  'an account of somebody from elsewhere': async (email) => {
    const elsewhere = await joining.provisioning();
    const known = await sql('SELECT id FROM users WHERE email_normalized = $1', email);
    if (known.length === 0) await elsewhere.inviteOne(studentRow({ email }));
    else await make.member(elsewhere.id, { user: known[0] as never });
    await pages.provisioning.inviteOne(tutorRow({ email }));
    return { secret: (await joining.mail(email)).token, email, closes: true, says: ['invites you to join as a tutor', 'You can leave at any time'] };
  },
  'an account of a parent from elsewhere': async (email) => {
    const elsewhere = await joining.provisioning();
    const known = await sql('SELECT id FROM users WHERE email_normalized = $1', email);
    if (known.length === 0) await elsewhere.inviteOne(studentRow({ email }));
    else await make.member(elsewhere.id, { user: known[0] as never });
    const child = await pages.provisioning.inviteOne(studentRow({ email: null, parent: person({ email }) }));
    const [link] = await sql<{ parent_id: string }>('SELECT parent_id FROM parent_students WHERE student_id = $1', child.id);
    await pages.provisioning.post(`/v1/parents/${link!.parent_id}/send-invite`);
    return { secret: (await joining.mail(email)).token, email, closes: true, says: ['invites you to join as a parent'] };
  },
  'an account that the organization made': async (email) => {
    const known = await sql('SELECT id FROM users WHERE email_normalized = $1', email);
    await pages.provisioning.inviteOne(studentRow({ email }));
    const says = known.length === 0 ? ['has an account for you as a student', 'Not you?'] : ['as a student'];
    return { secret: (await joining.mail(email)).token, email, closes: true, says };
  },
};

/** Who opens the link. The browser of the person whom the invite is for needs their account to exist. */
const WHO: Record<string, { visitor: (email: string) => Promise<Visitor>; invited: boolean }> = {
  'somebody who is not signed in': { visitor: () => Promise.resolve(joining.visitor()), invited: false },
  'the person, signed in': { visitor: async (email) => joining.signedIn((await joining.loginOf(email))!.id as string), invited: true },
  'another account': { visitor: async () => joining.signedIn((await joining.person()).id), invited: false },
};

/** All that joining changes here. */
const ties = () =>
  sql(
    `SELECT user_id, role, status FROM members WHERE organization_id = $1
     UNION ALL SELECT user_id, 'parent', status FROM parents WHERE organization_id = $1 ORDER BY 1, 2`,
    here(),
  );
const invites = () => sql('SELECT * FROM invites WHERE organization_id = $1 ORDER BY id', here());
const declines = () => joining.portal.mailsTo(owner, 'invite_declined');

describe.each(Object.entries(KINDS))('an invite to %s', (_kind, hold) => {
  it.each(Object.entries(WHO))('says what it means, and is declined by %s', async (_who, { visitor: open, invited }) => {
    const email = invited ? (await joining.person()).email : newAddress();
    const { secret, closes, says, target } = await hold(email);
    const visitor = await open(email);
    const before = await ties();
    const shown = await visitor.get(`/join/${secret}`);
    expect(shown.status).toBe(200);
    const other = shown.text.includes('Sign out and continue');
    for (const text of [...(other ? [] : says), 'Decline']) expect(shown.text.replaceAll('&#39;', "'")).toContain(text);
    const who = /name="person" value="([^"]*)"/.exec(shown.text)![1]!;
    const declined = await visitor.post(`/join/${secret}/decline`, { person: who });
    expect([declined.status, declined.headers.location]).toEqual([303, '/join/declined']);
    expect((await visitor.get('/join/declined')).text).toContain(closes ? 'Invitation declined' : 'You have not joined');
    // Only what waited for the person has ended.
    const after = before.map((tie) => (tie.status === 'pending' ? { ...tie, status: 'archived' } : tie));
    expect(await ties()).toEqual(after);
    const again = await joining.visitor().get(`/join/${secret}`);
    const code = secret.length === 12;
    expect(again.status).toBe(closes ? (code ? 404 : 410) : 200);
    if (closes && !code) expect(again.text).toContain('This invitation was declined');
    const refused = await joining.visitor().post(`/join/${secret}`, registration(newAddress()));
    expect(refused.status).toBe(closes ? (code ? 404 : 410) : 303);
    const mails = await declines();
    expect(mails).toHaveLength(closes ? 1 : 0);
    if (target && closes) expect((mails[0] as EmailPayload).membership).toMatchObject({ target, notMine: false });
    // The audit log names nobody whom the organization did not know.
    const by = invited && (await ties()).some(({ user_id }) => shown.text.includes(`value="${user_id as string}"`));
    expect(await pages.audited('decline_invite')).toMatchObject(closes ? [{ by: by ? who : null }] : []);
  });
});

it.each(['accepted_at = now()', 'expires_at = now()', 'revoked_at = now()', 'revoked_at = now(), declined_at = now()'])(
  'nothing is declined once %s, and a closed code is answered like an unknown one',
  async (end) => {
    for (const hold of Object.values(KINDS)) {
      const { secret } = await hold(newAddress());
      await sql(`UPDATE invites SET ${end} WHERE organization_id = $1 AND NOT standing`, here());
      const before = [await invites(), await ties()];
      const answer = await joining.visitor().post(`/join/${secret}/decline`);
      const code = secret.length === 12;
      expect(answer.status).toBe(code ? 404 : 410);
      if (code) {
        const unknown = await joining.visitor().post('/join/234567892345/decline');
        expect([unknown.status, unknown.text.replaceAll('234567892345', secret)]).toEqual([404, answer.text]);
      }
      expect([await invites(), await ties()]).toEqual(before);
    }
    expect(await declines()).toEqual([]);
    expect((await joining.visitor().post(`/join/${'x'.repeat(43)}/decline`)).status).toBe(404);
  },
);

it('a parent who says that it is not their child closes the code, and the owners are told whose', async () => {
  const child = await make.student(here(), { user: { firstName: 'Tim', lastName: 'Canary' } });
  const secret = await joining.invite(pages.provisioning, { scope: 'parent', student_id: child.id });
  const { text } = await joining.visitor().get(`/join/${secret}`);
  expect(text).not.toContain('Canary');
  await joining.visitor().post(`/join/${secret}/decline`, { reason: 'not_my_child' });
  expect((await declines())[0]!.membership).toMatchObject({ target: 'Tim Canary', notMine: true });
  expect((await joining.visitor().get(`/join/${secret}`)).status).toBe(404);
});

it('an account’s link never ends what was accepted, and the page says who decides', async () => {
  const email = newAddress();
  const { id } = await pages.provisioning.inviteOne(studentRow({ email }));
  const visitor = joining.visitor();
  const { token } = await joining.mail(email);
  const shown = await visitor.follow(await visitor.post(`/join/${token}/decline`));
  expect(shown.text).toContain('so they decide whether to remove you');
  expect(await pages.provisioning.seen('/v1/students', id)).toMatchObject({ status: 'accepted' });
});

it('an offer on the overview says the same, and declining it tells the owners', async () => {
  const { id, email } = await joining.person();
  await make.query(`UPDATE organizations SET privacy_url = 'https://example.org/privacy', phone = '+61 3 9000 0000' WHERE id = $1`, [here()]);
  const child = await pages.provisioning.inviteOne(
    studentRow({ email: null, first_name: 'Tim', parent: person({ email, first_name: 'Supplied', last_name: 'Name' }) }),
  );
  expect(child.status).toBe('ok');
  const visitor = await joining.signedIn(id);
  const { text } = await visitor.get('/organizations');
  for (const said of [
    'as a parent of Tim',
    'messages and invoices of Tim',
    'You can leave at any time',
    'https://example.org/privacy',
    'tel:+61390000000',
  ])
    expect(text).toContain(said);
  await visitor.post(`/organizations/${here()}/decline`, { as: 'parent' });
  expect((await declines())[0]!.membership).toMatchObject({ person: 'Supplied Name' });
});

it('a form that was shown to somebody else declines nothing', async () => {
  const secret = await joining.invite(pages.provisioning, { scope: 'organization', role: 'student', email: newAddress() });
  const answer = await joining.visitor().post(`/join/${secret}/decline`, { person: pages.ownerId });
  expect([answer.status, await declines()]).toEqual([409, []]);
});

it('of twenty who accept and decline one link at the same time, one succeeds', async () => {
  const email = newAddress();
  const secret = await joining.invite(pages.provisioning, { scope: 'organization', role: 'student', email });
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      joining.visitor().post(`/join/${secret}${index % 2 ? '/decline' : ''}`, index % 2 ? {} : registration()),
    ),
  );
  expect(answers.filter(({ status }) => status === 303)).toHaveLength(1);
  const joined = (await ties()).length - 1;
  expect(joined + (await declines()).length).toBe(1);
});
