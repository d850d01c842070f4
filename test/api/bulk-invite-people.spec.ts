import { TestApi } from '../support/http/api.js';
import { Factories } from '../support/data/factories.js';
import { newAddress, Office, parentRow, type RowWish, studentRow, tutorRow } from '../support/data/provisioning.js';

let api: TestApi;
let make: Factories;
let office: Office;
let other: Office;

beforeAll(async () => {
  api = await TestApi.start({ SMTP_URL: 'smtp://127.0.0.1:1', APP_URL: 'https://app.example.org' });
  make = await Factories.connect(api.database);
  other = await Office.open(api, make);
});

beforeEach(async () => {
  office = await Office.open(api, make);
});

afterAll(async () => {
  await make.close();
  await api.stop();
});

const ana = (wish: object = {}) => ({ first_name: 'Ana', last_name: 'Silva', email: newAddress(), ...wish });
const PROVISIONED = { status: 'ok', created: true, invited: true, error: null };
const INVITED = { status: 'ok', created: false, invited: true, error: null };

/** Somebody whom another organization knows, with a profile that is not to be seen here. */
async function stranger(role: 'student' | 'tutor' = 'student') {
  const email = newAddress();
  const user = { email, firstName: 'Secretfirst', lastName: 'Secretlast', phone: '555-SECRET' };
  const { id } = await make.member(other.id, { role, user });
  return { id, email };
}

const loginOf = async (id: string) => (await make.query('SELECT * FROM users WHERE id = $1', [id]))[0];

/** When the person was last mailed, by so many hours ago. */
const mailedAgo = async (id: string, hours: number) => {
  await make.query(
    `UPDATE members SET invited_at = now() - $3 * interval '1 hour' WHERE organization_id = $1 AND user_id = $2`,
    [office.id, id, hours],
  );
  await make.query(`UPDATE outbox SET created_at = now() - $2 * interval '1 hour' WHERE organization_id = $1`, [
    office.id,
    hours,
  ]);
};

describe('a new address', () => {
  it.each([
    ['student', '/v1/students', studentRow],
    ['tutor', '/v1/tutors', tutorRow],
  ])('makes an accepted %s with a login', async (role, path, row) => {
    const wish = row({ email: ` ${newAddress().toUpperCase()} `, phone: '+61 400' });
    const result = await office.inviteOne(wish);
    const email = (wish.email as string).trim();
    expect(result).toMatchObject({ ...PROVISIONED, email });
    expect(await office.seen(path, result.id)).toMatchObject({
      first_name: 'Mia', last_name: 'Nguyen', email, placeholder_email: false, status: 'accepted',
    }); // prettier-ignore
    expect(await loginOf(result.id!)).toMatchObject({ email, email_normalized: email.toLowerCase(), phone: '+61 400' });
    expect(await office.queued()).toEqual([{ kind: 'account_created', recipient: email }]);
    const [invite] = await make.query('SELECT * FROM invites WHERE organization_id = $1', [office.id]);
    expect(invite).toMatchObject({ scope: 'account', role, target_id: result.id, email });
  });

  it('gives a tutor the profile of the row', async () => {
    const told = { bio: 'Patient', teaching_mode: 'in_person', is_published: true };
    const { results } = await office.invite(
      tutorRow(told),
      tutorRow({ bio: null, teaching_mode: null, is_published: null }),
    );
    expect(await office.seen('/v1/tutors', results[0]!.id)).toMatchObject({ role: 'tutor', ...told });
    expect(await office.seen('/v1/tutors', results[1]!.id)).toMatchObject({
      bio: null, teaching_mode: null, is_published: false,
    }); // prettier-ignore
  });

  it('of a parent makes one who is invisible until linked, and never mailed', async () => {
    const result = await office.inviteOne(parentRow({ send_invite: true }));
    expect(result).toMatchObject({ status: 'ok', created: true, invited: false });
    expect(await office.list('/v1/parents')).toEqual([]);
    expect((await api.get(`/v1/parents/${result.id}`, office.key)).status).toBe(404);
    expect(await office.queued()).toEqual([]);
    const student = await office.inviteOne(studentRow());
    await office.link(result.id, student.id);
    expect(await office.seen('/v1/parents', result.id)).toMatchObject({
      status: 'accepted',
      student_ids: [student.id],
    });
  });

  it('is not mailed when the row says so', async () => {
    expect(await office.inviteOne(studentRow({ send_invite: false }))).toMatchObject({
      ...PROVISIONED,
      invited: false,
    });
    expect(await office.queued()).toEqual([]);
  });
});

