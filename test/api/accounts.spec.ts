import type { Scope } from '@app/accounts';
import { v7 as uuidv7 } from 'uuid';
import { TestApi } from '../support/http/api.js';
import { Factories } from '../support/data/factories.js';
import { newAddress, Office, parentRow, studentRow } from '../support/data/provisioning.js';

let api: TestApi;
/** The same without a mail server. */
let mute: TestApi;
let make: Factories;
let office: Office;
let other: Office;

beforeAll(async () => {
  api = await TestApi.start({ SMTP_URL: 'smtp://127.0.0.1:1', APP_URL: 'https://app.example.org' });
  mute = await TestApi.start({}, api.database);
  make = await Factories.connect(api.database);
});

beforeEach(async () => {
  [office, other] = [await Office.open(api, make), await Office.open(api, make)];
});

afterAll(async () => {
  await make.close();
  await mute.close();
  await api.stop();
});

const person = (wish: object = {}) => ({ first_name: 'Mia', last_name: 'Nguyen', email: newAddress(), ...wish });

interface Detail {
  loc: string[];
  type: string;
}

/** The places of a 422, each a `value_error`. */
function refusedAt({ status, body }: { status: number; body: unknown }): string[] {
  expect(status).toBe(422);
  const { detail } = body as { detail: Detail[] };
  expect(new Set(detail.map(({ type }) => type))).toEqual(new Set(['value_error']));
  return detail.map(({ loc }) => loc.join('.'));
}

const NOBODY = [uuidv7(), 'no-uuid', '%2e%2e'];

describe.each([
  ['students', '/v1/students', '/v1/students', {}],
  ['tutors', '/v1/tutors', '/v1/tutors', { bio: 'Patient', teaching_mode: 'online', is_published: true }],
])('POST /v1/%s', (_, path, list, more) => {
  it('answers the record that the list shows', async () => {
    const { status, body } = await office.post(path, person(more));
    expect(status).toBe(201);
    expect(body).toEqual(await office.seen(list, (body as { id: string }).id));
    expect(body).toMatchObject({ first_name: 'Mia', status: 'accepted', ...more });
    expect(await office.queued()).toHaveLength(1);
  });

  it('answers who is there already, and does nothing', async () => {
    const wish = person(more);
    const first = await office.post(path, wish);
    const second = await office.post(path, { ...wish, first_name: 'Other' });
    expect([second.status, second.body]).toEqual([201, first.body]);
    expect(await office.queued()).toHaveLength(1);
  });

  it('invites somebody known elsewhere, of whom it shows what was supplied', async () => {
    const { id, email } = await make.member(other.id, { role: 'tutor', user: { firstName: 'Secret', phone: '555' } });
    const { status, body } = await office.post(path, person({ email }));
    expect([status, body]).toMatchObject([201, { id, first_name: 'Mia', email, status: 'pending' }]);
  });

  it('refuses at the field what would be the error of a row', async () => {
    expect(refusedAt(await office.post(path, person({ email: 'nobody' })))).toEqual(['body.email']);
    const { email } = await make.member(office.id, { role: 'admin' });
    expect(refusedAt(await office.post(path, person({ email })))).toEqual(['body.email']);
    const there = (await office.list(list)) as { role?: string }[];
    expect(there.filter(({ role }) => role !== 'admin')).toEqual([]);
  });

  it('replays to the same key', async () => {
    const headers = { 'Idempotency-Key': 'one' };
    const body = person({ email: null });
    const [first, second] = [
      await office.send('post', path, body, { headers }),
      await office.send('post', path, body, { headers }),
    ];
    expect([second.status, second.text]).toEqual([201, first.text]);
    expect(await office.list(list)).toHaveLength(1);
  });
});

describe('POST /v1/students', () => {
  it('brings the parent along', async () => {
    const parent = person({ first_name: 'Ana' });
    const { body } = await office.post('/v1/students', person({ parent }));
    const [record] = await office.list('/v1/parents');
    expect(record).toMatchObject({
      first_name: 'Ana',
      email: parent.email,
      student_ids: [(body as { id: string }).id],
    });
    expect(body).toMatchObject({ parent_ids: [record!.id] });
  });

  it('refuses the parent at its field, and makes nobody', async () => {
    const wish = person();
    const child = await office.inviteOne(studentRow());
    for (const email of ['nobody', wish.email, child.email]) {
      const answer = await office.post('/v1/students', { ...wish, parent: person({ email }) });
      expect(refusedAt(answer)).toEqual(['body.parent.email']);
    }
    expect(await office.list('/v1/students')).toHaveLength(1);
  });

  it.each([
    ['a type', { type: 'student' }, ['body.type', 'extra_forbidden']],
    ['a bio', { bio: 'Hi' }, ['body.bio', 'extra_forbidden']],
    ['no name', { first_name: undefined }, ['body.first_name', 'missing']],
    ['an empty name', { first_name: '\t' }, ['body.first_name', 'string_too_short']],
    ['a name of a parent', { parent: { first_name: 'A', last_name: null } }, ['body.parent.last_name', 'string_type']],
  ])('refuses %s', async (_, wish, expected) => {
    const { status, body } = await office.post('/v1/students', person(wish));
    const { detail } = body as { detail: Detail[] };
    expect([status, detail.map(({ loc, type }) => [loc.join('.'), type])]).toEqual([422, [expected]]);
  });
});

