import { randomUUID } from 'node:crypto';
import { JoinFixture } from '../../support/portal/join-fixture.js';
import { PeoplePages } from '../../support/portal/people-pages.js';

let pages: PeoplePages;

const joining = await JoinFixture.shared();
beforeEach(async () => {
  pages = await PeoplePages.open(joining);
});

const sql = <Row = Record<string, unknown>>(statement: string, ...values: unknown[]) => joining.portal.make.query<Row>(statement, values);
const here = () => pages.provisioning.id;
const statusOf = async (id: string) =>
  (await sql<{ status: string }>('SELECT status FROM members WHERE organization_id = $1 AND user_id = $2', here(), id))[0]!.status;
const auditOf = (operation: string) =>
  sql<{ details: Record<string, unknown>; user_id: string }>(
    'SELECT details, user_id FROM audit_log WHERE organization_id = $1 AND operation = $2',
    here(),
    operation,
  );

describe('removing somebody', () => {
  it('counts first, then ends what they had in one step, which everybody learns', async () => {
    const { make } = joining.portal;
    const [tutor, successor] = [await make.tutor(here()), await make.tutor(here())];
    const child = await make.student(here());
    const key = await joining.api.keys.create(here(), { name: 'theirs' });
    await sql('UPDATE api_keys SET created_by = $1 WHERE id = $2', tutor.id, key.id);
    const session = await make.session(here(), {
      tutorId: tutor.id, studentId: child.id, startsAt: new Date(Date.now() + 7_200_000),
    }); // prettier-ignore
    const path = `${pages.base}/${tutor.id}`;
    expect((await pages.owner.get(path)).text).toContain('API keys');
    const asked = (await pages.owner.get(`${path}/remove`)).text;
    expect(asked).toContain('1 API key is revoked');
    expect(asked).toContain('1 upcoming lesson');
    const done = await pages.owner.post(`${path}/remove`, { sessions: 'hand_over', hand_over_to: successor.id });
    expect([done.status, done.headers.location]).toEqual([303, path]);
    expect((await pages.owner.get(path)).text).toContain('1 API key revoked, 1 lesson handed over.');
    expect(await statusOf(tutor.id)).toBe('archived');
    expect((await sql('SELECT tutor_id FROM sessions WHERE id = $1', session.id))[0]).toEqual({ tutor_id: successor.id });
    expect((await joining.api.get('/v1/students', key.key)).status).toBe(401);
    expect(await auditOf('end membership')).toEqual([
      { user_id: pages.ownerId, details: expect.objectContaining({ user_id: tutor.id, keys: 1, handedOver: 1 }) as object },
    ]);
    expect((await pages.owner.get(`${path}/remove`)).text).toContain('no longer belongs here');
  });

  it('is not for admins where it concerns managers, and never for the last owner', async () => {
    const admin = await joining.portal.someone('admin', { organization: await joining.portal.make.find('organizations', here()) });
    const refused = await joining.portal.post(`${pages.base}/${pages.ownerId}/remove`, {}, admin.cookie);
    expect(refused.status).toBe(303);
    expect(await statusOf(pages.ownerId)).toBe('accepted');
    await pages.owner.post(`${pages.base}/${pages.ownerId}/remove`, {});
    expect(await statusOf(pages.ownerId)).toBe('accepted');
    expect((await pages.owner.get(`${pages.base}/${pages.ownerId}`)).text).toContain('last owner who can sign in');
  });

  it('ends a removed admin’s access at once, and replaces the permanent codes', async () => {
    const admin = await joining.portal.someone('admin', { organization: await joining.portal.make.find('organizations', here()) });
    const codes = () => sql('SELECT id FROM invites WHERE organization_id = $1 AND standing AND revoked_at IS NULL ORDER BY 1', here());
    const before = await codes();
    expect((await joining.portal.get(pages.base, admin.cookie)).status).toBe(200);
    await pages.owner.post(`${pages.base}/${admin.user.id}/remove`, {});
    expect((await joining.portal.get(pages.base, admin.cookie)).status).toBe(404);
    const after = await codes();
    expect(after.filter((code) => before.some((old) => old.id === code.id))).toEqual([]);
  });

  it('leaves no key to an admin who makes one at the same time', async () => {
    const organization = await joining.portal.make.find('organizations', here());
    for (let round = 0; round < 8; round++) {
      const admin = await joining.portal.someone('admin', { organization });
      const form = { name: 'last one', access: 'read', expires: 'never', form_token: randomUUID() };
      await Promise.all([
        joining.portal.post(pages.base.replace('/people', '/keys'), form, admin.cookie),
        pages.owner.post(`${pages.base}/${admin.user.id}/remove`, {}),
      ]);
      const left = 'SELECT 1 FROM api_keys WHERE organization_id = $1 AND created_by = $2 AND revoked_at IS NULL';
      expect(await sql(left, here(), admin.user.id)).toEqual([]);
    }
  });

  it('leaves one’s own organizations, if there is another owner', async () => {
    const { make } = joining.portal;
    const tutor = await joining.portal.someone('tutor', { organization: await make.find('organizations', here()) });
    const left = await joining.portal.post(`/organizations/${here()}/leave`, { person: tutor.user.id }, tutor.cookie);
    expect(left.status).toBe(303);
    expect(await statusOf(tutor.user.id)).toBe('archived');
    const again = await joining.portal.post(`/organizations/${here()}/leave`, { person: tutor.user.id }, tutor.cookie);
    expect(again.status).toBe(303);
  });
});