describe('no address', () => {
  it('makes an account that no mail can reach', async () => {
    for (const row of [
      studentRow({ email: null }),
      { type: 'student', first_name: 'Mia', last_name: 'N' } as RowWish,
    ]) {
      const result = await office.inviteOne(row);
      expect(result).toMatchObject({ status: 'ok', email: null, created: true, invited: false });
      expect(await office.seen('/v1/students', result.id)).toMatchObject({ email: null, placeholder_email: true });
      expect(await loginOf(result.id!)).toMatchObject({
        email: expect.stringMatching(/^[0-9a-f-]{36}@placeholder\.invalid$/) as string,
      });
    }
    expect(await office.queued()).toEqual([]);
  });
});

describe('the address of a login elsewhere', () => {
  it('makes a pending member of whom only what was supplied is shown', async () => {
    const { id, email } = await stranger();
    const before = await loginOf(id);
    const result = await office.inviteOne(studentRow({ email: email.toUpperCase(), first_name: 'Mimi', phone: '1' }));
    expect(result).toMatchObject({ ...INVITED, id });
    expect(await office.seen('/v1/students', id)).toEqual({
      id, first_name: 'Mimi', last_name: 'Nguyen', email: email.toUpperCase(), placeholder_email: false,
      status: 'pending', parent_ids: [], created_at: expect.any(String) as string,
    }); // prettier-ignore
    expect(await loginOf(id)).toEqual(before);
    expect(await office.queued()).toEqual([{ kind: 'membership_invite', recipient: email.toUpperCase() }]);
  });

  it('shows nothing of the person on any list, and changes nothing for the other organization', async () => {
    const people = [await stranger(), await stranger('tutor'), await stranger(), await stranger('tutor')];
    const seenByOther = async () => JSON.stringify([await other.list('/v1/students'), await other.list('/v1/tutors')]);
    const before = [await seenByOther(), await make.query('SELECT * FROM users ORDER BY id')];
    await office.invite(
      studentRow({ email: people[0]!.email }),
      tutorRow({ email: people[1]!.email }),
      parentRow({ email: people[2]!.email }),
      studentRow({ email: null, parent: ana({ email: people[3]!.email }) }),
    );
    const [mine] = await make.query<{ id: string }>('SELECT max(id::text) AS id FROM users WHERE placeholder_email');
    for (const path of ['/v1/students', '/v1/tutors', '/v1/parents']) {
      expect(JSON.stringify(await office.list(path))).not.toMatch(/secret/i);
    }
    expect(await office.seen('/v1/parents', people[3]!.id)).toMatchObject({ first_name: 'Ana', status: 'pending' });
    expect(await office.seen('/v1/tutors', people[1]!.id)).toMatchObject({
      full_name: 'Mia Nguyen',
      status: 'pending',
    });
    expect(await seenByOther()).toBe(before[0]);
    const after = await make.query<{ id: string }>('SELECT * FROM users ORDER BY id');
    expect(after.filter(({ id }) => id !== mine!.id)).toEqual(before[1]);
  });

  it('that is nobody’s member counts as one elsewhere', async () => {
    const { id, email } = await make.user();
    expect(await office.inviteOne(tutorRow({ email }))).toMatchObject({ ...INVITED, id });
  });
});

