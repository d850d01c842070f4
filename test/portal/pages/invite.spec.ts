import { MALFORMED_ADDRESSES, newAddress } from '../../support/data/provisioning.js';
import { JoinFixture, registration } from '../../support/portal/join-fixture.js';
import { PeoplePages } from '../../support/portal/people-pages.js';
import { PASSWORD } from '../../support/portal/portal.js';

const joining = await JoinFixture.shared();
const { sql } = joining;
const { make } = joining.portal;

let pages: PeoplePages;
let form: string;

beforeEach(async () => {
  pages = await PeoplePages.open(joining);
  form = `${pages.base}/invite`;
});

const named = (email: string) => ({ first_name: 'Mia', last_name: 'Nguyen', email });
const parent = (email: string) => ({ 'parent.first_name': 'Linh', 'parent.last_name': 'Nguyen', 'parent.email': email });
const members = () =>
  sql(
    `SELECT m.role, m.status, u.email FROM members m JOIN users u ON u.id = m.user_id WHERE organization_id = $1 AND m.role <> 'owner' ORDER BY 3`,
    pages.provisioning.id,
  );

it('the page is linked from People, and offers admins to owners alone', async () => {
  expect((await pages.owner.get(pages.base)).text).toContain(`href="${form}"`);
  expect((await pages.owner.get(form)).text).toContain('value="admin"');
  const organization = await make.find('organizations', pages.provisioning.id);
  const admin = await joining.portal.someone('admin', { organization });
  expect((await joining.portal.get(form, admin.cookie)).text).not.toContain('value="admin"');
  const refused = await joining.portal.post(form, { role: 'admin', email: newAddress() }, admin.cookie);
  expect([refused.status, refused.text]).toEqual([422, expect.stringContaining('Only an owner can invite an admin.')]);
  const email = newAddress();
  expect((await joining.portal.post(form, { role: 'tutor', ...named(email) }, admin.cookie)).status).toBe(200);
  expect(await joining.portal.mailsTo(email, 'account_created')).toHaveLength(1);
});

describe.each(['student', 'tutor'] as const)('a %s', (role) => {
  it('who is new has an account at once, and is mailed', async () => {
    const email = newAddress();
    const { status, text } = await pages.owner.post(form, { role, ...named(email) });
    expect([status, text]).toEqual([200, expect.stringContaining(`We are sending ${email} an invitation`)]);
    expect(await members()).toEqual([{ role, status: 'accepted', email }]);
    const { token, proof } = await joining.mail(email);
    const visitor = joining.visitor();
    await visitor.get(`/join/${token}?proof=${proof}`);
    expect((await visitor.post(`/join/${token}`, { password: PASSWORD })).headers.location).toBe('/join/done');
    expect(await pages.audited('invite person')).toMatchObject([{ role, existed: false, emailed: true, by: pages.ownerId }]);
    expect((await pages.owner.post(form, { role, ...named(email) })).text).toContain('Already a member');
  });

  it('who belongs elsewhere is asked, and nothing of theirs is shown', async () => {
    const { id, email } = await joining.person();
    await make.member((await joining.provisioning()).id, { user: { id } });
    const { text } = await pages.owner.post(form, { role, ...named(email) });
    expect(text).toContain(`We are sending ${email} an invitation`);
    expect(text).not.toContain('Lovelace</');
    expect(await members()).toEqual([{ role, status: 'pending', email }]);
    expect((await joining.mail(email)).kind).toBe('membership_invite');
    // Again within a day, no mail goes out, so the link is shown, once.
    const again = await pages.owner.post(form, { role, ...named(email) });
    const link = /value="[^"]*\/join\/([\w-]{43})"/.exec(again.text)![1]!;
    const visitor = await joining.signedIn(id);
    expect((await visitor.post(`/join/${link}`)).headers.location).toBe('/join/done');
    expect(await members()).toEqual([{ role, status: 'accepted', email }]);
  });

  it('who has another role is refused at the address, by the words of the API', async () => {
    const email = newAddress();
    const other = role === 'student' ? 'tutor' : 'student';
    await pages.owner.post(form, { role: other, ...named(email) });
    const { status, text } = await pages.owner.post(form, { role, ...named(email) });
    const { body } = await pages.provisioning.post(`/v1/${role}s`, named(email));
    const [{ msg }] = (body as { detail: { msg: string }[] }).detail as [{ msg: string }];
    expect([status, text]).toEqual([422, expect.stringContaining(msg)]);
    expect(text).toContain('id="field-email-error"');
    expect(text).toContain('value="Mia"');
  });
});

