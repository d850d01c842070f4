import { TestApi } from '../../support/http/api.js';
import { newAddress, NOBODY, PeopleFixture, refusedAt, studentRow } from '../../support/data/provisioning.js';

let provisioning: PeopleFixture;
let other: PeopleFixture;

const api = await TestApi.shared({ APP_URL: 'https://app.example.org' });
const { make } = api;

beforeEach(async () => {
  [provisioning, other] = [await PeopleFixture.open(api, make), await PeopleFixture.open(api, make)];
});

describe('PATCH /v1/students/{student_id}', () => {
  const change = (id: string, body: object, by = provisioning) => by.send('patch', `/v1/students/${id}`, body);
  const loginOf = async (id: string) => (await make.query('SELECT * FROM users WHERE id = $1', [id]))[0];

  it('changes the given fields and leaves the rest', async () => {
    const { id, email } = await provisioning.inviteOne(studentRow({ phone: '1' }));
    const { status, body } = await change(id!, { first_name: ' Mimi ', phone: '2' });
    expect([status, body]).toMatchObject([200, { id, first_name: 'Mimi', last_name: 'Nguyen', email }]);
    expect(await loginOf(id!)).toMatchObject({ first_name: 'Mimi', phone: '2', email });
    expect((await change(id!, { phone: null })).status).toBe(200);
    expect(await loginOf(id!)).toMatchObject({ first_name: 'Mimi', phone: null });
  });

  it('adds an email address, replaces it, and removes it', async () => {
    const { id } = await provisioning.inviteOne(studentRow({ email: null }));
    for (const email of [newAddress(), newAddress().toUpperCase()]) {
      expect((await change(id!, { email })).body).toMatchObject({ email, placeholder_email: false });
      expect(await loginOf(id!)).toMatchObject({ email_normalized: email.toLowerCase() });
      await provisioning.tenMinutesLater();
      expect((await provisioning.post(`/v1/students/${id}/send-invite`)).body).toEqual({ sent: true, email });
    }
    expect((await change(id!, { email: null })).body).toMatchObject({ email: null, placeholder_email: true });
    const invites = await make.query<{ revoked: boolean }>('SELECT revoked_at IS NOT NULL AS revoked FROM invites WHERE target_id = $1', [id]);
    // Links sent to an address that is no longer theirs must not work: two confirmations and two invites.
    expect(invites).toEqual(Array.from({ length: 4 }, () => ({ revoked: true })));
  });

  it('refuses a malformed email address or one in use', async () => {
    const { id, email } = await provisioning.inviteOne(studentRow());
    const theirs = await make.user();
    for (const wrong of ['nobody', 'x@placeholder.invalid', theirs.email, theirs.email.toUpperCase()]) {
      expect(refusedAt(await change(id!, { email: wrong }))).toEqual(['body.email']);
    }
    expect(await provisioning.seen('/v1/students', id)).toMatchObject({ email });
  });

  it('changes the supplied details of a pending student, but not the address they were invited at', async () => {
    const { id, email } = await make.member(other.id, { role: 'tutor' });
    const before = await loginOf(id);
    await provisioning.inviteOne(studentRow({ email }));
    expect((await change(id, { first_name: 'Mimi', phone: '7', email: email.toUpperCase() })).body).toMatchObject({
      first_name: 'Mimi', last_name: 'Nguyen', email: email.toUpperCase(), status: 'pending',
    }); // prettier-ignore
    for (const wrong of [newAddress(), null, 'nobody']) {
      expect(refusedAt(await change(id, { email: wrong }))).toEqual(['body.email']);
    }
    expect(await loginOf(id)).toEqual(before);
  });

  it('refuses to change a login that another organization shares', async () => {
    const { id } = await provisioning.inviteOne(studentRow());
    const wish = { first_name: 'Mimi', last_name: 'Nguyen', email: newAddress(), phone: '7' };
    const before = await loginOf(id!);
    await make.member(other.id, { user: { id: id! }, status: 'pending' });
    // Who was never accepted there is bound by the address alone.
    for (const [status, fields] of [
      ['pending', ['body.email']],
      ['accepted', ['body.email', 'body.first_name', 'body.phone']],
    ] as const) {
      await make.query('UPDATE members SET status = $2 WHERE organization_id = $1', [other.id, status]);
      expect(refusedAt(await change(id!, wish)).sort()).toEqual(fields);
    }
    await make.query('DELETE FROM members WHERE organization_id = $1', [other.id]);
    expect(await loginOf(id!)).toEqual(before);
  });

  it('refuses archived students, and returns 404 for everyone else', async () => {
    const { id } = await provisioning.inviteOne(studentRow());
    expect((await change(id!, { phone: '1' }, other)).status).toBe(404);
    await make.query(`UPDATE members SET status = 'archived' WHERE user_id = $1`, [id]);
    expect(refusedAt(await change(id!, { phone: '1' }))).toEqual(['path.student_id']);
    const tutor = await make.tutor(provisioning.id);
    for (const nobody of [...NOBODY, tutor.id]) expect((await change(nobody, { phone: '1' })).status).toBe(404);
  });

  it('gives an address to only one of ten simultaneous changes', async () => {
    const students = (await provisioning.invite(...Array.from({ length: 10 }, () => studentRow()))).results;
    const email = newAddress();
    const answers = await Promise.all(students.map(({ id }) => change(id!, { email })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array.from({ length: 9 }, () => 422)]);
  });
});
