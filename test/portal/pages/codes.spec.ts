import { JoinFixture, newcomer, STUDENT } from '../../support/portal/join-fixture.js';
import { PeoplePages } from '../../support/portal/people-pages.js';
import { Invites } from '@app/people';

let pages: PeoplePages;
let codes: string;

const joining = await JoinFixture.shared();
const { sql } = joining;
const { make } = joining.portal;

beforeEach(async () => {
  pages = await PeoplePages.open(joining);
  codes = `${pages.base}/codes`;
  await joining.portal.app.get(Invites).ensurePermanentCodes(here());
});

const here = () => pages.provisioning.id;
const join = async (code: string) => joining.accept(code, null, { signedInAs: (await joining.person()).id });
const idOf = async (wish: object) => {
  const { body } = await pages.provisioning.post('/v1/invites', wish);
  return body as { id: string; token: string };
};
const standing = async (role: string) =>
  (await sql<{ id: string }>('SELECT id FROM invites WHERE organization_id = $1 AND standing AND role = $2 AND revoked_at IS NULL', here(), role))[0]!
    .id;
const shownCodes = (text: string) => [...text.matchAll(/id="code-[^"]+" class="secret" value="([^"]+)"/g)].map(([, code]) => code!);

describe('the page of codes', () => {
  it('shows what each is for, whether it can be copied, who made it, and how many have come', async () => {
    const { id: classroom } = await make.classroom(here(), { name: 'Year 9 Algebra' });
    const child = await make.student(here(), { user: { firstName: 'Tim', lastName: 'Canary' } });
    const ofClass = await idOf({ scope: 'classroom', classroom_id: classroom });
    await idOf({ scope: 'parent', student_id: child.id });
    await joining.invite(pages.provisioning, { ...STUDENT, email: 'mia@example.org' });
    await join(ofClass.token);
    const { text } = await pages.owner.get(codes);
    for (const part of [
      'Permanent code for students', 'Permanent code for tutors', 'Students of the classroom Year 9 Algebra', 'Parents of Tim Canary',
      '1 of 40 places taken', '0 of 2 places taken', '1 person joined since', 'Only a hash of this code is stored', 'Made with the API key',
      'everybody waits for your approval',
    ]) expect(text).toContain(part); // prettier-ignore
    expect(shownCodes(text)).toHaveLength(3);
    expect(shownCodes(text)).toContain(ofClass.token);
    expect(text).not.toContain('mia@example.org');
    expect((await pages.owner.get(pages.base)).text).toContain(`href="${codes}"`);
  });

  it('replaces a code that is kept, and shows another one once', async () => {
    const old = await standing('student');
    const before = shownCodes((await pages.owner.get(codes)).text);
    const answer = await pages.owner.post(`${codes}/${old}/replace`, {});
    const { text } = await pages.owner.follow(answer);
    expect(text).toContain('The old code has stopped working');
    expect(shownCodes(text).filter((code) => before.includes(code))).toHaveLength(1);
    expect(text).toContain('Made by');
    const group = await idOf({ scope: 'group', group_id: (await make.group(here(), { name: 'Violins' })).id });
    const shown = await pages.owner.post(`${codes}/${group.id}/replace`, {});
    expect(shown.status).toBe(200);
    const code = /\/join\/([2-9A-Z]{12})"/.exec(shown.text)![1]!;
    expect(await join(code)).toMatchObject({ status: 'joined' });
    expect(await join(group.token)).toMatchObject({ problem: 'revoked' });
    const again = await pages.owner.post(`${codes}/${group.id}/replace`, {});
    expect((await pages.owner.follow(again)).text).toContain('This code has been replaced already.');
    expect((await pages.owner.get(codes)).text).not.toContain(code);
    expect(await pages.audited('replace code')).toHaveLength(2);
  });

  it('switches a code off, and on again', async () => {
    const id = await standing('tutor');
    const off = await pages.owner.post(`${codes}/${id}/switch-off`, {});
    expect((await pages.owner.follow(off)).text).toContain('The code no longer works');
    expect((await pages.owner.get(codes)).text).toContain('Turn on again');
    await pages.owner.post(`${codes}/${id}/replace`, {});
    expect((await pages.owner.get(codes)).text).not.toContain('Turn on again');
    expect(shownCodes((await pages.owner.get(codes)).text)).toHaveLength(2);
  });

  it('prints a code that is kept', async () => {
    const id = await standing('student');
    const [code] = await Promise.resolve(shownCodes((await pages.owner.get(codes)).text));
    const texts = [(await pages.owner.get(`${codes}/${id}/print`)).text, (await pages.owner.get(`${codes}/${await standing('tutor')}/print`)).text];
    expect(texts.some((text) => text.includes(code!.match(/.{4}/g)!.join(' ')))).toBe(true);
    const child = await make.student(here());
    const hashed = await idOf({ scope: 'parent', student_id: child.id });
    expect((await pages.owner.get(`${codes}/${hashed.id}/print`)).text).toContain('This code cannot be printed');
  });

  it('pages through many codes', async () => {
    const { id: classroom } = await make.classroom(here());
    for (let more = 0; more < 23; more++) await idOf({ scope: 'classroom', classroom_id: classroom });
    const first = (await pages.owner.get(codes)).text;
    const next = /href="([^"]+\/codes\?after=[^"]+)"/.exec(first)![1]!;
    const second = (await pages.owner.get(next)).text;
    expect([shownCodes(first).length, shownCodes(second).length]).toEqual([22, 3]);
    expect(new Set([...shownCodes(first), ...shownCodes(second)]).size).toBe(25);
  });
});

describe('undoing what a code did', () => {
  it('names those who came, and removes them together', async () => {
    const leaked = await idOf(STUDENT);
    const came = [await join(leaked.token), await join(leaked.token), await join(leaked.token)] as { userId: string }[];
    await pages.owner.post(`${codes}/${leaked.id}/replace`, {});
    const list = (await pages.owner.get(codes)).text;
    expect(list).toContain('3 people joined since');
    const ask = new RegExp(`href="([^"]*${leaked.id}/undo[^"]*)"`).exec(list)![1]!;
    const asked = (await pages.owner.get(ask)).text;
    expect(asked).toContain('Remove 3 people');
    for (const { userId } of came) expect(asked).toContain(`${pages.base}/${userId}`);
    const since = /name="since" value="([^"]+)"/.exec(asked)![1]!;
    for (const wrong of [{ since: '' }, { since: 'yesterday' }, { since: '2026-99-99T00:00:00.000Z' }])
      expect((await pages.owner.post(`${codes}/${leaked.id}/undo`, wrong)).status).toBe(400);
    const done = await pages.owner.post(`${codes}/${leaked.id}/undo`, { since });
    expect((await pages.owner.follow(done)).text).toContain('3 people removed');
    for (const { userId } of came) {
      expect((await pages.owner.get(`${pages.base}/${userId}`)).text).toContain('Removed');
      const theirs = await joining.signedIn(userId);
      expect((await theirs.get('/organizations')).text).toContain('You no longer belong to');
    }
    expect((await pages.owner.get(ask)).text).toContain('Nobody to remove');
  });
});

