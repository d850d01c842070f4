import { newAddress } from '../../support/data/provisioning.js';
import { JoinFixture, registration, STUDENT, TUTOR } from '../../support/portal/join-fixture.js';
import { PeoplePages } from '../../support/portal/people-pages.js';

const joining = await JoinFixture.shared();
const { portal, sql } = joining;
const { make } = portal;

/** An organization with another owner, an admin to be ended, and a classroom whose code the admin could read. */
async function office() {
  const pages = await PeoplePages.open(joining);
  const { id } = pages.provisioning;
  const admin = await portal.someone('admin', { organization: await make.find('organizations', id) });
  const maths = await make.classroom(id, { name: 'Maths' });
  const shared = await joining.invite(pages.provisioning, { scope: 'classroom', classroom_id: maths.id });
  const [code] = await sql<{ id: string }>(`SELECT id FROM invites WHERE organization_id = $1 AND scope = 'classroom'`, id);
  const path = `${pages.base}/${admin.user.id}`;
  const inviteAsAdmin = async (wish: object) => {
    const secret = await joining.invite(pages.provisioning, wish);
    await sql(
      'UPDATE invites SET created_by = $1, api_key_id = NULL WHERE id = (SELECT max(id::text)::uuid FROM invites WHERE organization_id = $2)',
      admin.user.id,
      id,
    );
    return secret;
  };
  return { pages, id, admin, shared, codeId: code!.id, path, inviteAsAdmin };
}

type Office = Awaited<ReturnType<typeof office>>;

const ENDINGS = {
  removal: ({ pages, path }: Office, form: object = {}) => pages.owner.post(`${path}/remove`, { sessions: 'unassign', ...form }),
  demotion: ({ pages, path }: Office, form: object = {}) => pages.owner.post(`${path}/role`, { role: 'tutor', ...form }),
};

const titleOf = async (secret: string) => /<h1>(.*?)<\/h1>/.exec((await joining.visitor().get(`/join/${secret}`)).text)?.[1];
const working = (id: string) =>
  sql<{ scope: string }>(`SELECT scope FROM invites WHERE organization_id = $1 AND email IS NULL AND revoked_at IS NULL AND NOT standing`, id);

describe.each(Object.entries(ENDINGS))('after a %s', (how, end) => {
  it('codes that they could read are replaced, those that they made without a text to show are off', async () => {
    const at = await office();
    const group = await make.group(at.id);
    const made = await at.inviteAsAdmin({ scope: 'group', group_id: group.id });
    expect((await at.pages.owner.get(how === 'removal' ? `${at.path}/remove` : at.path)).text).toContain('Keep: Students of the classroom Maths');
    expect((await end(at)).status).toBe(303);
    for (const dead of [at.shared, made]) expect(await titleOf(dead)).toBe('Enter your code');
    expect(await working(at.id)).toEqual([{ scope: 'classroom' }]);
    expect((await at.pages.owner.get(`${at.pages.base}/codes`)).text).toContain('Turn on again');
  });

  it('a code that a manager keeps goes on, and the audit row names it', async () => {
    const at = await office();
    await end(at, { keep: at.codeId });
    expect(await titleOf(at.shared)).toBe('Join Demo Tutoring');
    expect(await at.pages.audited(how === 'removal' ? 'end membership' : 'change role')).toMatchObject([{ kept: [at.codeId] }]);
  });

  it('invites that they made wait for an owner, for 14 days at most', async () => {
    const at = await office();
    const email = newAddress();
    const token = await at.inviteAsAdmin({ ...TUTOR, email });
    await sql(`UPDATE invites SET expires_at = now() + interval '60 days' WHERE email = $1`, email);
    await end(at);
    expect(await titleOf(token)).toBe('This invitation waits');
    const friend = joining.visitor();
    await friend.post(`/join/${token}`, registration());
    expect(await joining.loginOf(email)).toBeNull();
    const [held] = await sql<{ id: string; soon: boolean }>(
      `SELECT id, expires_at < now() + interval '15 days' AS soon FROM invites WHERE email = $1`,
      email,
    );
    expect(held!.soon).toBe(true);
    const release = `${at.pages.base}/invites/${held!.id}/release`;
    const other = await portal.someone('admin', { organization: await make.find('organizations', at.id) });
    expect((await portal.post(release, {}, other.cookie)).status).toBe(404);
    expect((await at.pages.owner.get(`${at.pages.base}/invites`)).text).toContain('Waits for an owner');
    expect((await at.pages.owner.post(release)).status).toBe(303);
    expect(await titleOf(token)).toBe('Join Demo Tutoring');
    expect(await at.pages.audited('confirm_invite')).toMatchObject([{ invite_id: held!.id }]);
  });

  it('an owner sees whom they let in', async () => {
    const at = await office();
    const code = await at.inviteAsAdmin(STUDENT);
    await joining.visitor().post(`/join/${code}`, registration(newAddress()));
    expect((await at.pages.owner.get(at.path)).text).not.toContain('Let in by ');
    const answer = await at.pages.owner.follow(await end(at));
    expect(answer.text).toMatch(/Let in by [\s\S]*Mia Nguyen/);
    const other = await portal.someone('admin', { organization: await make.find('organizations', at.id) });
    expect((await portal.get(at.path, other.cookie)).text).not.toContain('Let in by ');
  });
});

describe('revoking a key', () => {
  it.each([
    ['that could read codes replaces them, if the form says so', ['read', 'accounts:write'], 'yes', false],
    ['that could read codes leaves them otherwise', ['read', 'accounts:write'], '', true],
    ['that could not read them replaces none', ['read'], 'yes', true],
  ] as const)('%s', async (_what, scopes, replace_codes, works) => {
    const at = await office();
    const { id } = await joining.api.keys.create(at.id, { name: 'theirs', scopes: [...scopes] });
    const path = `${at.pages.base.replace('/people', '/keys')}/${id}/revoke`;
    const offers = (await at.pages.owner.get(path)).text.includes('Replace the codes that the key could read');
    expect(offers).toBe(scopes.length === 2);
    await at.pages.owner.post(path, { replace_codes });
    expect(await titleOf(at.shared)).toBe(works ? 'Join Demo Tutoring' : 'Enter your code');
  });
});