describe('POST /v1/parents', () => {
  it('answers a parent who is not to be seen until linked', async () => {
    const { status, body } = await office.post('/v1/parents', person());
    expect([status, body]).toMatchObject([
      201,
      { first_name: 'Mia', status: 'accepted', student_ids: [], enrolled_at: null, placeholder_email: false },
    ]);
    const { id } = body as { id: string };
    expect(await office.list('/v1/parents')).toEqual([]);
    expect((await api.get(`/v1/parents/${id}`, office.key)).status).toBe(404);
    expect((await api.get(`/v1/parents/${id}/balance`, office.key)).status).toBe(404);
    expect(await office.queued()).toEqual([]);
  });

  it('refuses a student', async () => {
    const { email } = await office.inviteOne(studentRow());
    expect(refusedAt(await office.post('/v1/parents', person({ email })))).toEqual(['body.email']);
  });
});

describe('POST /v1/parents/{parent_id}/link-student', () => {
  it('links, and again changes nothing', async () => {
    const [parent, student] = [await office.inviteOne(parentRow()), await office.inviteOne(studentRow())];
    const path = `/v1/parents/${parent.id}/link-student`;
    const first = await office.post(path, { student_id: student.id });
    expect([first.status, first.body]).toEqual([
      200,
      {
        parent_id: parent.id,
        student_id: student.id,
        linked_at: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/) as string,
      },
    ]);
    expect((await office.post(path, { student_id: student.id })).body).toEqual(first.body);
    const seen = (await api.get(`/v1/parents/${parent.id}`, office.key)).body as object;
    expect(seen).toMatchObject({ id: parent.id, student_ids: [student.id] });
  });

  it('finds nobody of another organization, nobody who is not there, and no student who is none', async () => {
    const [parent, student] = [await office.inviteOne(parentRow()), await office.inviteOne(studentRow())];
    const [theirs, child] = [await other.inviteOne(parentRow()), await other.inviteOne(studentRow())];
    const tutor = await make.tutor(office.id);
    const status = async (id: unknown, studentId: unknown) =>
      (await office.post(`/v1/parents/${id as string}/link-student`, { student_id: studentId })).status;
    expect(await status(parent.id, child.id)).toBe(404);
    expect(await status(theirs.id, student.id)).toBe(404);
    expect(await status(theirs.id, child.id)).toBe(404);
    expect(await status(parent.id, tutor.id)).toBe(404);
    expect(await status(parent.id, parent.id)).toBe(404);
    expect(await status(student.id, student.id)).toBe(404);
    expect(await status(parent.id, uuidv7())).toBe(404);
    for (const id of NOBODY) expect(await status(id, student.id)).toBe(404);
    expect(await status(parent.id, 'no-uuid')).toBe(422);
    expect(
      await make.query('SELECT FROM parent_students WHERE organization_id = ANY ($1)', [[office.id, other.id]]),
    ).toEqual([]);
  });
});