describe('roles', () => {
  it('are changed by owners: a second owner can be made, and then the first can go', async () => {
    const { make } = joining.portal;
    const organization = await make.find('organizations', here());
    const admin = await joining.portal.someone('admin', { organization });
    const path = `${pages.base}/${admin.user.id}/role`;
    expect((await joining.portal.post(path, { role: 'owner' }, admin.cookie)).status).toBe(404);
    expect((await pages.owner.post(path, { role: 'student' })).status).toBe(400);
    expect((await pages.owner.post(path, { role: 'owner' })).status).toBe(303);
    expect(await auditOf('change role')).toHaveLength(1);
    await sql(
      `INSERT INTO credentials (user_id, password_hash) VALUES ($1, 'x') ON CONFLICT (user_id) DO UPDATE SET password_hash = 'x'`,
      admin.user.id,
    );
    await pages.owner.post(`${pages.base}/${pages.ownerId}/remove`, {});
    expect(await statusOf(pages.ownerId)).toBe('archived');
  });

  it('end the keys of whoever becomes a tutor', async () => {
    const { make } = joining.portal;
    const admin = await joining.portal.someone('admin', { organization: await make.find('organizations', here()) });
    const key = await joining.api.keys.create(here(), { name: 'theirs' });
    await sql('UPDATE api_keys SET created_by = $1 WHERE id = $2', admin.user.id, key.id);
    await pages.owner.post(`${pages.base}/${admin.user.id}/role`, { role: 'tutor' });
    expect((await joining.api.get('/v1/students', key.key)).status).toBe(401);
  });
});

it('a parent is unlinked from a child', async () => {
  const { make } = joining.portal;
  const child = await make.student(here());
  const parent = await make.parent(here(), { children: [child.id] });
  const path = `${pages.base}/${parent.id}`;
  expect((await pages.owner.get(path)).text).toContain('Unlink');
  expect((await pages.owner.post(`${path}/unlink`, { student_id: child.id })).status).toBe(303);
  expect((await pages.owner.get(path)).status).toBe(404);
  expect((await pages.owner.post(`${path}/unlink`, { student_id: child.id })).status).toBe(404);
});

describe('the overview', () => {
  it('shows the lessons of the organization’s day, and what needs attention', async () => {
    const { make } = joining.portal;
    await make.query(`UPDATE organizations SET time_zone = 'Pacific/Auckland' WHERE id = $1`, [here()]);
    const home = pages.base.replace('/people', '');
    const empty = (await pages.owner.get(home)).text;
    expect(empty).toContain('No lessons today.');
    expect(empty).not.toContain('Needs attention');
    const [day] = await sql<{ noon: Date; before: Date }>(
      `SELECT (date_trunc('day', now() AT TIME ZONE 'Pacific/Auckland') + interval '12 hours') AT TIME ZONE 'Pacific/Auckland' AS noon,
        date_trunc('day', now() AT TIME ZONE 'Pacific/Auckland') AT TIME ZONE 'Pacific/Auckland' - interval '1 minute' AS before`,
    );
    const tutor = await make.tutor(here(), { user: { firstName: 'Grace', lastName: 'Hopper' } });
    await make.session(here(), { tutorId: tutor.id, title: 'Algebra of today', startsAt: day!.noon });
    await make.session(here(), { tutorId: tutor.id, title: 'Algebra of yesterday', startsAt: day!.before });
    await make.session(here(), { title: 'Nobody’s lesson', startsAt: new Date(Date.now() + 200_000_000), status: 'pending' });
    await pages.waitingTutor();
    const { text } = await pages.owner.get(home);
    expect(text).toContain('Algebra of today');
    expect(text).toContain('Grace Hopper');
    expect(text).not.toContain('Algebra of yesterday');
    expect(text).toContain('1 upcoming lesson has no tutor');
    expect(text).toContain('1 person is waiting');
  });
});
