import { SCOPES, type Scope } from '@app/accounts';
import { TestApi } from '../../support/http/api.js';
import { PeopleFixture, parentRow, type RowWish, studentRow, tutorRow } from '../../support/data/provisioning.js';
import { fixture } from '../../support/process/fixture.js';

const PATH = '/v1/users/bulk-invite';

const api = await fixture(TestApi.start({ SMTP_URL: 'smtp://127.0.0.1:1', APP_URL: 'https://app.example.org' }));
const { make } = api;
const provisioning = await PeopleFixture.open(api, make);

/** Counts the rows that an invite would add. */
async function counts(): Promise<unknown> {
  const [row] = await make.query(
    `SELECT (SELECT count(*) FROM users)::int AS users, (SELECT count(*) FROM members)::int AS members,
      (SELECT count(*) FROM parents)::int AS parents, (SELECT count(*) FROM outbox)::int AS outbox`,
  );
  return row;
}

interface Detail {
  loc: (string | number)[];
  msg: string;
  type: string;
}

const emoji = (count: number) => '\u{1f393}'.repeat(count);
const users = (...rows: object[]) => ({ users: rows });
const without = (row: RowWish, ...fields: string[]) =>
  Object.fromEntries(Object.entries(row).filter(([name]) => !fields.includes(name)));

describe('a malformed bulk invite', () => {
  const second = (row: object) => users(studentRow(), row);
  it.each<[string, object | undefined, [string, string][]]>([
    ['no body', undefined, [['body', 'missing']]],
    ['a list as the body', [], [['body', 'dict_type']]],
    ['no users', {}, [['body.users', 'missing']]],
    ['users that are not a list', { users: {} }, [['body.users', 'list_type']]],
    ['users that are null', { users: null }, [['body.users', 'list_type']]],
    ['no rows', users(), [['body.users', 'too_short']]],
    ['101 rows', users(...Array.from({ length: 101 }, () => studentRow())), [['body.users', 'too_long']]],
    ['an unknown field beside users', { ...users(studentRow()), mode: 'fast' }, [['body.mode', 'extra_forbidden']]],
    ['a row that is not an object', users('mia' as never), [['body.users.0', 'dict_type']]],
    ['a row that is null', { users: [null] }, [['body.users.0', 'dict_type']]],
    ['a list in place of a row', { users: [[studentRow()]] }, [['body.users.0', 'dict_type']]],
    ['no type', second(without(studentRow(), 'type')), [['body.users.1', 'union_tag_not_found']]],
    ['an unknown type', second({ ...studentRow(), type: 'admin' }), [['body.users.1', 'union_tag_invalid']]],
    ['a type that is not text', second({ ...studentRow(), type: 7 }), [['body.users.1', 'union_tag_invalid']]],
    ['an inherited type', second({ ...studentRow(), type: 'toString' }), [['body.users.1', 'union_tag_invalid']]],
    ['nothing but a constructor', second({ constructor: 'x' }), [['body.users.1', 'union_tag_not_found']]],
    ['a constructor', second(studentRow({ constructor: 'x' })), [['body.users.1.constructor', 'extra_forbidden']]],
    ['a prototype', second({ ...studentRow(), ['__proto__']: 'x' }), [['body.users.1.__proto__', 'extra_forbidden']]],
    [
      'a constructor of a parent',
      users(studentRow({ parent: { first_name: 'Ana', last_name: 'Li', constructor: null } })),
      [['body.users.0.parent.constructor', 'extra_forbidden']],
    ],
    [
      'no names',
      second({ type: 'tutor' }),
      [
        ['body.users.1.first_name', 'missing'],
        ['body.users.1.last_name', 'missing'],
      ],
    ],
    ['a null name', second(studentRow({ first_name: null })), [['body.users.1.first_name', 'string_type']]],
    ['an empty name', second(parentRow({ last_name: '' })), [['body.users.1.last_name', 'string_too_short']]],
    [
      'a name of blanks',
      second(parentRow({ last_name: ' \u00a0\t ' })),
      [['body.users.1.last_name', 'string_too_short']],
    ],
    ['a number for a name', second(studentRow({ first_name: 5 })), [['body.users.1.first_name', 'string_type']]],
    ['a NUL in a name', second(studentRow({ first_name: 'a\0' })), [['body.users.1.first_name', 'value_error']]],
    ['half a surrogate', second(studentRow({ first_name: 'a\ud800' })), [['body.users.1.first_name', 'value_error']]],
    ['a number for an email', second(studentRow({ email: 1 })), [['body.users.1.email', 'string_type']]],
    ['a text for send_invite', second(tutorRow({ send_invite: 'false' })), [['body.users.1.send_invite', 'bool_type']]],
    ['a wrong teaching mode', second(tutorRow({ teaching_mode: 'remote' })), [['body.users.1.teaching_mode', 'enum']]],
    [
      'a text for is_published',
      second(tutorRow({ is_published: 'yes' })),
      [['body.users.1.is_published', 'bool_type']],
    ],
    ['the bio of a student', second(studentRow({ bio: 'Hi' })), [['body.users.1.bio', 'extra_forbidden']]],
    ['the parent of a tutor', second(tutorRow({ parent: null })), [['body.users.1.parent', 'extra_forbidden']]],
    ['the parent of a parent', second(parentRow({ parent: null })), [['body.users.1.parent', 'extra_forbidden']]],
    ['a role', second(studentRow({ role: 'owner' })), [['body.users.1.role', 'extra_forbidden']]],
    [
      'an organization',
      second(studentRow({ organization_id: 'x' })),
      [['body.users.1.organization_id', 'extra_forbidden']],
    ],
    ['a text for a parent', second(studentRow({ parent: 'Ana' })), [['body.users.1.parent', 'dict_type']]],
    [
      'a parent without names and with an unknown field',
      users(studentRow({ parent: { email: 'ana@example.org', age: 40 } })),
      [
        ['body.users.0.parent.age', 'extra_forbidden'],
        ['body.users.0.parent.first_name', 'missing'],
        ['body.users.0.parent.last_name', 'missing'],
      ],
    ],
    [
      'an empty name of a parent',
      users(studentRow({ parent: { first_name: 'Ana', last_name: ' ' } })),
      [['body.users.0.parent.last_name', 'string_too_short']],
    ],
    [
      'faults in several rows',
      users(studentRow({ first_name: '' }), tutorRow(), { type: 'dog' }, parentRow({ phone: 1 })),
      [
        ['body.users.0.first_name', 'string_too_short'],
        ['body.users.2', 'union_tag_invalid'],
        ['body.users.3.phone', 'string_type'],
      ],
    ],
  ])('returns 422 for %s', async (_, body, expected) => {
    const before = await counts();
    const answer = await provisioning.post(PATH, body);
    expect(answer.status).toBe(422);
    const { detail } = answer.body as { detail: Detail[] };
    expect(detail.map(({ loc, type }) => [loc.join('.'), type])).toEqual(expected);
    expect(detail.every(({ msg }) => msg.length > 5 && msg.endsWith('.'))).toBe(true);
    expect(await counts()).toEqual(before);
  });

  it('reports positions as numbers', async () => {
    const rows = [studentRow(), studentRow(), tutorRow(), studentRow({ first_name: '' })];
    const answer = await provisioning.post(PATH, users(...rows));
    expect((answer.body as { detail: Detail[] }).detail[0]!.loc).toEqual(['body', 'users', 3, 'first_name']);
    const nested = await provisioning.post(PATH, users(studentRow({ parent: { first_name: 'A', last_name: 1 } })));
    expect((nested.body as { detail: Detail[] }).detail[0]!.loc).toEqual(['body', 'users', 0, 'parent', 'last_name']);
  });
});

