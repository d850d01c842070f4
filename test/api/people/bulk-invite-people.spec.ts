import { TestApi } from '../../support/http/api.js';
import {
  ana,
  INVITED,
  newAddress,
  PeopleFixture,
  parentRow,
  PROVISIONED,
  type RowWish,
  studentRow,
  tutorRow,
} from '../../support/data/provisioning.js';

let provisioning: PeopleFixture;

const api = await TestApi.shared({ APP_URL: 'https://app.example.org' });
const { make } = api;
const other = await PeopleFixture.open(api, make);

beforeEach(async () => {
  provisioning = await PeopleFixture.open(api, make);
});

const loginOf = async (id: string) => (await make.query('SELECT * FROM users WHERE id = $1', [id]))[0];

/** Moves the person's last email this many hours into the past. */
const mailedAgo = async (id: string, hours: number) => {
  await make.query(`UPDATE members SET invited_at = now() - $3 * interval '1 hour' WHERE organization_id = $1 AND user_id = $2`, [
    provisioning.id,
    id,
    hours,
  ]);
  await make.query(`UPDATE outbox SET created_at = now() - $2 * interval '1 hour' WHERE organization_id = $1`, [provisioning.id, hours]);
};

describe('a new address', () => {
  it.each([
    ['student', '/v1/students', studentRow],
    ['tutor', '/v1/tutors', tutorRow],
  ])('creates an accepted %s with a login', async (role, path, row) => {
    const wish = row({ email: ` ${newAddress().toUpperCase()} `, phone: '+61 400' });
    const result = await provisioning.inviteOne(wish);
    const email = (wish.email as string).trim();
    expect(result).toMatchObject({ ...PROVISIONED, email });
    expect(await provisioning.seen(path, result.id)).toMatchObject({
      first_name: 'Mia', last_name: 'Nguyen', email, placeholder_email: false, status: 'accepted',
    }); // prettier-ignore
    expect(await loginOf(result.id!)).toMatchObject({ email, email_normalized: email.toLowerCase(), phone: '+61 400' });
    expect(await provisioning.queued()).toEqual([{ kind: 'account_created', recipient: email }]);
    const [invite] = await make.query('SELECT * FROM invites WHERE organization_id = $1', [provisioning.id]);
    expect(invite).toMatchObject({ scope: 'account', role, target_id: result.id, email });
  });

  it('gives a tutor the profile from the row', async () => {
    const told = { bio: 'Patient', teaching_mode: 'in_person', is_published: true };
    const { results } = await provisioning.invite(tutorRow(told), tutorRow({ bio: null, teaching_mode: null, is_published: null }));
    expect(await provisioning.seen('/v1/tutors', results[0]!.id)).toMatchObject({ role: 'tutor', ...told });
    expect(await provisioning.seen('/v1/tutors', results[1]!.id)).toMatchObject({
      bio: null, teaching_mode: null, is_published: false,
    }); // prettier-ignore
  });

  it('of a parent creates one who is invisible until linked and never emailed', async () => {
    const result = await provisioning.inviteOne(parentRow({ send_invite: true }));
    expect(result).toMatchObject({ status: 'ok', created: true, invited: false });
    expect(await provisioning.list('/v1/parents')).toEqual([]);
    expect((await api.get(`/v1/parents/${result.id}`, provisioning.key)).status).toBe(404);
    expect(await provisioning.queued()).toEqual([]);
    const student = await provisioning.inviteOne(studentRow());
    await provisioning.link(result.id, student.id);
    expect(await provisioning.seen('/v1/parents', result.id)).toMatchObject({ status: 'accepted', student_ids: [student.id] });
  });
});