describe('an address again', () => {
  it('while pending is ok, and mailed once a day at most', async () => {
    const { id, email } = await stranger();
    expect(await office.inviteOne(studentRow({ email }))).toMatchObject(INVITED);
    expect(await office.inviteOne(studentRow({ email }))).toMatchObject({ ...INVITED, id, invited: false });
    await mailedAgo(id, 23.9);
    expect(await office.inviteOne(studentRow({ email }))).toMatchObject({ ...INVITED, invited: false });
    await mailedAgo(id, 24.1);
    expect(await office.inviteOne(studentRow({ email, send_invite: false }))).toMatchObject({ invited: false });
    expect(await office.inviteOne(studentRow({ email }))).toMatchObject(INVITED);
    expect(await office.inviteOne(studentRow({ email }))).toMatchObject({ ...INVITED, invited: false });
    expect(await office.queued()).toHaveLength(2);
    expect(await office.list('/v1/students')).toHaveLength(1);
  });

  it('is mailed when the first time it was not', async () => {
    const { email } = await stranger();
    expect(await office.inviteOne(tutorRow({ email, send_invite: false }))).toMatchObject({
      ...INVITED,
      invited: false,
    });
    expect(await office.inviteOne(tutorRow({ email }))).toMatchObject(INVITED);
  });

  it('of an accepted member exists, and nothing is done', async () => {
    const rows = [studentRow(), tutorRow({ bio: 'First' })];
    const first = await office.invite(...rows);
    const everything = async () =>
      JSON.stringify([await office.list('/v1/students'), await office.list('/v1/tutors'), await office.queued()]);
    const before = await everything();
    const again = await office.invite(
      { ...rows[0]!, first_name: 'Other', parent: ana() },
      { ...rows[1]!, bio: 'Second', email: (rows[1]!.email as string).toUpperCase() },
    );
    expect(again.results).toMatchObject(
      first.results.map(({ id }) => ({ status: 'exists', id, created: false, invited: false, error: null })),
    );
    expect(again.summary).toEqual({ total: 2, ok: 0, exists: 2, errors: 0, created: 0 });
    expect(await everything()).toBe(before);
  });

  it.each(['owner', 'admin', 'tutor', 'student'] as const)(
    'with another role is an error that names %s',
    async (role) => {
      for (const status of ['accepted', 'pending', 'archived'] as const) {
        const { email } = await make.member(office.id, { role, status });
        const result = await office.inviteOne(role === 'student' ? tutorRow({ email }) : studentRow({ email }));
        expect(result).toMatchObject({ status: 'error', id: null, created: null, invited: null });
        expect(result.error).toContain(role);
      }
    },
  );

  it('of an archived member lets them in again', async () => {
    const { id, email } = (await office.invite(studentRow(), tutorRow({ bio: 'Kept' }))).results[1]!;
    await make.query(`UPDATE members SET status = 'archived', archived_at = now() WHERE user_id = $1`, [id]);
    await mailedAgo(id!, 48);
    expect(await office.inviteOne(tutorRow({ email, bio: 'New' }))).toMatchObject({ ...INVITED, id });
    expect(await office.seen('/v1/tutors', id)).toMatchObject({ status: 'accepted', bio: 'Kept' });
    const [member] = await make.query('SELECT * FROM members WHERE user_id = $1', [id]);
    expect(member).toMatchObject({ archived_at: null, supplied_email: null });
  });

  it('of somebody archived who never accepted asks them again', async () => {
    const { id, email } = await stranger();
    await office.inviteOne(studentRow({ email }));
    await make.query(`UPDATE members SET status = 'archived' WHERE organization_id = $1`, [office.id]);
    expect(await office.inviteOne(studentRow({ email, first_name: 'Again' }))).toMatchObject({ status: 'ok', id });
    expect(await office.seen('/v1/students', id)).toMatchObject({ status: 'pending', first_name: 'Again' });
  });

  it('of a parent exists when accepted, is ok while pending', async () => {
    const mine = await office.inviteOne(parentRow());
    expect(await office.inviteOne(parentRow({ email: mine.email }))).toMatchObject({
      status: 'exists', id: mine.id, created: false, invited: false,
    }); // prettier-ignore
    const { id, email } = await stranger();
    for (const _ of [1, 2]) {
      expect(await office.inviteOne(parentRow({ email }))).toMatchObject({ status: 'ok', id, created: false });
    }
  });
});