describe('a bulk invite', () => {
  it('accepts names of 200 characters and trims them', async () => {
    const { results } = await provisioning.invite(
      studentRow({ first_name: emoji(200), last_name: ' x ', email: null, phone: '' }),
      studentRow({ first_name: `\n${'é'.repeat(200)} `, last_name: '\u{1f469}\u200d\u{1f680}' }),
    );
    expect(results.map(({ status }) => status)).toEqual(['ok', 'ok']);
    const student = await provisioning.seen('/v1/students', results[0]!.id);
    expect(student).toMatchObject({ first_name: emoji(200), last_name: 'x', email: null, placeholder_email: true });
  });

  it('accepts 100 rows of every kind and returns their results in order', async () => {
    const rows = Array.from({ length: 100 }, (_, index) => [studentRow, tutorRow, parentRow][index % 3]!());
    const { results, summary } = await provisioning.invite(...rows);
    expect(results.map(({ index, type, email }) => [index, type, email])).toEqual(
      rows.map(({ type, email }, index) => [index, type, email]),
    );
    expect(summary).toEqual({ total: 100, ok: 100, exists: 0, errors: 0, created: 100 });
    expect(new Set(results.map(({ id }) => id)).size).toBe(100);
  });

  it('returns every field for every row', async () => {
    const { results } = await provisioning.invite(studentRow({ email: null }), studentRow({ email: 'nobody' }));
    expect(results).toEqual([
      {
        index: 0, type: 'student', email: null, status: 'ok', id: expect.any(String) as string,
        created: true, invited: false, error: null,
      },
      {
        index: 1, type: 'student', email: 'nobody', status: 'error', id: null,
        created: null, invited: null, error: 'email: This is not a valid email address.',
      },
    ]); // prettier-ignore
  });

  it('writes one audit row with ids, and no name or address in it', async () => {
    const school = await PeopleFixture.open(api, make);
    const { results } = await school.invite(studentRow(), tutorRow(), studentRow({ email: 'nobody' }));
    const rows = await make.query<{ operation: string; status: number; details: object; text: string }>(
      `SELECT operation, status, details, a::text AS text FROM audit_log a WHERE organization_id = $1 AND api_key_id IS NOT NULL`,
      [school.id],
    );
    expect(rows).toHaveLength(1);
    expect(rows[0]).toMatchObject({
      operation: `POST ${PATH}`,
      status: 200,
      details: { user_ids: [results[0]!.id, results[1]!.id], exists: 0, errors: 1 },
    });
    expect(rows[0]!.text).not.toMatch(/Mia|Nguyen|example\.org|nobody/);
  });

  it('replays its answer byte for byte to the same key, with no further effect', async () => {
    const headers = { 'Idempotency-Key': 'batch-1' };
    const body = users(studentRow({ email: null }), tutorRow(), studentRow({ email: 'nobody' }));
    const first = await provisioning.send('post', PATH, body, { headers });
    const before = await counts();
    const second = await provisioning.send('post', PATH, body, { headers });
    expect([first.status, second.status]).toEqual([200, 200]);
    expect(second.text).toBe(first.text);
    expect(second.headers['idempotency-replayed']).toBe('true');
    expect(await counts()).toEqual(before);
  });
});