describe('the page of a person', () => {
  it('says how they came', async () => {
    const id = await joining.joined((await idOf(STUDENT)).token, null, newcomer());
    const { text } = await pages.owner.get(`${pages.base}/${id}`);
    expect(text).toContain('By a code for students');
    expect(text).toContain('with the API key');
    const enrolled = await make.student(here());
    expect((await pages.owner.get(`${pages.base}/${enrolled.id}`)).text).not.toContain('joined</h2>');
    const email = 'by-address@example.org';
    const invited = await joining.joined((await idOf({ ...STUDENT, email })).token, null, newcomer(email));
    expect((await pages.owner.get(`${pages.base}/${invited}`)).text).toContain('By an invite to their address for students');
  });

  it('approves and declines whoever waits, as do the list and the overview', async () => {
    const child = await make.student(here(), { user: { firstName: 'Tim', lastName: 'Canary' } });
    const { token } = await idOf({ scope: 'parent', student_id: child.id });
    for (const [act, told, seen] of [['approve', ' was approved', 200], ['decline', ' was declined', 404]] as const) {
      const id = await joining.joined(token, null, newcomer());
      expect((await pages.owner.get(`${pages.base}?status=waiting`)).text).toContain(`${pages.base}/parents/${id}/${act}`);
      expect((await pages.owner.get(pages.base)).text).toContain('One person is waiting');
      expect((await pages.owner.get(pages.base.replace('/people', ''))).text).toContain('1 person is waiting');
      const shown = (await pages.owner.get(`${pages.base}/${id}`)).text;
      expect(shown).toContain('asks to be a parent of Tim Canary');
      const answer = await pages.owner.post(`${pages.base}/parents/${id}/${act}`, { from: `/${id}` });
      expect(answer.headers.location).toBe(`${pages.base}/${id}`);
      expect((await pages.owner.follow(answer)).text).toContain(told);
      expect((await joining.api.get(`/v1/parents/${id}`, pages.provisioning.key)).status).toBe(seen);
      expect((await pages.owner.get(pages.base)).text).not.toContain('is waiting');
    } // prettier-ignore
    const tutor = await pages.waitingTutor();
    await pages.owner.post(`${pages.base}/members/${tutor.id}/approve`, { from: `/${tutor.id}` });
    expect((await pages.owner.get(`${pages.base}/${tutor.id}`)).text).toContain('approved');
  });
});
