import { randomUUID as id } from 'node:crypto';
import { ImportError, importFolder } from '../../apps/cli/src/import/importer.js';
import type { Row } from '../support/database/schema-fixture.js';
import { ImportFixture } from '../support/data/import-fixture.js';
import { fixture } from '../support/process/fixture.js';

const UUID = '0190a6f2-5c1e-7d3a-9b4f-2e8c6d1a7f30';

const imports = await fixture(ImportFixture.open());

describe('an import with invalid lines', () => {
  beforeEach(() => imports.renew());

  const user = { id: UUID, email: 'a@example.com', first_name: 'A', last_name: 'B' };
  const feedback = { id: UUID, tutor_id: UUID, rating: 5 };
  const post = { id: UUID, brand: 'primary', title: 'x', slug: 'x' };
  const homework = { id: UUID, assigned_by: UUID, title: 'x', homework_type: 'text', scope: 'student' };
  const NO_CONTROL = 'must not contain control characters other than tabs and line breaks, or lone surrogates';
  const period = { id: UUID, tutor_id: UUID, period_start: '2026-05-01', period_end: '2026-05-02' };
  const deep = `${'['.repeat(40)}${']'.repeat(40)}`;

  it.each<[string, string, Row | string, string[]]>([
    ['a line that is not JSON', 'users', '{"id":', ['is not JSON: Unexpected end of JSON input']],
    ['a line that is not an object', 'users', '[1]', ['must be a JSON object']],
    ['null', 'users', 'null', ['must be a JSON object']],
    ['an unknown field', 'users', { ...user, mail: 'x' }, ['mail: is not a field of this table']],
    ['a __proto__ field', 'users', `{"__proto__":{},${JSON.stringify(user).slice(1)}`, ['__proto__: is not a field of this table']],
    ['a derived field', 'users', { ...user, email_normalized: 'x' }, ['email_normalized: is set by the service: leave it out']],
    ['an organization_id', 'subjects', { id: UUID, name: 'x', organization_id: UUID }, ['organization_id: is set by the service: leave it out']],
    ['missing fields', 'users', { id: UUID, first_name: 'x' }, ['email: is missing', 'last_name: is missing']],
    ['null in a required field', 'users', { ...user, email: null }, ['email: must not be null']],
    ['null instead of a default', 'users', { ...user, placeholder_email: null }, ['placeholder_email: must not be null: leave it out to get the default']],
    ['a number instead of text', 'users', { ...user, first_name: 7 }, ['first_name: must be a string']],
    ['an invalid UUID', 'users', { ...user, id: '{0190a6f2-5c1e-7d3a-9b4f-2e8c6d1a7f30}' }, ['id: must be a UUID']],
    ['an invalid email address', 'users', { ...user, email: 'nobody' }, ['email: this is not a valid email address']],
    ['a blank name', 'users', { ...user, first_name: '  ' }, ['first_name: must have at least 1 character']],
    ['text instead of a number', 'session_feedback', { ...feedback, rating: '5' }, ['rating: must be a whole number, without quotes']],
    ['a fraction', 'session_feedback', { ...feedback, rating: 4.5 }, ['rating: must be a whole number, without quotes']],
    ['a number out of range', 'session_feedback', { ...feedback, rating: 6 }, ['rating: must be at most 5']],
    ['a number that JSON cannot represent exactly', 'adjustments', `${JSON.stringify(period).slice(0, -1)},"amount_cents":9007199254740993}`, ['amount_cents: must be at most 1000000000000']],
    ['text instead of a boolean', 'session_feedback', { ...feedback, is_public: 'true' }, ['is_public: must be true or false']],
    ['a string instead of an array', 'blog_posts', { ...post, tags: 'a,b' }, ['tags: must be an array']],
    ['an array with null', 'blog_posts', { ...post, tags: ['a', null] }, ['tags: item 2: must be a string']],
    ['too many items', 'blog_posts', { ...post, tags: Array(51).fill('a') }, ['tags: must have at most 50 items']],
    ['an invalid date', 'blog_posts', { ...post, date: '2026-02-30' }, ['date: must be a date like 2026-05-01']],
    ['a date-time instead of a date', 'blog_posts', { ...post, date: '2026-02-03T00:00:00Z' }, ['date: must be a date like 2026-05-01']],
    ['an invalid time', 'users', { ...user, created_at: '2026-02-03T24:00:00Z' }, ['created_at: must be an ISO 8601 date or date-time like 2026-05-01T09:30:00Z']],
    ['an unknown enumeration value', 'blog_posts', { ...post, status: 'live' }, ['status: must be one of draft, published']],
    ['text that is too long', 'blog_posts', { ...post, title: '€'.repeat(301) }, ['title: must have at most 300 characters']],
    ['an invalid slug', 'blog_posts', { ...post, slug: 'No Slug' }, ['slug: must be lowercase letters and digits, with single hyphens between words']],
    ['NUL', 'users', { ...user, last_name: 'a\0b' }, [`last_name: ${NO_CONTROL}`]],
    ['half a surrogate pair', 'blog_posts', { ...post, tags: ['\ud83d'] }, [`tags: item 1: ${NO_CONTROL}`]],
    ['files that are not an array', 'homework', { ...homework, files: {} }, ['files: must be an array']],
    ['NUL within JSON', 'homework', { ...homework, files: [{ 'a\0': 1 }] }, ['files: item 1: must not contain NUL characters or lone surrogates']],
    ['JSON that is nested too deep', 'homework', `${JSON.stringify(homework).slice(0, -1)},"files":${deep}}`, ['files: item 1: must not be nested that deeply']],
    ['a number that is too large', 'homework', `${JSON.stringify(homework).slice(0, -1)},"files":[1e999]}`, ['files: item 1: numbers must be 0, or from 1e-20 to below 2^53 in size. Send others as text']],
    ['an end before its start', 'sessions', { id: UUID, starts_at: '2026-05-02', ends_at: '2026-05-01', duration_minutes: 60 }, ['ends_at: must be after starts_at']],
    ['a group without an owner', 'student_groups', { id: UUID, name: 'x', owned: false }, ['tutor_id: must not be null unless owned is true']],
    ['an unknown user', 'members', { id: UUID, user_id: UUID, role: 'tutor' }, ['user_id: no such user in this organization']],
  ])('refuses %s and names the line', async (_, table, line, messages) => {
    const good = { subjects: [{ id: id(), name: 'Physics' }] };
    const faults = await imports.faultsOf({ ...good, [table]: ['', line, ''] });
    expect(faults.map((fault) => fault.replace(/^.*?\.ndjson:2: /, ''))).toEqual(messages);
    expect(await imports.rows('SELECT FROM subjects')).toEqual([]);
  }); // prettier-ignore

  it('refuses bytes that are not UTF-8, and overlong lines', async () => {
    const subject = (name: string) => Buffer.from(`${JSON.stringify({ id: id(), name })}\n`);
    const broken = Buffer.concat([subject('a'), Buffer.from([0x22, 0xff, 0x22, 0x0a]), subject('b'), Buffer.from('?')]);
    expect(await imports.faultsOf({ subjects: broken })).toEqual([
      'subjects.ndjson:2: is not UTF-8',
      expect.stringMatching(/^subjects\.ndjson:4: is not JSON: /),
    ]);
    const long = Buffer.concat([subject('a'), Buffer.alloc(17 * 1024 * 1024, 'x'), Buffer.from('\n'), Buffer.from('?')]);
    expect(await imports.faultsOf({ subjects: long })).toEqual([
      'subjects.ndjson:2: is longer than 16 MiB',
      expect.stringMatching(/^subjects\.ndjson:3: is not JSON: /),
    ]);
  });

  it('reports the errors of all files together, in order, and counts those it omits', async () => {
    const bad = Array.from({ length: 1_500 }, () => ({ id: id() }));
    const folder = await imports.write({ subjects: bad, blog_posts: [{ ...post, status: 'live' }], users: ['{}'] });
    const error = (await importFolder({
      url: imports.database.urls.ownerUrl,
      organizationId: imports.organization,
      folder,
    }).catch((thrown: unknown) => thrown)) as ImportError;
    expect(error).toBeInstanceOf(ImportError);
    const lines = error.message.split('\n');
    expect(lines).toHaveLength(21);
    expect(lines[0]).toBe('users.ndjson:1: id: is missing');
    expect(lines[4]).toBe('subjects.ndjson:1: name: is missing');
    expect(lines[20]).toBe('… and 1485 more');
    expect(error.faults).toHaveLength(1_000);
    expect(error.count).toBe(1_505);
    expect(error.faults[0]).toEqual({ file: 'users.ndjson', line: 1, field: 'id', message: 'is missing' });
  });
});