describe('a parent', () => {
  it('comes with the student, linked, and is not mailed', async () => {
    const parent = ana({ phone: '5' });
    const student = await office.inviteOne(studentRow({ parent }));
    const [record] = await office.list('/v1/parents');
    expect(record).toMatchObject({
      first_name: 'Ana', last_name: 'Silva', email: parent.email, status: 'accepted', student_ids: [student.id],
    }); // prettier-ignore
    expect(await office.seen('/v1/students', student.id)).toMatchObject({ parent_ids: [record!.id] });
    expect((await office.queued()).map(({ recipient }) => recipient)).toEqual([student.email]);
  });

  it('without an address is made anew for each student', async () => {
    const nameless = { first_name: 'Ana', last_name: 'Silva' };
    await office.invite(studentRow({ parent: nameless }), studentRow({ parent: { ...nameless, email: null } }));
    const parents = await office.list('/v1/parents');
    expect(parents.map(({ email, placeholder_email }) => [email, placeholder_email])).toEqual([
      [null, true],
      [null, true],
    ]);
  });

  it('of brothers and sisters is one, whose names the first one tells', async () => {
    const parent = ana();
    const { results } = await office.invite(
      studentRow({ parent }),
      studentRow({ parent: { ...parent, first_name: 'Anna', email: parent.email.toUpperCase() } }),
    );
    const later = await office.inviteOne(studentRow({ parent }));
    const [record, ...more] = await office.list('/v1/parents');
    expect(more).toEqual([]);
    expect(record).toMatchObject({ first_name: 'Ana' });
    expect([...(record!.student_ids as string[])].sort()).toEqual([...results, later].map(({ id }) => id).sort());
  });

  it('who was provisioned alone is reused', async () => {
    const alone = await office.inviteOne(parentRow());
    const student = await office.inviteOne(studentRow({ parent: ana({ email: alone.email }) }));
    expect(await office.seen('/v1/parents', alone.id)).toMatchObject({ first_name: 'Mia', student_ids: [student.id] });
  });

  it('who is known elsewhere is pending, with what was supplied', async () => {
    const { id, email } = await stranger('tutor');
    const result = await office.inviteOne(studentRow({ parent: ana({ email }) }));
    expect(result).toMatchObject(PROVISIONED);
    expect(await office.seen('/v1/parents', id)).toMatchObject({ first_name: 'Ana', email, status: 'pending' });
    expect(await office.queued()).toHaveLength(1);
  });

  it('may work here, as a tutor or an admin', async () => {
    for (const role of ['tutor', 'admin', 'owner'] as const) {
      const { id, email } = await make.member(office.id, { role });
      await office.inviteOne(studentRow({ parent: ana({ email }) }));
      expect(await office.seen('/v1/parents', id)).toMatchObject({ first_name: 'Ada', status: 'accepted' });
    }
    const parent = await office.inviteOne(parentRow());
    expect(await office.inviteOne(tutorRow({ email: parent.email }))).toMatchObject({ ...INVITED, id: parent.id });
    expect(await office.seen('/v1/tutors', parent.id)).toMatchObject({ status: 'accepted' });
  });

  it('cannot be a student here, nor a student a parent', async () => {
    const student = await office.inviteOne(studentRow());
    expect(await office.inviteOne(parentRow({ email: student.email }))).toMatchObject({
      status: 'error', error: expect.stringContaining('student') as string,
    }); // prettier-ignore
    const parent = await office.inviteOne(parentRow());
    expect(await office.inviteOne(studentRow({ email: parent.email }))).toMatchObject({
      status: 'error', error: expect.stringContaining('parent') as string,
    }); // prettier-ignore
  });

  it('who cannot be costs the student, of whom nothing stays', async () => {
    const child = await office.inviteOne(studentRow());
    const logins = async () => (await make.query('SELECT count(*) AS n FROM users'))[0];
    const before = await logins();
    const { results } = await office.invite(
      studentRow({ parent: ana({ email: child.email }) }),
      studentRow({ email: null, parent: ana({ email: 'nobody' }) }),
    );
    expect(results.map(({ status }) => status)).toEqual(['error', 'error']);
    expect(await logins()).toEqual(before);
    expect(await office.list('/v1/students')).toHaveLength(1);
  });

  it('of a student who is pending already is left alone', async () => {
    const { email } = await stranger();
    await office.inviteOne(studentRow({ email, parent: ana() }));
    await office.inviteOne(studentRow({ email, parent: ana() }));
    expect(await office.list('/v1/parents')).toHaveLength(1);
  });
});