describe('the scopes of a bulk invite', () => {
  const ALL = Object.keys(SCOPES) as Scope[];
  const kinds = { student: studentRow, tutor: tutorRow, parent: parentRow };
  const needs = (row: RowWish): Scope => (row.type === 'tutor' ? 'tutors:write' : 'students:write');
  const opened: Partial<Record<Scope, string[]>> = {
    'students:write': ['student', 'parent'],
    'tutors:write': ['tutor'],
    write: ['tutor'],
  };

  it.each(ALL)('%s alone admits only its own rows', async (scope) => {
    const key = await api.key(provisioning.id, { scopes: [scope] });
    const admitted: string[] = [];
    for (const [kind, row] of Object.entries(kinds)) {
      const { status, body } = await provisioning.send('post', PATH, users(row()), { key });
      if (status === 200) admitted.push(kind);
      else {
        const some = opened[scope] !== undefined;
        const required = some ? [needs(row())] : ['students:write', 'tutors:write'];
        expect([status, (body as { error: unknown }).error]).toMatchObject([
          403,
          { code: 'insufficient_scope', status: 403, details: { required, granted: [scope] } },
        ]);
      }
    }
    expect(admitted).toEqual(opened[scope] ?? []);
  });

  it('must cover every row', async () => {
    const before = await counts();
    for (const scopes of [['students:write'], ['tutors:write']] as Scope[][]) {
      const key = await api.key(provisioning.id, { scopes });
      const body = users(studentRow(), tutorRow(), parentRow());
      const missing = (['students:write', 'tutors:write'] as const).filter((scope) => !scopes.includes(scope));
      const answer = await provisioning.send('post', PATH, body, { key });
      expect([answer.status, answer.body]).toMatchObject([
        403,
        { error: { details: { required: missing, granted: scopes } } },
      ]);
      expect((answer.body as { error: { message: string } }).error.message).toContain(
        `the scope ${missing.join(', ')}.`,
      );
    }
    expect(await counts()).toEqual(before);
    const both = await api.key(provisioning.id, { scopes: ['students:write', 'tutors:write'] });
    expect((await provisioning.send('post', PATH, users(studentRow(), tutorRow()), { key: both })).status).toBe(200);
  });

  it('are checked after the body, unless the key has none of them', async () => {
    const wrong = users({ type: 'tutor' });
    const students = await api.key(provisioning.id, { scopes: ['students:write'] });
    expect((await provisioning.send('post', PATH, wrong, { key: students })).status).toBe(422);
    const none = await api.key(provisioning.id, { scopes: ['read', 'accounts:write'] });
    expect((await provisioning.send('post', PATH, wrong, { key: none })).status).toBe(403);
  });

  it('are checked on a replay too', async () => {
    const headers = { 'Idempotency-Key': 'by-both' };
    const body = users(tutorRow());
    expect((await provisioning.send('post', PATH, body, { headers })).status).toBe(200);
    const students = await api.key(provisioning.id, { scopes: ['students:write'] });
    const answer = await provisioning.send('post', PATH, body, { key: students, headers });
    expect([answer.status, answer.text.includes('results')]).toEqual([403, false]);
  });
});