describe.each([
  ['student', 'students'],
  ['parent', 'parents'],
])('POST /v1/%ss/{id}/send-invite', (kind, folder) => {
  /** Somebody with this address, linked when a parent. */
  async function somebody(email: string | null): Promise<string> {
    const child = await office.inviteOne(studentRow({ send_invite: false, ...(kind === 'student' && { email }) }));
    if (kind === 'student') return child.id!;
    const parent = await office.inviteOne(parentRow({ email }));
    await office.link(parent.id, child.id);
    return parent.id!;
  }
  const sendInvite = (id: string, to = office) => to.post(`/v1/${folder}/${id}/send-invite`);

  it('mails the way in, as often as it is asked for, once in ten minutes', async () => {
    const email = newAddress();
    const id = await somebody(email);
    for (const _ of [1, 2]) {
      await office.tenMinutesLater();
      const { status, body } = await sendInvite(id);
      expect([status, body]).toEqual([200, { sent: true, email }]);
      expect((await sendInvite(id)).body).toEqual({ sent: false, email });
    }
    expect(await office.queued()).toEqual([1, 2].map(() => ({ kind: 'account_created', recipient: email })));
    const invites = await make.query('SELECT role, target_id, email FROM invites WHERE organization_id = $1', [
      office.id,
    ]);
    expect(invites).toEqual([1, 2].map(() => ({ role: kind, target_id: id, email })));
  });

  it('mails somebody who is pending at the address that was supplied', async () => {
    const { email } = await make.member(other.id, { role: 'tutor' });
    const id = await somebody(email.toUpperCase());
    expect((await sendInvite(id)).body).toEqual({ sent: true, email: email.toUpperCase() });
    expect(await office.queued()).toEqual([{ kind: 'membership_invite', recipient: email.toUpperCase() }]);
  });

  it('refuses who has no address, and who is archived', async () => {
    expect(refusedAt(await sendInvite(await somebody(null)))).toEqual([`path.${kind}_id`]);
    const id = await somebody(newAddress());
    const table = kind === 'student' ? 'members' : 'parents';
    await make.query(`UPDATE ${table} SET status = 'archived' WHERE user_id = $1`, [id]);
    expect(refusedAt(await sendInvite(id))).toEqual([`path.${kind}_id`]);
  });

  it('says that nothing was sent where mail goes nowhere', async () => {
    const email = newAddress();
    const id = await somebody(email);
    const silent = Object.assign(Object.create(Office.prototype) as Office, office, { api: mute });
    expect((await sendInvite(id, silent)).body).toEqual({ sent: false, email });
    await make.query('INSERT INTO suppressions VALUES ($1, $2)', [email, 'bounced']);
    expect((await sendInvite(id)).body).toEqual({ sent: false, email });
    expect(await office.queued()).toEqual([]);
  });

  it('finds nobody else', async () => {
    const id = await somebody(newAddress());
    expect((await sendInvite(id, other)).status).toBe(404);
    for (const nobody of NOBODY) expect((await sendInvite(nobody)).status).toBe(404);
    const tutor = await make.tutor(office.id);
    expect((await sendInvite(tutor.id)).status).toBe(404);
    const unlinked = await office.inviteOne(parentRow());
    expect((await sendInvite(unlinked.id!)).status).toBe(404);
  });
});

