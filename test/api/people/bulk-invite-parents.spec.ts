import { TestApi } from '../../support/http/api.js';
import {
  ana,
  INVITED,
  MALFORMED_ADDRESSES,
  newAddress,
  PeopleFixture,
  parentRow,
  type RowWish,
  studentRow,
  tutorRow,
} from '../../support/data/provisioning.js';

let provisioning: PeopleFixture;

const api = await TestApi.shared({ APP_URL: 'https://app.example.org' });
const { make } = api;

beforeEach(async () => {
  provisioning = await PeopleFixture.open(api, make);
});

describe('a parent', () => {
  it('is created with the student, linked, and gets no email', async () => {
    const parent = ana({ phone: '5' });
    const student = await provisioning.inviteOne(studentRow({ parent }));
    const [record] = await provisioning.list('/v1/parents');
    expect(record).toMatchObject({
      first_name: 'Ana', last_name: 'Silva', email: parent.email, status: 'accepted', student_ids: [student.id],
    }); // prettier-ignore
    expect(await provisioning.seen('/v1/students', student.id)).toMatchObject({ parent_ids: [record!.id] });
    expect((await provisioning.queued()).map(({ recipient }) => recipient)).toEqual([student.email]);
  });

  it('without an address is created anew for each student', async () => {
    const nameless = { first_name: 'Ana', last_name: 'Silva' };
    await provisioning.invite(studentRow({ parent: nameless }), studentRow({ parent: { ...nameless, email: null } }));
    const parents = await provisioning.list('/v1/parents');
    expect(parents.map(({ email, placeholder_email }) => [email, placeholder_email])).toEqual([
      [null, true],
      [null, true],
    ]);
  });

  it('shared by siblings is created once, with the names from the first row', async () => {
    const parent = ana();
    const { results } = await provisioning.invite(
      studentRow({ parent }),
      studentRow({ parent: { ...parent, first_name: 'Anna', email: parent.email.toUpperCase() } }),
    );
    const later = await provisioning.inviteOne(studentRow({ parent }));
    const [record, ...more] = await provisioning.list('/v1/parents');
    expect(more).toEqual([]);
    expect(record).toMatchObject({ first_name: 'Ana' });
    expect([...(record!.student_ids as string[])].sort()).toEqual([...results, later].map(({ id }) => id).sort());
  });

  it('may also be a tutor, an admin or the owner here', async () => {
    for (const role of ['tutor', 'admin', 'owner'] as const) {
      const { id, email } = await make.member(provisioning.id, { role });
      await provisioning.inviteOne(studentRow({ parent: ana({ email }) }));
      expect(await provisioning.seen('/v1/parents', id)).toMatchObject({ first_name: 'Ada', status: 'accepted' });
    }
    const parent = await provisioning.inviteOne(parentRow());
    expect(await provisioning.inviteOne(tutorRow({ email: parent.email }))).toMatchObject({ ...INVITED, id: parent.id });
    expect(await provisioning.seen('/v1/tutors', parent.id)).toMatchObject({ status: 'accepted' });
  });

  it('cannot be a student here, and a student cannot be a parent', async () => {
    const student = await provisioning.inviteOne(studentRow());
    expect(await provisioning.inviteOne(parentRow({ email: student.email }))).toMatchObject({
      status: 'error', error: expect.stringContaining('student') as string,
    }); // prettier-ignore
    const parent = await provisioning.inviteOne(parentRow());
    expect(await provisioning.inviteOne(studentRow({ email: parent.email }))).toMatchObject({
      status: 'error', error: expect.stringContaining('parent') as string,
    }); // prettier-ignore
  });

  it('that cannot be created fails the whole row and leaves nothing behind', async () => {
    const child = await provisioning.inviteOne(studentRow());
    const logins = async () => (await make.query('SELECT count(*) AS n FROM users'))[0];
    const before = await logins();
    const { results } = await provisioning.invite(
      studentRow({ parent: ana({ email: child.email }) }),
      studentRow({ email: null, parent: ana({ email: 'nobody' }) }),
    );
    expect(results.map(({ status }) => status)).toEqual(['error', 'error']);
    expect(await logins()).toEqual(before);
    expect(await provisioning.list('/v1/students')).toHaveLength(1);
  });
});

describe('addresses', () => {
  it.each(MALFORMED_ADDRESSES)('refuses the address %j in its row only', async (email) => {
    const { results, summary } = await provisioning.invite(
      studentRow({ email }),
      parentRow({ email }),
      studentRow({ parent: ana({ email }) }),
      studentRow(),
    );
    expect(results.map(({ status }) => status)).toEqual(['error', 'error', 'error', 'ok']);
    const why = 'This is not a valid email address.';
    const places = ['email', 'email', 'parent.email'];
    expect(results.slice(0, 3).map(({ error }) => error)).toEqual(places.map((place) => `${place}: ${why}`));
    expect(summary).toEqual({ total: 4, ok: 1, exists: 0, errors: 3, created: 1 });
  });

  const twice = newAddress();
  const loud = ` ${twice.toUpperCase()}`;
  const parent = () => ana({ email: loud });
  it.each<[string, RowWish[], string[]]>([
    ['the same student twice', [studentRow({ email: twice }), studentRow({ email: loud })], ['ok', 'error']],
    ['a student and a tutor', [studentRow({ email: twice }), tutorRow({ email: loud })], ['ok', 'error']],
    ['a parent twice', [parentRow({ email: twice }), parentRow({ email: loud })], ['ok', 'error']],
    ['a student and another’s parent', [studentRow({ email: twice }), studentRow({ parent: parent() })], ['ok', 'error']],
    ['another’s parent and a student', [studentRow({ parent: parent() }), studentRow({ email: twice })], ['ok', 'error']],
    ['a parent’s row and a student’s parent', [parentRow({ email: twice }), studentRow({ parent: parent() })], ['ok', 'error']],
    ['a student’s parent and a parent’s row', [studentRow({ parent: parent() }), parentRow({ email: twice })], ['ok', 'error']],
    ['a student and their own parent', [studentRow({ email: twice, parent: parent() }), studentRow()], ['error', 'ok']],
    ['the same three times', [1, 2, 3].map(() => studentRow({ email: twice })), ['ok', 'error', 'error']],
    [
      'a refused row does not claim its address',
      [studentRow({ email: twice, parent: ana({ email: 'nobody' }) }), studentRow({ email: twice })],
      ['error', 'ok'],
    ],
  ])('checks for repeated addresses in one request: %s', async (_, rows, expected) => {
    const { results } = await provisioning.invite(...rows);
    // An earlier case used this address in another organization, so it is pending here, which is ok too.
    expect(results.map(({ status }) => status)).toEqual(expected);
  });

  it('a row that is refused because of a stored record does not claim its address either', async () => {
    const email = newAddress();
    await provisioning.inviteOne(studentRow({ email }));
    const { results } = await provisioning.invite(tutorRow({ email }), studentRow({ email }));
    expect(results.map(({ status }) => status)).toEqual(['error', 'exists']);
  });
});
