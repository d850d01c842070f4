import { newAddress, type PeopleFixture } from '../../support/data/provisioning.js';
import { JoinFixture, registration, STUDENT } from '../../support/portal/join-fixture.js';
import { cookieOf } from '../../support/portal/portal.js';
import type { Visitor } from '../../support/portal/visitor.js';

let provisioning: PeopleFixture;

const joining = await JoinFixture.shared();
const { sql } = joining;
beforeEach(async () => {
  provisioning = await joining.provisioning();
});

/** The fields of the page's form for this path. */
function formAt(path: string, html: string): Record<string, string> {
  const [, form] = new RegExp(`action="${path}"[^>]*>(.*?)</form>`, 's').exec(html)!;
  const fields = [...form!.matchAll(/<input[^>]*name="([^"]+)"[^>]*value="([^"]*)"/g)];
  return Object.fromEntries(fields.map(([, name, value]) => [name!, value!]));
}

async function membersHere(): Promise<number> {
  const rows = await sql('SELECT FROM members WHERE organization_id = $1', provisioning.id);
  return rows.length;
}

/** Signs the browser in as another person, as in a second tab or on a shared computer. */
async function becomes(visitor: Visitor, userId: string | null): Promise<void> {
  visitor.cookies.delete('session');
  if (userId) visitor.cookies.set('session', (await joining.portal.session(userId)).slice('session='.length));
}

describe('an invite page sent after somebody signed in or out', () => {
  it.each([
    ['nobody', 'somebody', 'You have signed in since'],
    ['somebody', 'somebody else', 'You have signed in since'],
    ['somebody', 'nobody', 'You were signed out since'],
  ])('opened by %s and sent by %s, accepts nothing and asks again', async (before, after, text) => {
    const [one, other] = [await joining.person(), await joining.person()];
    const path = `/join/${await joining.invite(provisioning, STUDENT)}`;
    const visitor = joining.visitor();
    await becomes(visitor, before === 'nobody' ? null : one.id);
    const form = formAt(path, (await visitor.get(path)).text);
    await becomes(visitor, after === 'nobody' ? null : other.id);
    const members = await membersHere();
    const answer = await visitor.post(path, { ...form, ...registration(newAddress()) });
    expect(answer.status).toBe(409);
    expect(answer.text).toContain(text);
    expect(await membersHere()).toBe(members);
    // The new page can be accepted.
    const again = { ...formAt(path, answer.text), ...registration(newAddress()) };
    expect((await visitor.post(path, again)).status).toBe(303);
    expect(await membersHere()).toBe(members + 1);
  });
});

describe('a form opened by somebody who has signed out since', () => {
  it('does not set the password of whoever is signed in now', async () => {
    const [one, other] = [await joining.person(), await joining.portal.make.user({})];
    const visitor = await joining.signedIn(one.id);
    const form = formAt('/account/password', (await visitor.get('/account/password')).text);
    await becomes(visitor, other.id);
    const answer = await visitor.post('/account/password', { ...form, password: 'a new and longer password' });
    expect([answer.status, answer.text.includes('Another account is signed in now')]).toEqual([409, true]);
    expect(await sql('SELECT FROM credentials WHERE user_id = $1', other.id)).toEqual([]);
  });
});

describe('the page after joining', () => {
  it('is shown to the person who joined, not to the next one at the same computer', async () => {
    const visitor = joining.visitor();
    const email = newAddress();
    await visitor.post(`/join/${await joining.invite(provisioning, STUDENT)}`, registration(email));
    expect((await visitor.get('/join/done')).text).toContain(email);
    await becomes(visitor, (await joining.person()).id);
    const { status, headers } = await visitor.get('/join/done');
    expect([status, headers.location]).toEqual([303, '/']);
  });

  it('shows the current state: an approved tutor does not wait, and a removed student is not welcomed', async () => {
    const visitor = joining.visitor();
    await visitor.post(`/join/${await joining.invite(provisioning, { ...STUDENT, role: 'tutor' })}`, registration(newAddress()));
    expect((await visitor.get('/join/done')).text).toContain('Waiting for approval');
    const decide = (set: string) => sql(`UPDATE members SET ${set} WHERE organization_id = $1 AND role = 'tutor'`, provisioning.id);
    await decide(`status = 'accepted', accepted_at = now(), approval_requested_at = NULL`);
    expect((await visitor.get('/join/done')).text).toContain('You are now a tutor');

    const student = joining.visitor();
    await student.post(`/join/${await joining.invite(provisioning, STUDENT)}`, registration(newAddress()));
    await sql(`UPDATE members SET status = 'archived', archived_at = now() WHERE organization_id = $1 AND role = 'student'`, provisioning.id);
    expect((await student.get('/join/done')).headers.location).toBe('/');
  });
});

it('a form sent after the session ended leads to the sign-in, which says that it was not sent', async () => {
  const owner = await joining.portal.someone('owner');
  const base = `/o/${owner.organization.slug}`;
  const answer = await joining.portal.post(`${base}/keys`, { name: 'Website' });
  expect(answer.headers.location).toBe(`/sign-in?${new URLSearchParams({ next: `${base}/keys/new` }).toString()}`);
  const page = await joining.portal.get(answer.headers.location!, cookieOf(answer, 'flash')!);
  expect(page.text).toContain('You had been signed out, so the form was not sent.');
});
