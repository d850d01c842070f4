import { SCOPES, type Scope } from '@app/access';
import { TestApi } from '../../support/http/api.js';
import { PeopleFixture, parentRow, type RowWish, studentRow, tutorRow } from '../../support/data/provisioning.js';

const PATH = '/v1/users/bulk-invite';

const api = await TestApi.shared({ APP_URL: 'https://app.example.org' });
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

const users = (...rows: object[]) => ({ users: rows });
const without = (row: RowWish, ...fields: string[]) => Object.fromEntries(Object.entries(row).filter(([name]) => !fields.includes(name)));

describe('a malformed bulk invite', () => {
  const second = (row: object) => users(studentRow(), row);
  it.each<[string, object, [string, string][]]>([
    ['no rows', users(), [['body.users', 'too_short']]],
    ['101 rows', users(...Array.from({ length: 101 }, () => studentRow())), [['body.users', 'too_long']]],
    ['a row that is null', { users: [null] }, [['body.users.0', 'dict_type']]],
    ['no type', second(without(studentRow(), 'type')), [['body.users.1', 'union_tag_not_found']]],
    ['an inherited type', second({ ...studentRow(), type: 'toString' }), [['body.users.1', 'union_tag_invalid']]],
    ['a prototype', second({ ...studentRow(), ['__proto__']: 'x' }), [['body.users.1.__proto__', 'extra_forbidden']]],
    ['no names', second({ type: 'tutor' }), [['body.users.1.first_name', 'missing'], ['body.users.1.last_name', 'missing']]],
    ['half a surrogate', second(studentRow({ first_name: 'a\ud800' })), [['body.users.1.first_name', 'value_error']]],
    ['a wrong teaching mode', second(tutorRow({ teaching_mode: 'remote' })), [['body.users.1.teaching_mode', 'enum']]],
    ['the bio of a student', second(studentRow({ bio: 'Hi' })), [['body.users.1.bio', 'extra_forbidden']]],
    ['the parent of a tutor', second(tutorRow({ parent: null })), [['body.users.1.parent', 'extra_forbidden']]],
    ['a text for a parent', second(studentRow({ parent: 'Ana' })), [['body.users.1.parent', 'dict_type']]],
    [
      'faults in several rows',
      users(studentRow({ first_name: '' }), tutorRow(), { type: 'dog' }, studentRow({ parent: { first_name: 'Ana', age: 40 } })),
      [
        ['body.users.0.first_name', 'string_too_short'], ['body.users.2', 'union_tag_invalid'],
        ['body.users.3.parent.age', 'extra_forbidden'], ['body.users.3.parent.last_name', 'missing'],
      ],
    ],
  ])('returns 422 for %s', async (_, body, expected) => {
    const before = await counts();
    const answer = await provisioning.post(PATH, body);
    expect(answer.status).toBe(422);
    const { detail } = answer.body as { detail: { loc: (string | number)[]; msg: string; type: string }[] };
    expect(detail.map(({ loc, type }) => [loc.join('.'), type])).toEqual(expected);
    expect(detail.every(({ msg }) => msg.length > 5 && msg.endsWith('.'))).toBe(true);
    expect(await counts()).toEqual(before);
  }); // prettier-ignore
});

describe('a bulk invite', () => {
  it('accepts 100 rows of every kind and returns their results in order', async () => {
    const rows = Array.from({ length: 100 }, (_, index) => [studentRow, tutorRow, parentRow][index % 3]!());
    const { results, summary } = await provisioning.invite(...rows);
    expect(results.map(({ index, type, email }) => [index, type, email])).toEqual(rows.map(({ type, email }, index) => [index, type, email]));
    expect(summary).toEqual({ total: 100, ok: 100, exists: 0, errors: 0, created: 100 });
    expect(new Set(results.map(({ id }) => id)).size).toBe(100);
  });

  it('returns every field for every row', async () => {
    const { results } = await provisioning.invite(studentRow({ email: null }), studentRow({ email: 'nobody' }));
    expect(results).toEqual([
      { index: 0, type: 'student', email: null, status: 'ok', id: expect.any(String) as string, created: true, invited: false, error: null },
      {
        index: 1, type: 'student', email: 'nobody', status: 'error', id: null,
        created: null, invited: null, error: 'email: This is not a valid email address.',
      },
    ]); // prettier-ignore
  });
});

describe('the scopes of a bulk invite', () => {
  const ALL = Object.keys(SCOPES) as Scope[];
  const kinds = { student: studentRow, tutor: tutorRow, parent: parentRow };
  const needs = (row: RowWish): Scope => (row.type === 'tutor' ? 'tutors:write' : 'students:write');
  const opened: Partial<Record<Scope, string[]>> = { 'students:write': ['student', 'parent'], 'tutors:write': ['tutor'], write: ['tutor'] };

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
        { error: { details: { required: ['students:write', 'tutors:write'], granted: scopes } } },
      ]);
      expect((answer.body as { error: { message: string } }).error.message).toContain(`the scope ${missing.join(', ')}.`);
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
});