describe('a value that cannot be', () => {
  const MALFORMED = [
    '', 'mia', 'mia@', '@example.org', 'mia@example', 'mia@@example.org', 'mia @example.org', 'mia@example..org',
    '.mia@example.org', 'mia.@example.org', 'm..a@example.org', 'mia@-example.org', 'mia@example.org, ana@example.org',
    'Mia <mia@example.org>', 'mia@example.org\nBcc: all@example.org', `${'m'.repeat(65)}@example.org`,
    'x@placeholder.invalid', 'mia@SCHOOL.INVALID', 'm\u212aa@example.org', `${'\u0130'.repeat(63)}@${'\u0130'.repeat(60)}.example.org`.padStart(250, 'a'),
  ]; // prettier-ignore

  it.each(MALFORMED)('is the address %j', async (email) => {
    const { results, summary } = await office.invite(
      studentRow({ email }),
      parentRow({ email }),
      studentRow({ parent: ana({ email }) }),
      studentRow(),
    );
    expect(results.map(({ status }) => status)).toEqual(['error', 'error', 'error', 'ok']);
    expect(results[0]!.error).toBe('This is not an address that can receive mail.');
    expect(summary).toEqual({ total: 4, ok: 1, exists: 0, errors: 3, created: 1 });
  });

  it.each(['mia+exams@example.org', "o'neil@mail.example.co", 'jörg@exämple.org', '1@2.example'])(
    'is not the address %j',
    async (local) => {
      const email = local.replace('@', `-${Date.now()}@`);
      expect(await office.inviteOne(studentRow({ email }))).toMatchObject({ ...PROVISIONED, email });
    },
  );

  const twice = newAddress();
  const loud = ` ${twice.toUpperCase()}`;
  const parent = () => ana({ email: loud });
  it.each<[string, RowWish[], string[]]>([
    ['the same student twice', [studentRow({ email: twice }), studentRow({ email: loud })], ['ok', 'error']],
    ['a student and a tutor', [studentRow({ email: twice }), tutorRow({ email: loud })], ['ok', 'error']],
    ['a parent twice', [parentRow({ email: twice }), parentRow({ email: loud })], ['ok', 'error']],
    [
      'a student and another’s parent',
      [studentRow({ email: twice }), studentRow({ parent: parent() })],
      ['ok', 'error'],
    ],
    [
      'another’s parent and a student',
      [studentRow({ parent: parent() }), studentRow({ email: twice })],
      ['ok', 'error'],
    ],
    [
      'a parent’s row and a student’s parent',
      [parentRow({ email: twice }), studentRow({ parent: parent() })],
      ['ok', 'error'],
    ],
    [
      'a student’s parent and a parent’s row',
      [studentRow({ parent: parent() }), parentRow({ email: twice })],
      ['ok', 'error'],
    ],
    ['a student and their own parent', [studentRow({ email: twice, parent: parent() }), studentRow()], ['error', 'ok']],
    ['the same three times', [1, 2, 3].map(() => studentRow({ email: twice })), ['ok', 'error', 'error']],
    [
      'one that was refused takes no address',
      [studentRow({ email: twice, parent: ana({ email: 'nobody' }) }), studentRow({ email: twice })],
      ['error', 'ok'],
    ],
  ])('is an address twice in one request: %s', async (_, rows, expected) => {
    const { results } = await office.invite(...rows);
    // What an earlier case made elsewhere is pending here: ok all the same.
    expect(results.map(({ status }) => status)).toEqual(expected);
  });

  it('names the row that has the address already', async () => {
    const { results } = await office.invite(studentRow(), studentRow({ email: twice }), tutorRow({ email: twice }));
    expect(results[2]!.error).toBe('This address is in row 1 of this request already.');
  });
});
