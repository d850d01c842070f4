import { EMAIL_KINDS } from '@app/jobs';
import { newAddress, person, studentRow } from '../../support/data/provisioning.js';
import { JoinFixture, registration, STUDENT, TUTOR } from '../../support/portal/join-fixture.js';
import { PeoplePages } from '../../support/portal/people-pages.js';

let pages: PeoplePages;

const joining = await JoinFixture.shared();
const { sql } = joining;
beforeEach(async () => {
  pages = await PeoplePages.open(joining);
});

const here = () => pages.provisioning.id;
const organization = () => joining.portal.make.find('organizations', here());
const declines = async () => {
  const { email } = await joining.portal.make.find('users', pages.ownerId);
  return (await joining.portal.mailsTo(email, 'invite_declined')).map(({ membership }) => membership);
};

describe('an account’s link for a parent', () => {
  let email: string;
  let link: string;
  let parentId: string;

  beforeEach(async () => {
    email = newAddress();
    for (const first_name of ['Timotheus', 'Zoe'])
      await pages.provisioning.inviteOne(studentRow({ email: null, first_name, last_name: 'Canary', parent: person({ email }) }));
    parentId = (await joining.loginOf(email))!.id as string;
    await pages.owner.post(`${pages.base}/parents/${parentId}/send-invite`);
    link = `/join/${(await joining.mail(email)).token}`;
  });

  it('names the children, by their first names', async () => {
    const { text } = await joining.visitor().get(link);
    expect(text).toContain('an account for you as a parent of Timotheus and Zoe.');
    expect(text).toContain('messages and invoices of Timotheus and Zoe');
    expect(text).not.toContain('Canary');
  });

  it('can be answered with “This is not my child”, and the owners are told whose', async () => {
    const visitor = joining.visitor();
    expect((await visitor.get(link)).text).toContain('This is not my child');
    await visitor.post(`${link}/decline`, { reason: 'not_my_child' });
    expect(await declines()).toMatchObject([{ target: 'Timotheus Canary and Zoe Canary', notMine: true }]);
  });

  it('as an offer on the overview likewise', async () => {
    await sql(`UPDATE parents SET status = 'pending', accepted_at = NULL WHERE organization_id = $1 AND user_id = $2`, here(), parentId);
    await sql('UPDATE users SET email_verified_at = now() WHERE id = $1', parentId);
    const visitor = await joining.signedIn(parentId);
    expect((await visitor.get('/organizations')).text).toContain('This is not my child');
    await visitor.post(`/organizations/${here()}/decline`, { as: 'parent', reason: 'not_my_child' });
    expect(await declines()).toMatchObject([{ target: 'Timotheus Canary and Zoe Canary', notMine: true }]);
  });
});

it('the last owner, whose membership waits after a takeover, cannot decline it', async () => {
  await sql(`UPDATE members SET status = 'pending' WHERE organization_id = $1 AND user_id = $2`, here(), pages.ownerId);
  await sql('UPDATE users SET email_verified_at = now() WHERE id = $1', pages.ownerId);
  const visitor = await joining.signedIn(pages.ownerId);
  const answer = await visitor.follow(await visitor.post(`/organizations/${here()}/decline`, { as: 'member' }));
  expect(answer.text).toContain('last owner who can sign in');
  expect((await sql('SELECT status FROM members WHERE user_id = $1', pages.ownerId))[0]).toEqual({ status: 'pending' });
  const other = await joining.portal.someone('owner', { organization: await organization() });
  await joining.portal.setPassword(other.user.id);
  await visitor.post(`/organizations/${here()}/decline`, { as: 'member' });
  expect((await sql('SELECT status FROM members WHERE user_id = $1', pages.ownerId))[0]).toEqual({ status: 'archived' });
});