describe('a missing address', () => {
  it('creates an account with a placeholder address', async () => {
    for (const row of [studentRow({ email: null }), { type: 'student', first_name: 'Mia', last_name: 'N' } as RowWish]) {
      const result = await provisioning.inviteOne(row);
      expect(result).toMatchObject({ status: 'ok', email: null, created: true, invited: false });
      expect(await provisioning.seen('/v1/students', result.id)).toMatchObject({ email: null, placeholder_email: true });
      expect(await loginOf(result.id!)).toMatchObject({ email: expect.stringMatching(/^[0-9a-f-]{36}@placeholder\.invalid$/) as string });
    }
    expect(await provisioning.queued()).toEqual([]);
  });
});

describe('the address of a login elsewhere', () => {
  it('creates a pending member who shows only what was supplied', async () => {
    const { id, email } = await other.stranger();
    const before = await loginOf(id);
    const result = await provisioning.inviteOne(studentRow({ email: email.toUpperCase(), first_name: 'Mimi', phone: '1' }));
    expect(result).toMatchObject({ ...INVITED, id });
    expect(await provisioning.seen('/v1/students', id)).toEqual({
      id, first_name: 'Mimi', last_name: 'Nguyen', email: email.toUpperCase(), placeholder_email: false,
      status: 'pending', parent_ids: [], rate_band_id: null, billing_parent_id: null, bills_self: false, billing_name: null, billing_address: null, created_at: expect.any(String) as string,
    }); // prettier-ignore
    expect(await loginOf(id)).toEqual(before);
    expect(await provisioning.queued()).toEqual([{ kind: 'membership_invite', recipient: email.toUpperCase() }]);
  });

  it('reveals nothing about the person in any list, and changes nothing for the other organization', async () => {
    const people = [await other.stranger(), await other.stranger('tutor'), await other.stranger(), await other.stranger('tutor')];
    const seenByOther = async () => JSON.stringify([await other.list('/v1/students'), await other.list('/v1/tutors')]);
    const before = [await seenByOther(), await make.query('SELECT * FROM users ORDER BY id')];
    await provisioning.invite(
      studentRow({ email: people[0]!.email }),
      tutorRow({ email: people[1]!.email }),
      parentRow({ email: people[2]!.email }),
      studentRow({ email: null, parent: ana({ email: people[3]!.email }) }),
    );
    const [mine] = await make.query<{ id: string }>('SELECT max(id::text) AS id FROM users WHERE placeholder_email');
    for (const path of ['/v1/students', '/v1/tutors', '/v1/parents']) {
      expect(JSON.stringify(await provisioning.list(path))).not.toMatch(/secret/i);
    }
    expect(await provisioning.seen('/v1/parents', people[3]!.id)).toMatchObject({ first_name: 'Ana', status: 'pending' });
    expect(await provisioning.seen('/v1/tutors', people[1]!.id)).toMatchObject({ full_name: 'Mia Nguyen', status: 'pending' });
    expect(await seenByOther()).toBe(before[0]);
    const after = await make.query<{ id: string }>('SELECT * FROM users ORDER BY id');
    expect(after.filter(({ id }) => id !== mine!.id)).toEqual(before[1]);
  });
});