describe('PATCH /v1/students/{student_id}', () => {
  const change = (id: string, body: object, by = office) => by.send('patch', `/v1/students/${id}`, body);
  const loginOf = async (id: string) => (await make.query('SELECT * FROM users WHERE id = $1', [id]))[0];

  it('changes what is given and leaves the rest', async () => {
    const { id, email } = await office.inviteOne(studentRow({ phone: '1' }));
    const { status, body } = await change(id!, { first_name: ' Mimi ', phone: '2' });
    expect([status, body]).toMatchObject([200, { id, first_name: 'Mimi', last_name: 'Nguyen', email }]);
    expect(await loginOf(id!)).toMatchObject({ first_name: 'Mimi', phone: '2', email });
    expect((await change(id!, { phone: null })).status).toBe(200);
    expect(await loginOf(id!)).toMatchObject({ first_name: 'Mimi', phone: null });
  });

  it('without anything to change changes nothing', async () => {
    const { id } = await office.inviteOne(studentRow());
    const before = await loginOf(id!);
    expect((await change(id!, {})).status).toBe(200);
    expect((await change(id!, { first_name: 'Mia' })).status).toBe(200);
    expect(await loginOf(id!)).toEqual(before);
  });

  it('gives an address, another one, and takes it away', async () => {
    const { id } = await office.inviteOne(studentRow({ email: null }));
    for (const email of [newAddress(), newAddress().toUpperCase()]) {
      expect((await change(id!, { email })).body).toMatchObject({ email, placeholder_email: false });
      expect(await loginOf(id!)).toMatchObject({ email_normalized: email.toLowerCase() });
      await office.tenMinutesLater();
      expect((await office.post(`/v1/students/${id}/send-invite`)).body).toEqual({ sent: true, email });
    }
    expect((await change(id!, { email: null })).body).toMatchObject({ email: null, placeholder_email: true });
    const invites = await make.query<{ revoked: boolean }>(
      'SELECT revoked_at IS NOT NULL AS revoked FROM invites WHERE target_id = $1',
      [id],
    );
    // What was mailed to an address that is not theirs opens nothing: two confirmations, and two invites.
    expect(invites).toEqual(Array.from({ length: 4 }, () => ({ revoked: true })));
  });

  it('refuses an address that cannot be, or is somebody’s', async () => {
    const { id, email } = await office.inviteOne(studentRow());
    const theirs = await make.user();
    for (const wrong of ['nobody', 'x@placeholder.invalid', theirs.email, theirs.email.toUpperCase()]) {
      expect(refusedAt(await change(id!, { email: wrong }))).toEqual(['body.email']);
    }
    expect(await office.seen('/v1/students', id)).toMatchObject({ email });
  });

  it('of somebody pending changes what was supplied, and not where they were invited', async () => {
    const { id, email } = await make.member(other.id, { role: 'tutor' });
    const before = await loginOf(id);
    await office.inviteOne(studentRow({ email }));
    expect((await change(id, { first_name: 'Mimi', phone: '7', email: email.toUpperCase() })).body).toMatchObject({
      first_name: 'Mimi', last_name: 'Nguyen', email: email.toUpperCase(), status: 'pending',
    }); // prettier-ignore
    for (const wrong of [newAddress(), null, 'nobody']) {
      expect(refusedAt(await change(id, { email: wrong }))).toEqual(['body.email']);
    }
    expect(await loginOf(id)).toEqual(before);
  });

  it('leaves a login alone that another organization has any tie to', async () => {
    const { id } = await office.inviteOne(studentRow());
    const wish = { first_name: 'Mimi', last_name: 'Nguyen', email: newAddress(), phone: '7' };
    const before = await loginOf(id!);
    await make.member(other.id, { user: { id: id! }, status: 'pending' });
    for (const status of ['pending', 'accepted', 'archived']) {
      await make.query('UPDATE members SET status = $2 WHERE organization_id = $1', [other.id, status]);
      expect(refusedAt(await change(id!, wish)).sort()).toEqual(['body.email', 'body.first_name', 'body.phone']);
    }
    await make.query('DELETE FROM members WHERE organization_id = $1', [other.id]);
    await make.parent(other.id, { user: { id: id! }, status: 'pending' });
    expect(refusedAt(await change(id!, { phone: '7' }))).toEqual(['body.phone']);
    expect(await loginOf(id!)).toEqual(before);
  });

  it('refuses who is archived, and finds nobody else', async () => {
    const { id } = await office.inviteOne(studentRow());
    expect((await change(id!, { phone: '1' }, other)).status).toBe(404);
    await make.query(`UPDATE members SET status = 'archived' WHERE user_id = $1`, [id]);
    expect(refusedAt(await change(id!, { phone: '1' }))).toEqual(['path.student_id']);
    const tutor = await make.tutor(office.id);
    for (const nobody of [...NOBODY, tutor.id]) expect((await change(nobody, { phone: '1' })).status).toBe(404);
  });

  it.each([
    ['a null name', { first_name: null }, ['body.first_name', 'string_type']],
    ['an empty name', { last_name: ' ' }, ['body.last_name', 'string_too_short']],
    ['a status', { status: 'accepted' }, ['body.status', 'extra_forbidden']],
    ['an id', { id: uuidv7() }, ['body.id', 'extra_forbidden']],
    ['a long address', { email: 'a'.repeat(255) }, ['body.email', 'string_too_long']],
  ])('refuses %s', async (_, body, expected) => {
    const { id } = await office.inviteOne(studentRow());
    const answer = await change(id!, body);
    const { detail } = answer.body as { detail: Detail[] };
    expect([answer.status, detail.map(({ loc, type }) => [loc.join('.'), type])]).toEqual([422, [expected]]);
  });

  it('of two at once gives an address to one', async () => {
    const students = (await office.invite(...Array.from({ length: 10 }, () => studentRow()))).results;
    const email = newAddress();
    const answers = await Promise.all(students.map(({ id }) => change(id!, { email })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array.from({ length: 9 }, () => 422)]);
  });
});

describe('the scopes of accounts', () => {
  it('do not imply each other', async () => {
    const student = await office.inviteOne(studentRow());
    const calls: [Scope, 'post' | 'patch', string, object?][] = [
      ['accounts:write', 'post', '/v1/students', person()],
      ['accounts:write', 'post', '/v1/tutors', person()],
      ['accounts:write', 'post', '/v1/parents', person()],
      ['accounts:write', 'post', `/v1/students/${student.id}/send-invite`],
      ['students:write', 'patch', `/v1/students/${student.id}`, {}],
    ];
    for (const scopes of [['students:write', 'tutors:write', 'write', 'read'], ['accounts:write']] as Scope[][]) {
      const key = await api.key(office.id, { scopes });
      for (const [needed, method, path, body] of calls) {
        const { status } = await office.send(method, path, body, { key });
        expect([path, needed, status === 403]).toEqual([path, needed, !scopes.includes(needed)]);
      }
    }
  });
});