it('home counts the dead mails that the outbox lists, of every kind', async () => {
  for (const kind of EMAIL_KINDS)
    await sql(
      `INSERT INTO outbox (id, organization_id, topic, kind, recipient, email_normalized, payload, status)
       VALUES (gen_random_uuid(), $1, 'email', $2, 'ada@example.org', 'ada@example.org', '\\x00', 'dead')`,
      here(),
      kind,
    );
  const home = pages.base.replace('/people', '');
  const [, counted] = /(\d+) emails could not be delivered/.exec((await pages.owner.get(home)).text)!;
  const listed = await joining.portal.walk(`${home}/outbox?status=dead`, pages.owner.header, 'Older');
  expect(listed.match(/To ada@example\.org/g)).toHaveLength(Number(counted));
});

it('before a manager is removed, the page counts the codes and invites that they made, also with their keys', async () => {
  const admin = await joining.portal.someone('admin', { organization: await organization() });
  const key = await joining.api.keys.create(here(), { name: 'theirs' });
  await sql('UPDATE api_keys SET created_by = $1 WHERE id = $2', admin.user.id, key.id);
  await joining.invite(pages.provisioning, STUDENT);
  await joining.invite(pages.provisioning, { ...STUDENT, email: newAddress() });
  await sql('UPDATE invites SET api_key_id = $1 WHERE organization_id = $2 AND NOT standing', key.id, here());
  const path = `${pages.base}/${admin.user.id}/remove`;
  const { text } = await pages.owner.get(path);
  expect(text).toMatch(/1 code that .+ could read or made/);
  expect(text).toMatch(/1 invite that .+, or a key of this person, made/);
  await pages.owner.post(path);
  expect(await pages.audited('end membership')).toMatchObject([{ codes: 1, held: 1 }]);
});

describe('of two codes that have leaked', () => {
  const came = async () => (await sql<{ id: string }>('SELECT invite_id AS id FROM joins WHERE organization_id = $1', here())).map(({ id }) => id);
  const undone = async (id: string) => (await pages.owner.get(`${pages.base}/codes/${id}/undo?since=2020-01-01T00:00:00.000Z`)).text;

  it.each([STUDENT, TUTOR])('one does not keep those who came by both, once it is replaced: %o', async (wish) => {
    const [first, second] = [await joining.invite(pages.provisioning, wish), await joining.invite(pages.provisioning, wish)];
    const visitor = joining.visitor();
    await visitor.post(`/join/${first}`, registration(newAddress()));
    const [leaked] = await came();
    await visitor.post(`/join/${second}`);
    const other = (await came()).find((id) => id !== leaked)!;
    // A code that works speaks for them.
    expect(await undone(leaked!)).toContain('Nobody to remove');
    for (const id of [leaked!, other]) await pages.owner.post(`${pages.base}/codes/${id}/replace`);
    expect(await undone(leaked!)).toContain('Remove 1 person');
  });
});

it('a code is switched off once: again changes nothing, and one that was replaced meanwhile says so', async () => {
  await joining.invite(pages.provisioning, STUDENT);
  const [code] = await sql<{ id: string }>('SELECT id FROM invites WHERE organization_id = $1', here());
  const path = `${pages.base}/codes/${code!.id}`;
  for (let twice = 0; twice < 2; twice++)
    expect((await pages.owner.follow(await pages.owner.post(`${path}/switch-off`))).text).toContain('no longer works');
  expect(await pages.audited('switch off code')).toHaveLength(1);
  await pages.owner.post(`${path}/replace`);
  for (const act of ['switch-off', 'replace'])
    expect((await pages.owner.follow(await pages.owner.post(`${path}/${act}`))).text).toContain('has been replaced already');
});

it('a student’s lesson that was imported without a place is cancelled, as the page says', async () => {
  const { make } = joining.portal;
  const student = await make.student(here());
  const { id } = await make.session(here(), { studentId: student.id, startsAt: new Date(Date.now() + 7_200_000) });
  const path = `${pages.base}/${student.id}/remove`;
  expect((await pages.owner.get(path)).text).toContain('Leaves 1 upcoming lesson');
  await pages.owner.post(path);
  expect((await sql('SELECT status FROM sessions WHERE id = $1', id))[0]).toEqual({ status: 'cancelled' });
});