it('a student comes with a parent or without, also without an address', async () => {
  const [email, hers] = [newAddress(), newAddress()];
  await pages.owner.post(form, { role: 'student', ...named(email), ...parent(hers) });
  const linked = `SELECT u.email FROM parent_students l JOIN users u ON u.id = l.parent_id WHERE organization_id = $1`;
  expect(await sql(linked, pages.provisioning.id)).toEqual([{ email: hers }]);
  const { text } = await pages.owner.post(form, { role: 'student', ...named('') });
  expect(text).toContain('cannot sign in.');
  expect(await pages.provisioning.list('/v1/students')).toHaveLength(2);
});

it('an admin is invited by an address alone', async () => {
  const email = newAddress();
  const { text } = await pages.owner.post(form, { role: 'admin', email });
  expect(text).toContain(`We are sending ${email} an invitation`);
  expect(await members()).toEqual([]);
  const { token } = await joining.mail(email);
  const visitor = joining.visitor();
  await visitor.post(`/join/${token}`, registration());
  expect(await members()).toEqual([{ role: 'admin', status: 'accepted', email }]);
  expect((await pages.owner.post(form, { role: 'admin', email })).text).toContain('already a member of the organization');
});

it.each([
  [{ role: 'student', first_name: ' ', last_name: 'N' }, ['first_name']],
  [{ role: 'student', first_name: 'M', last_name: 'x'.repeat(201), phone: '1'.repeat(51) }, ['last_name', 'phone']],
  [{ role: 'student', first_name: 'M', last_name: 'N', 'parent.email': 'nobody' }, ['parent-first_name', 'parent-last_name', 'parent-email']],
  [{ role: 'student', ...named('a@example.org'), ...parent('A@example.org') }, ['parent-email']],
  [{ role: 'tutor', first_name: 'M', last_name: 'N' }, ['email']],
  [{ role: 'admin' }, ['email']],
  ...MALFORMED_ADDRESSES.filter((email) => email.trim() !== '').map((email) => [{ role: 'tutor', ...named(email) }, ['email']] as const),
] as [Record<string, string>, string[]][])('%j is refused at its fields, and nobody is added', async (fields, at) => {
  const before = await sql('SELECT count(*) FROM users');
  const { status, text } = await pages.owner.post(form, fields);
  expect(status).toBe(422);
  expect([...text.matchAll(/id="field-([\w-]+)-error"/g)].map(([, name]) => name)).toEqual(at);
  expect(await sql('SELECT count(*) FROM users')).toEqual(before);
});

it('a role that the page does not offer is a form that cannot be read', async () => {
  expect((await pages.owner.post(form, { role: 'owner', ...named(newAddress()) })).status).toBe(400);
});

it('without a mail server, the link is shown for each kind', async () => {
  const silent = await JoinFixture.open({ SMTP_URL: '' });
  try {
    const office = await PeoplePages.open(silent);
    for (const role of ['student', 'tutor', 'admin']) {
      const email = newAddress();
      const { text } = await office.owner.post(`${office.base}/invite`, { role, ...named(email) });
      expect(text).toContain('This service sends no email.');
      const link = /value="[^"]*\/join\/([\w-]{43})"/.exec(text)![1]!;
      const visitor = silent.visitor();
      expect((await visitor.post(`/join/${link}`, registration())).headers.location).toBe('/join/done');
    }
  } finally {
    await silent.stop();
  }
});