describe('a repeated address', () => {
  it('of a pending member is ok, and emailed at most once a day', async () => {
    const { id, email } = await other.stranger();
    expect(await provisioning.inviteOne(studentRow({ email }))).toMatchObject(INVITED);
    expect(await provisioning.inviteOne(studentRow({ email }))).toMatchObject({ ...INVITED, id, invited: false });
    await mailedAgo(id, 23.9);
    expect(await provisioning.inviteOne(studentRow({ email }))).toMatchObject({ ...INVITED, invited: false });
    await mailedAgo(id, 24.1);
    expect(await provisioning.inviteOne(studentRow({ email, send_invite: false }))).toMatchObject({ invited: false });
    expect(await provisioning.inviteOne(studentRow({ email }))).toMatchObject(INVITED);
    expect(await provisioning.inviteOne(studentRow({ email }))).toMatchObject({ ...INVITED, invited: false });
    expect(await provisioning.queued()).toHaveLength(2);
    expect(await provisioning.list('/v1/students')).toHaveLength(1);
  });

  it('of an accepted member returns exists and changes nothing', async () => {
    const rows = [studentRow(), tutorRow({ bio: 'First' })];
    const first = await provisioning.invite(...rows);
    const everything = async () =>
      JSON.stringify([await provisioning.list('/v1/students'), await provisioning.list('/v1/tutors'), await provisioning.queued()]);
    const before = await everything();
    const again = await provisioning.invite(
      { ...rows[0]!, first_name: 'Other', parent: ana() },
      { ...rows[1]!, bio: 'Second', email: (rows[1]!.email as string).toUpperCase() },
    );
    expect(again.results).toMatchObject(first.results.map(({ id }) => ({ status: 'exists', id, created: false, invited: false, error: null })));
    expect(again.summary).toEqual({ total: 2, ok: 0, exists: 2, errors: 0, created: 0 });
    expect(await everything()).toBe(before);
  });

  it.each([
    ['an', 'owner'],
    ['an', 'admin'],
    ['a', 'tutor'],
    ['a', 'student'],
  ] as const)('with another role returns an error that names %s %s', async (article, role) => {
    for (const status of ['accepted', 'pending', 'archived'] as const) {
      const { email } = await make.member(provisioning.id, { role, status });
      const result = await provisioning.inviteOne(role === 'student' ? tutorRow({ email }) : studentRow({ email }));
      expect(result).toMatchObject({ status: 'error', id: null, created: null, invited: null });
      expect(result.error).toContain(`belongs to ${article} ${role} in`);
    }
  });

  it('of an archived member makes them a member again', async () => {
    const { id, email } = (await provisioning.invite(studentRow(), tutorRow({ bio: 'Kept' }))).results[1]!;
    await make.query(`UPDATE members SET status = 'archived', archived_at = now() WHERE user_id = $1`, [id]);
    await mailedAgo(id!, 48);
    expect(await provisioning.inviteOne(tutorRow({ email, bio: 'New' }))).toMatchObject({ ...INVITED, id });
    expect(await provisioning.seen('/v1/tutors', id)).toMatchObject({ status: 'accepted', bio: 'Kept' });
    const [member] = await make.query('SELECT * FROM members WHERE user_id = $1', [id]);
    expect(member).toMatchObject({ archived_at: null, supplied_email: null });
  });

  it('of an archived member who never accepted, and still shows what was supplied, makes them pending again', async () => {
    const { id, email } = await other.stranger();
    await provisioning.inviteOne(studentRow({ email }));
    await make.query(`UPDATE members SET status = 'archived' WHERE organization_id = $1`, [provisioning.id]);
    expect(await provisioning.seen('/v1/students', id)).toMatchObject({ status: 'archived', first_name: 'Mia', email });
    expect(await provisioning.inviteOne(studentRow({ email, first_name: 'Again' }))).toMatchObject({ status: 'ok', id });
    expect(await provisioning.seen('/v1/students', id)).toMatchObject({ status: 'pending', first_name: 'Again' });
  });

  it('of an archived parent makes them a parent again, pending if they never accepted', async () => {
    const stranger = await other.stranger();
    const parents = [await provisioning.inviteOne(parentRow()), await provisioning.inviteOne(parentRow({ email: stranger.email }))];
    await make.query(`UPDATE parents SET status = 'archived' WHERE organization_id = $1`, [provisioning.id]);
    for (const { email } of parents) {
      const parent = ana({ email });
      expect(await provisioning.inviteOne(studentRow({ parent }))).toMatchObject({ status: 'ok' });
    }
    expect(await provisioning.seen('/v1/parents', parents[0]!.id)).toMatchObject({ first_name: 'Mia', status: 'accepted' });
    expect(await provisioning.seen('/v1/parents', parents[1]!.id)).toMatchObject({ first_name: 'Ana', status: 'pending' });
  });
});
