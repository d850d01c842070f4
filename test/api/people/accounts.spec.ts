import { TestApi } from '../../support/http/api.js';
import { newAddress, PeopleFixture, parentRow, person, refusedAt, studentRow } from '../../support/data/provisioning.js';

const api = await TestApi.shared({ APP_URL: 'https://app.example.org' });
const { make } = api;
let provisioning: PeopleFixture;
let other: PeopleFixture;

beforeEach(async () => {
  [provisioning, other] = [await PeopleFixture.open(api, make), await PeopleFixture.open(api, make)];
});

describe.each([
  ['students', '/v1/students', '/v1/students', {}],
  ['tutors', '/v1/tutors', '/v1/tutors', { bio: 'Patient', teaching_mode: 'online', is_published: true }],
])('POST /v1/%s', (_, path, list, more) => {
  it('returns the record that the list shows', async () => {
    const { status, body } = await provisioning.post(path, person(more));
    expect(status).toBe(201);
    expect(body).toEqual(await provisioning.seen(list, (body as { id: string }).id));
    expect(body).toMatchObject({ first_name: 'Mia', status: 'accepted', ...more });
    expect(await provisioning.queued()).toHaveLength(1);
  });

  it('returns an existing member unchanged', async () => {
    const wish = person(more);
    const first = await provisioning.post(path, wish);
    const second = await provisioning.post(path, { ...wish, first_name: 'Other' });
    expect([second.status, second.body]).toEqual([200, first.body]);
    expect(await provisioning.queued()).toHaveLength(1);
  });

  it('returns 422 at the field for what a bulk invite reports as a row error', async () => {
    expect(refusedAt(await provisioning.post(path, person({ email: 'nobody' })))).toEqual(['body.email']);
    const { email } = await make.member(provisioning.id, { role: 'admin' });
    expect(refusedAt(await provisioning.post(path, person({ email })))).toEqual(['body.email']);
    const there = (await provisioning.list(list)) as { role?: string }[];
    expect(there.filter(({ role }) => role !== 'admin')).toEqual([]);
  });
});

describe('POST /v1/students', () => {
  it('creates the parent too', async () => {
    const parent = person({ first_name: 'Ana' });
    const { body } = await provisioning.post('/v1/students', person({ parent }));
    const [record] = await provisioning.list('/v1/parents');
    expect(record).toMatchObject({ first_name: 'Ana', email: parent.email, student_ids: [(body as { id: string }).id] });
    expect(body).toMatchObject({ parent_ids: [record!.id] });
  });

  it('refuses a parent at the parent’s field and creates nobody', async () => {
    const wish = person();
    const child = await provisioning.inviteOne(studentRow());
    for (const email of ['nobody', wish.email, child.email]) {
      const answer = await provisioning.post('/v1/students', { ...wish, parent: person({ email }) });
      expect(refusedAt(answer)).toEqual(['body.parent.email']);
    }
    expect(await provisioning.list('/v1/students')).toHaveLength(1);
  });
});

it('POST /v1/parents returns a parent who is linked to nobody', async () => {
  const { status, body } = await provisioning.post('/v1/parents', person());
  const parent = { first_name: 'Mia', status: 'accepted', student_ids: [], enrolled_at: null, placeholder_email: false };
  expect([status, body]).toMatchObject([201, parent]);
  expect(await provisioning.queued()).toEqual([]);
});

describe('POST /v1/parents/{parent_id}/link-student', () => {
  it('links, and changes nothing when repeated', async () => {
    const [parent, student] = [await provisioning.inviteOne(parentRow()), await provisioning.inviteOne(studentRow())];
    const path = `/v1/parents/${parent.id}/link-student`;
    const first = await provisioning.post(path, { student_id: student.id });
    expect([first.status, first.body]).toEqual([
      200,
      { parent_id: parent.id, student_id: student.id, linked_at: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/) as string },
    ]);
    expect((await provisioning.post(path, { student_id: student.id })).body).toEqual(first.body);
    const seen = (await api.get(`/v1/parents/${parent.id}`, provisioning.key)).body as object;
    expect(seen).toMatchObject({ id: parent.id, student_ids: [student.id] });
  });

  it('returns 404 for people in the wrong role', async () => {
    const [parent, student] = [await provisioning.inviteOne(parentRow()), await provisioning.inviteOne(studentRow())];
    const tutor = await make.tutor(provisioning.id);
    for (const [id, student_id] of [[parent.id, tutor.id], [parent.id, parent.id], [student.id, student.id]]) {
      expect((await provisioning.post(`/v1/parents/${id}/link-student`, { student_id })).status).toBe(404);
    }
    expect(await make.query('SELECT FROM parent_students WHERE organization_id = $1', [provisioning.id])).toEqual([]);
  }); // prettier-ignore

  it('brings back a parent who has left, also one who has kept a link', async () => {
    const [older, younger] = [await provisioning.inviteOne(studentRow()), await provisioning.inviteOne(studentRow())];
    const parent = await make.parent(provisioning.id, { children: [older.id!], status: 'archived' });
    expect((await provisioning.post(`/v1/parents/${parent.id}/link-student`, { student_id: younger.id })).status).toBe(200);
    const rows = await make.query('SELECT status FROM parents WHERE user_id = $1', [parent.id]);
    expect(rows).not.toEqual([{ status: 'archived' }]);
  });
});

describe.each([
  ['student', 'students'],
  ['parent', 'parents'],
])('POST /v1/%ss/{id}/send-invite', (kind, folder) => {
  /** A person with this address; a parent is linked to a student. */
  async function somebody(email: string | null): Promise<string> {
    const child = await provisioning.inviteOne(studentRow({ send_invite: false, ...(kind === 'student' && { email }) }));
    if (kind === 'student') return child.id!;
    const parent = await provisioning.inviteOne(parentRow({ email }));
    await provisioning.link(parent.id, child.id);
    return parent.id!;
  }
  const sendInvite = (id: string) => provisioning.post(`/v1/${folder}/${id}/send-invite`);

  it('sends the join link whenever asked, at most once in ten minutes', async () => {
    const email = newAddress();
    const id = await somebody(email);
    for (const _ of [1, 2]) {
      await provisioning.tenMinutesLater();
      const { status, body } = await sendInvite(id);
      expect([status, body]).toEqual([200, { sent: true, email }]);
      expect((await sendInvite(id)).body).toEqual({ sent: false, email });
    }
    expect(await provisioning.queued()).toEqual([1, 2].map(() => ({ kind: 'account_created', recipient: email })));
    const invites = await make.query('SELECT role, target_id, email FROM invites WHERE organization_id = $1', [provisioning.id]);
    expect(invites).toEqual([1, 2].map(() => ({ role: kind, target_id: id, email })));
  });

  it('emails a pending person at the supplied address', async () => {
    const { email } = await make.member(other.id, { role: 'tutor' });
    const id = await somebody(email.toUpperCase());
    expect((await sendInvite(id)).body).toEqual({ sent: true, email: email.toUpperCase() });
    expect(await provisioning.queued()).toEqual([{ kind: 'membership_invite', recipient: email.toUpperCase() }]);
  });

  it('refuses a person without an address, and an archived one', async () => {
    expect(refusedAt(await sendInvite(await somebody(null)))).toEqual([`path.${kind}_id`]);
    const id = await somebody(newAddress());
    const table = kind === 'student' ? 'members' : 'parents';
    await make.query(`UPDATE ${table} SET status = 'archived' WHERE user_id = $1`, [id]);
    expect(refusedAt(await sendInvite(id))).toEqual([`path.${kind}_id`]);
  });

  it('returns 404 for a tutor, and for a parent who is linked to nobody', async () => {
    const tutor = await make.tutor(provisioning.id);
    expect((await sendInvite(tutor.id)).status).toBe(404);
    const unlinked = await provisioning.inviteOne(parentRow());
    expect((await sendInvite(unlinked.id!)).status).toBe(404);
  });
});
