import { randomUUID } from 'node:crypto';
import { appendFile, mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  ImportError,
  importFolder,
  type ImportProgress,
  type ImportReport,
} from '../../apps/cli/src/import/importer.js';
import { homeworkRow, messageRow, resultRow, type Row, sessionRow, World } from '../database/world.js';

type Files = Record<string, (Row | string)[] | string | Buffer>;

const id = randomUUID;
const UUID = '0190a6f2-5c1e-7d3a-9b4f-2e8c6d1a7f30';

/** The files of a small school: a tutor, a student with a session, and what the tests add. */
class School {
  readonly tutor = this.userRow('tutor');
  readonly student = this.userRow('student');
  readonly files: Record<string, Row[]> = {
    users: [this.tutor, this.student],
    members: [this.memberRow(this.tutor, 'tutor'), this.memberRow(this.student, 'student')],
    sessions: [without(sessionRow('', this.student.id as string), 'organization_id')],
  };

  userRow(name: string): Row {
    return { id: id(), email: `${name}-${id()}@example.com`, first_name: name, last_name: 'Nguyen' };
  }

  memberRow(user: Row, role: string): Row {
    return { id: id(), user_id: user.id, role };
  }

  /** With further rows. */
  with(more: Record<string, Row[]>): Record<string, Row[]> {
    const files = { ...this.files };
    for (const [table, rows] of Object.entries(more)) files[table] = [...(files[table] ?? []), ...rows];
    return files;
  }

  /** A conversation of the two, and a message in it. */
  conversation(): Record<string, Row[]> {
    const conversation = { id: id(), type: 'direct' };
    const seat = (user: Row, role: string) => ({ id: id(), conversation_id: conversation.id, user_id: user.id, role });
    return {
      conversations: [conversation],
      conversation_participants: [seat(this.tutor, 'tutor'), seat(this.student, 'student')],
      messages: [messageRow(conversation.id, '2026-03-02T09:00:00Z')],
    };
  }
}

function without(row: Row, ...names: string[]): Row {
  return Object.fromEntries(Object.entries(row).filter(([name]) => !names.includes(name)));
}

describe('import', () => {
  let world: World;
  let organization: string;
  let school: School;
  const folders: string[] = [];

  beforeAll(async () => {
    world = await World.create();
  });

  beforeEach(async () => {
    organization = await world.organization();
    school = new School();
  });

  afterAll(async () => {
    await world.destroy();
    await Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true })));
  });

  async function write(files: Files): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), 'tutoring-import-'));
    folders.push(folder);
    for (const [table, content] of Object.entries(files)) {
      const text = Array.isArray(content) ? content.map((row) => `${asLine(row)}\n`).join('') : content;
      await writeFile(join(folder, `${table}.ndjson`), text);
    }
    return folder;
  }

  function asLine(row: Row | string): string {
    return typeof row === 'string' ? row : JSON.stringify(row);
  }

  async function load(files: Files, into = organization): Promise<ImportReport['tables']> {
    const folder = await write(files);
    return (await importFolder({ url: world.urls.applicationUrl, organizationId: into, folder })).tables;
  }

  async function faultsOf(files: Files, into = organization): Promise<string[]> {
    const error = await load(files, into).then(
      () => new Error('It was imported'),
      (thrown: unknown) => thrown,
    );
    if (!(error instanceof ImportError)) throw error;
    return error.message.split('\n');
  }

  async function count(table: string): Promise<number> {
    return Number((await world.all(`SELECT count(*) AS n FROM ${table}`))[0]!.n);
  }

  function inserted(tables: ImportReport['tables']): Record<string, number> {
    return Object.fromEntries(Object.entries(tables).map(([table, counts]) => [table, counts.inserted]));
  }

  describe('of sound files', () => {
    it('goes through the same rules as every write', async () => {
      const parent = school.userRow('parent');
      const conversation = school.conversation();
      const homework = without(homeworkRow(school.tutor.id as string), 'organization_id');
      const files = school.with({
        users: [parent],
        parents: [{ user_id: parent.id }],
        parent_students: [{ parent_id: parent.id, student_id: school.student.id, linked_at: '2026-02-01' }],
        student_groups: [
          { id: id(), name: 'Ours' },
          { id: id(), name: 'The tutor’s', owned: false, tutor_id: school.tutor.id },
        ],
        homework: [homework],
        session_feedback: [{ id: id(), tutor_id: school.tutor.id, rating: 5, comment: 'Good' }],
        results: [resultRow(school.student.id as string)],
        ...conversation,
      });
      expect(await load(files)).toMatchObject({
        users: { read: 3, inserted: 3, unchanged: 0 },
        homework: { inserted: 1 },
      });

      const seen = async (table: string) => world.as(organization, `SELECT * FROM ${table}`);
      expect(await seen('parents')).toMatchObject([{ enrolled_at: new Date('2026-02-01'), status: 'accepted' }]);
      expect(await seen('homework')).toMatchObject([{ organization_id: organization, files: [] }]);
      expect(await seen('session_feedback')).toMatchObject([{ organization_id: organization, has_comment: true }]);
      expect(await seen('organization_results')).toHaveLength(1);
      expect(await seen('conversations')).toMatchObject([{ last_message_at: new Date('2026-03-02T09:00:00Z') }]);
      const groups = await world.as(organization, 'SELECT * FROM student_groups ORDER BY name');
      expect(groups).toMatchObject([
        { organization_id: organization, owner_organization_id: organization },
        { organization_id: organization, owner_organization_id: null },
      ]);
    });

    it('leaves what is there already as it is, also what nobody sees', async () => {
      const idle = school.userRow('idle');
      const alone = school.conversation();
      for (const seat of alone.conversation_participants!) seat.left_at = '2026-03-03';
      const files = school.with({
        users: [idle],
        members: [school.memberRow(idle, 'student')],
        subjects: [{ id: id(), name: 'Physics' }],
        session_feedback: [{ id: id(), tutor_id: school.tutor.id, rating: 3, legacy: true }],
        results: [resultRow(idle.id as string)],
        ...alone,
      });
      const first = await load(files);
      files.subjects![0]!.name = 'Chemistry';
      for (const [table, counts] of Object.entries(await load(files))) {
        expect(counts, table).toEqual({ read: first[table]!.read, inserted: 0, unchanged: first[table]!.read });
      }
      expect(await world.as(organization, 'SELECT name FROM subjects')).toEqual([{ name: 'Physics' }]);
      expect(await world.as(organization, 'SELECT FROM conversations')).toEqual([]);
    });

    it('adds what is new to what is there', async () => {
      await load(school.files);
      const subject = { id: id(), name: 'Physics' };
      const relation = { id: id(), tutor_id: school.tutor.id, student_id: school.student.id, subject_id: subject.id };
      expect(inserted(await load({ subjects: [subject], tutor_students: [relation] }))).toEqual({
        subjects: 1,
        tutor_students: 1,
      });
    });

    it('takes a login that another organization has, and changes nothing of it', async () => {
      await load(school.files);
      const second = await world.organization();
      const changed = { ...school.tutor, email: (school.tutor.email as string).toUpperCase(), last_name: 'Changed' };
      const files = { users: [changed], members: [school.memberRow(school.tutor, 'tutor')] };
      expect(await load(files, second)).toMatchObject({
        users: { inserted: 0, unchanged: 1 },
        members: { inserted: 1 },
      });
      expect(await world.all('SELECT email, last_name FROM users WHERE id = $1', [school.tutor.id])).toEqual([
        { email: school.tutor.email, last_name: 'Nguyen' },
      ]);
    });

    it('gives what is left out its default', async () => {
      const post = { id: id(), brand: 'primary', title: 'News', slug: 'news' };
      await load({ blog_posts: [post] });
      const [row] = await world.as(
        organization,
        'SELECT *, created_at > now() - interval $$1 minute$$ AS fresh FROM blog_posts',
      );
      expect(row).toMatchObject({ status: 'draft', tags: [], publish_to_website: true, excerpt: null, fresh: true });
    });

    it('reads dates, times, arrays and JSON as the API does', async () => {
      const files = school.with({
        homework: [
          {
            ...homeworkRow(school.tutor.id as string),
            due_date: '2026-05-01T19:30+10:00',
            files: [{ a: 'ünïcode "\\ \n' }],
          },
        ],
        adjustments: [
          {
            id: id(),
            tutor_id: school.tutor.id,
            period_start: '2026-05-01',
            period_end: '2026-05-31',
            amount_cents: -250,
          },
        ],
        blog_posts: [{ id: id(), brand: 'primary', title: 'x', slug: 'x', tags: ['a,b', '"c"', '{d}', 'NULL', ''] }],
        mileage_trips: [{ id: id(), tutor_id: school.tutor.id, trip_date: '2026-05-01', distance_km: 4.25 }],
      });
      await load(files);
      const [homework] = await world.as(organization, 'SELECT due_date, files FROM homework');
      expect(homework).toEqual({ due_date: new Date('2026-05-01T09:30:00Z'), files: [{ a: 'ünïcode "\\ \n' }] });
      const [adjustment] = await world.as(organization, 'SELECT period_end::text, amount_cents FROM adjustments');
      expect(adjustment).toEqual({ period_end: '2026-05-31', amount_cents: '-250' });
      expect(await world.as(organization, 'SELECT tags FROM blog_posts')).toEqual([
        { tags: ['a,b', '"c"', '{d}', 'NULL', ''] },
      ]);
      expect(await world.as(organization, 'SELECT distance_km FROM mileage_trips')).toEqual([{ distance_km: 4.25 }]);
    });

    it('takes lines as editors and other systems write them', async () => {
      const subject = (name: string) => JSON.stringify({ id: id(), name });
      const text = `\uFEFF${subject('Physics')}\r\n\r\n  \n${subject('Zoë’s Chemistry')}\r\n${subject('Biology')}`;
      expect(await load({ subjects: text, classrooms: '' })).toEqual({
        subjects: { read: 3, inserted: 3, unchanged: 0 },
        classrooms: { read: 0, inserted: 0, unchanged: 0 },
      });
      const rows = await world.as(organization, 'SELECT name FROM subjects ORDER BY name');
      expect(rows.map((row) => row.name)).toEqual(['Biology', 'Physics', 'Zoë’s Chemistry']);
    });

    it('takes a long line', async () => {
      const row = { id: id(), tutor_id: school.tutor.id, rating: 4, comment: 'ö'.repeat(3_000_000) };
      await load(school.with({ session_feedback: [row] }));
      expect(await world.as(organization, 'SELECT length(comment) FROM session_feedback')).toEqual([
        { length: 3_000_000 },
      ]);
    });

    it('tells how far it is', async () => {
      const told: ImportProgress[] = [];
      const folder = await write(school.files);
      const onProgress = (progress: ImportProgress) => told.push(progress);
      await importFolder({ url: world.urls.applicationUrl, organizationId: organization, folder, onProgress });
      const tables = ['users', 'members', 'sessions'];
      expect(told.map(({ phase, table, done }) => [phase, table, done])).toEqual([
        ...tables.map((table) => ['reading', table, true]),
        ...tables.map((table) => ['writing', table, true]),
      ]);
      expect(told[0]!.lines).toBe(2);
    });
  });

  describe('of files with faults', () => {
    const user = { id: UUID, email: 'a@example.com', first_name: 'A', last_name: 'B' };
    const feedback = { id: UUID, tutor_id: UUID, rating: 5 };
    const post = { id: UUID, brand: 'primary', title: 'x', slug: 'x' };
    const homework = { id: UUID, assigned_by: UUID, title: 'x', homework_type: 'text', scope: 'student' };
    const deep = `${'['.repeat(40)}${']'.repeat(40)}`;

    it.each<[string, string, Row | string, string[]]>([
      ['a line that is no JSON', 'users', '{"id":', [': is not JSON: Unexpected end of JSON input']],
      ['a line that is no object', 'users', '[1]', [': must be a JSON object']],
      ['null', 'users', 'null', [': must be a JSON object']],
      ['a field too many', 'users', { ...user, mail: 'x' }, [': mail: is not a field of this table']],
      [
        'a misleading field',
        'users',
        `{"__proto__":{},${JSON.stringify(user).slice(1)}`,
        [': __proto__: is not a field of this table'],
      ],
      [
        'a derived field',
        'users',
        { ...user, email_normalized: 'x' },
        [': email_normalized: is worked out by the service: leave it out'],
      ],
      [
        'an organization',
        'subjects',
        { id: UUID, name: 'x', organization_id: UUID },
        [': organization_id: is worked out by the service: leave it out'],
      ],
      ['fields too few', 'users', { id: UUID, first_name: 'x' }, [': email: is missing', ': last_name: is missing']],
      ['null where there must be a value', 'users', { ...user, email: null }, [': email: must not be null']],
      [
        'null instead of a default',
        'users',
        { ...user, placeholder_email: null },
        [': placeholder_email: must not be null: leave it out to get its default'],
      ],
      ['a number for a text', 'users', { ...user, first_name: 7 }, [': first_name: must be a string']],
      ['no UUID', 'users', { ...user, id: '{0190a6f2-5c1e-7d3a-9b4f-2e8c6d1a7f30}' }, [': id: must be a UUID']],
      ['no email address', 'users', { ...user, email: 'nobody' }, [': email: must be an email address']],
      ['a blank name', 'users', { ...user, first_name: '  ' }, [': first_name: must have 1 to 200 characters']],
      [
        'a text for a number',
        'session_feedback',
        { ...feedback, rating: '5' },
        [': rating: must be a whole number below 2^31'],
      ],
      ['a fraction', 'session_feedback', { ...feedback, rating: 4.5 }, [': rating: must be a whole number below 2^31']],
      ['a number out of range', 'session_feedback', { ...feedback, rating: 6 }, [': rating: must be from 1 to 5']],
      [
        'a number that JSON cannot tell exactly',
        'adjustments',
        '{"id":"0190a6f2-5c1e-7d3a-9b4f-2e8c6d1a7f30","tutor_id":"0190a6f2-5c1e-7d3a-9b4f-2e8c6d1a7f30","period_start":"2026-05-01","period_end":"2026-05-02","amount_cents":9007199254740993}',
        [': amount_cents: must be a whole number below 2^53'],
      ],
      [
        'a text for a truth',
        'session_feedback',
        { ...feedback, is_public: 'true' },
        [': is_public: must be true or false'],
      ],
      ['no array', 'blog_posts', { ...post, tags: 'a,b' }, [': tags: must be an array of strings']],
      ['an array of others', 'blog_posts', { ...post, tags: ['a', null] }, [': tags: must be an array of strings']],
      ['too many items', 'blog_posts', { ...post, tags: Array(51).fill('a') }, [': tags: must have at most 50 items']],
      [
        'a date that is none',
        'blog_posts',
        { ...post, date: '2026-02-30' },
        [': date: must be a date like 2026-05-01'],
      ],
      [
        'a time for a date',
        'blog_posts',
        { ...post, date: '2026-02-03T00:00:00Z' },
        [': date: must be a date like 2026-05-01'],
      ],
      [
        'a time that is none',
        'users',
        { ...user, created_at: '2026-02-03T24:00:00Z' },
        [': created_at: must be an ISO 8601 date or date-time like 2026-05-01T09:30:00Z'],
      ],
      [
        'a value outside a closed set',
        'blog_posts',
        { ...post, status: 'live' },
        [': status: must be one of draft, published'],
      ],
      [
        'a text that is too long',
        'blog_posts',
        { ...post, title: '€'.repeat(301) },
        [': title: must have 1 to 300 characters'],
      ],
      [
        'a slug that is none',
        'blog_posts',
        { ...post, slug: 'No Slug' },
        [': slug: must match ^[a-z0-9]+(?:-[a-z0-9]+)*$ and must have at most 200 characters'],
      ],
      [
        'NUL',
        'users',
        { ...user, last_name: 'a\0b' },
        [': last_name: must not contain NUL characters or lone surrogates'],
      ],
      [
        'half a character',
        'blog_posts',
        { ...post, tags: ['\ud83d'] },
        [': tags: must not contain NUL characters or lone surrogates'],
      ],
      ['no array of files', 'homework', { ...homework, files: {} }, [': files: must be an array']],
      [
        'NUL within JSON',
        'homework',
        { ...homework, files: [{ 'a\0': 1 }] },
        [': files: must not contain NUL characters or lone surrogates'],
      ],
      [
        'JSON that is too deep',
        'homework',
        `${JSON.stringify(homework).slice(0, -1)},"files":${deep}}`,
        [': files: must not be nested deeper than 32 levels'],
      ],
      [
        'a number that is too large',
        'homework',
        `${JSON.stringify(homework).slice(0, -1)},"files":[1e999]}`,
        [': files: has a number that is too large'],
      ],
      [
        'an end before its start',
        'sessions',
        { id: UUID, starts_at: '2026-05-02', ends_at: '2026-05-01', duration_minutes: 60 },
        [': ends_at, starts_at: must satisfy ends_at > starts_at'],
      ],
      [
        'a group of nobody',
        'student_groups',
        { id: UUID, name: 'x', owned: false },
        [': owned, tutor_id: must satisfy owner_organization_id IS NOT NULL OR tutor_id IS NOT NULL'],
      ],
      [
        'a stranger',
        'members',
        { id: UUID, user_id: UUID, role: 'tutor' },
        [': user_id: no such user in this organization'],
      ],
    ])('refuses %s, by its line', async (_, table, line, messages) => {
      const good = { subjects: [{ id: id(), name: 'Physics' }] };
      const faults = await faultsOf({ ...good, [table]: ['', line, ''] });
      expect(faults.map((fault) => fault.replace(/^.*?\.ndjson:2/, ''))).toEqual(messages);
      expect(await world.as(organization, 'SELECT FROM subjects')).toEqual([]);
    });

    it('refuses bytes that are no text, and lines without an end', async () => {
      const subject = (name: string) => Buffer.from(`${JSON.stringify({ id: id(), name })}\n`);
      const broken = Buffer.concat([
        subject('a'),
        Buffer.from([0x22, 0xff, 0x22, 0x0a]),
        subject('b'),
        Buffer.from('?'),
      ]);
      expect(await faultsOf({ subjects: broken })).toEqual([
        'subjects.ndjson:2: is not UTF-8',
        expect.stringMatching(/^subjects\.ndjson:4: is not JSON: /),
      ]);
      const long = Buffer.concat([
        subject('a'),
        Buffer.alloc(17 * 1024 * 1024, 'x'),
        Buffer.from('\n'),
        Buffer.from('?'),
      ]);
      expect(await faultsOf({ subjects: long })).toEqual([
        'subjects.ndjson:2: is longer than 16 MiB',
        expect.stringMatching(/^subjects\.ndjson:3: is not JSON: /),
      ]);
    });

    it('names the faults of all files together, in order, and says how many more there are', async () => {
      const bad = Array.from({ length: 1_500 }, () => ({ id: id() }));
      const folder = await write({ subjects: bad, blog_posts: [{ ...post, status: 'live' }], users: ['{}'] });
      const error = (await importFolder({
        url: world.urls.applicationUrl,
        organizationId: organization,
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

    it('names every line that refers to what is not there', async () => {
      const other = await world.organization();
      const theirs = new School();
      const subject_id = id();
      await load(theirs.with({ subjects: [{ id: subject_id, name: 'Physics' }] }), other);
      const relation = { tutor_id: school.tutor.id, student_id: school.student.id };
      const files = school.with({
        classrooms: [
          { id: id(), name: 'Ours', tutor_id: school.tutor.id },
          { id: id(), name: 'Theirs', tutor_id: theirs.tutor.id, subject_id },
        ],
        tutor_students: [{ id: id(), ...relation, subject_id }],
        results: [resultRow(theirs.student.id as string)],
        homework: [homeworkRow(theirs.tutor.id as string)],
      });
      expect(await faultsOf(files)).toEqual([
        'tutor_students.ndjson:1: subject_id: no such subject in this organization',
        'classrooms.ndjson:2: subject_id: no such subject in this organization',
        'classrooms.ndjson:2: tutor_id: no such member in this organization',
        'homework.ndjson:1: assigned_by: no such user in this organization',
        'results.ndjson:1: student_id: no such member in this organization',
      ]);
    });

    it('wants messages in order, and conversations of this organization', async () => {
      const { conversations, conversation_participants, messages } = school.conversation();
      const answer = { ...messages![0]!, id: id(), reply_to_id: messages![0]!.id };
      const swapped = { conversations: conversations!, conversation_participants: conversation_participants! };
      expect(await faultsOf(school.with({ ...swapped, messages: [answer, messages![0]!] }))).toEqual([
        'messages.ndjson:1: reply_to_id: no such message in this organization, nor on an earlier line',
      ]);
      await load(school.with({ ...swapped, messages: [messages![0]!, answer] }));

      const other = await world.organization();
      const message = 'no member of this organization takes part in it (conversation_participants.ndjson)';
      const theirs = new School();
      const stranger = theirs.conversation();
      expect(await faultsOf({ conversations: stranger.conversations! }, other)).toEqual([
        `conversations.ndjson:1: id: ${message}`,
      ]);
      const without = { users: theirs.files.users!, ...stranger };
      expect(await faultsOf(without, other)).toEqual([`conversations.ndjson:1: id: ${message}`]);
      expect(await faultsOf({ messages: [answer] }, other)).toEqual([
        'messages.ndjson:1: conversation_id: no such conversation in this organization',
        'messages.ndjson:1: reply_to_id: no such message in this organization, nor on an earlier line',
      ]);
    });

    it('refuses the same key twice', async () => {
      const subject = { id: UUID, name: 'Physics' };
      const again = { id: UUID.toUpperCase(), name: 'Chemistry' };
      const parent = { parent_id: school.student.id, student_id: school.tutor.id };
      const files = school.with({
        subjects: [subject, again],
        parents: [{ user_id: school.student.id }],
        parent_students: [parent, parent],
      });
      expect(await faultsOf(files)).toEqual([
        'subjects.ndjson:2: id: is the same as on line 1',
        'parent_students.ndjson:2: parent_id, student_id: is the same as on line 1',
      ]);
    });

    it('refuses what must be unique and is not, in the files and with what is there', async () => {
      await load(school.with({ subjects: [{ id: id(), name: 'Physics' }] }));
      const twin = { ...school.userRow('twin'), email: ` ${(school.tutor.email as string).toUpperCase()}` };
      const pair = [school.userRow('one'), school.userRow('two')];
      pair[1]!.email = pair[0]!.email;
      expect(await faultsOf({ users: [twin, ...pair], subjects: [{ id: id(), name: 'Physics' }] })).toEqual([
        'users.ndjson:1: email: is taken by another login',
        'users.ndjson:3: email: is the same as on line 2',
        'subjects.ndjson:1: name: is taken by another subject of this organization',
      ]);
    });

    it('refuses an address or an id that somebody has in another organization, without a word of whom', async () => {
      await load(school.files);
      const other = await world.organization();
      const twin = { ...school.userRow('twin'), email: school.tutor.email };
      const double = { ...school.userRow('double'), id: school.student.id };
      expect(await faultsOf({ users: [school.userRow('new'), twin, school.student] }, other)).toEqual([
        'users.ndjson:2: email: is taken by another login',
      ]);
      // Whoever knows no more than the id of a login does not get at the person.
      expect(await faultsOf({ users: [school.tutor, double], parents: [{ user_id: double.id }] }, other)).toEqual([
        'users.ndjson:2: id: is taken by another login',
      ]);
    });

    it('finds by itself the line that the database refuses', async () => {
      const relation = { tutor_id: school.tutor.id, student_id: school.student.id };
      const subjects = Array.from({ length: 9 }, (_, place) => ({ id: id(), name: `Subject ${place}` }));
      const relations = subjects.map((subject): Row => ({ id: id(), ...relation, subject_id: subject.id }));
      // Null counts as a value here: no two relations of a pair without a subject.
      for (const place of [1, 4, 7]) relations[place]!.subject_id = null;
      expect(await faultsOf(school.with({ subjects, tutor_students: relations }))).toEqual([
        'tutor_students.ndjson:5: tutor_id, student_id, subject_id: is taken',
        'tutor_students.ndjson:8: tutor_id, student_id, subject_id: is taken',
      ]);
      expect(await world.as(organization, 'SELECT FROM members')).toEqual([]);
    });

    it('refuses what the rules of the database give to another organization', async () => {
      await load(school.files);
      const other = await world.organization();
      const { tutor } = school;
      const files = {
        users: [tutor],
        parents: [{ user_id: tutor.id }],
        homework: [homeworkRow(tutor.id as string)],
      };
      expect(await faultsOf(files, other)).toEqual([
        'homework.ndjson:1: assigned_by: this homework would belong to another organization',
      ]);
      const group = { id: id(), name: 'x', owned: false, tutor_id: tutor.id };
      expect(
        await faultsOf({ users: [tutor], parents: [{ user_id: tutor.id }], student_groups: [group] }, other),
      ).toEqual(['student_groups.ndjson:1: tutor_id: this student group would belong to another organization']);
    });

    it('refuses an id that another organization has, in every table', async () => {
      const theirs = new School();
      const taken = id();
      const group = { id: id(), name: 'Theirs' };
      const all = (of: School): Record<string, Row[]> =>
        of.with({
          subjects: [{ id: taken, name: 'Physics' }],
          classrooms: [{ id: taken, name: 'Room' }],
          student_groups: [group],
          homework: [{ ...homeworkRow(of.tutor.id as string), id: taken }],
          session_feedback: [{ id: taken, tutor_id: of.tutor.id, rating: 5 }],
          results: [{ ...resultRow(of.student.id as string), id: taken }],
          invoices: [
            {
              id: taken,
              invoice_number: '1',
              student_id: of.student.id,
              status: 'open',
              amount_due_cents: 1,
              currency: 'AUD',
            },
          ],
        });
      const other = await world.organization();
      await load(all(theirs), other);
      const conversation = theirs.conversation();
      await load(conversation, other);

      const tables = all(school);
      for (const table of [
        'subjects',
        'classrooms',
        'student_groups',
        'homework',
        'session_feedback',
        'results',
        'invoices',
      ]) {
        const files = { ...school.files, [table]: tables[table]! };
        expect(await faultsOf(files), table).toEqual([`${table}.ndjson:1: id: is taken`]);
      }
      const ours = school.conversation();
      const seats = ours.conversation_participants!.map((seat) => ({
        ...seat,
        conversation_id: conversation.conversations![0]!.id,
      }));
      const stolen = { ...ours.conversations![0]!, id: conversation.conversations![0]!.id };
      expect(await faultsOf(school.with({ conversations: [stolen], conversation_participants: seats }))).toEqual([
        'conversations.ndjson:1: id: is taken',
      ]);
      const message = { ...ours.messages![0]!, id: conversation.messages![0]!.id };
      expect(await faultsOf(school.with({ ...ours, messages: [message] }))).toEqual([
        'messages.ndjson:1: id: is taken',
      ]);
      const seat = { ...ours.conversation_participants![0]!, id: conversation.conversation_participants![0]!.id };
      expect(await faultsOf(school.with({ ...ours, conversation_participants: [seat] }))).toEqual([
        'conversation_participants.ndjson:1: id: is taken',
      ]);
    });

    it('leaves nothing behind when the last file fails', async () => {
      const before = await Promise.all(['users', 'members', 'sessions', 'session_students'].map(count));
      const post = { id: id(), brand: 'primary', title: 'x', slug: 'x' };
      const other = await world.organization();
      await load({ blog_posts: [post] }, other);
      expect(await faultsOf(school.with({ blog_posts: [post] }))).toEqual(['blog_posts.ndjson:1: id: is taken']);
      expect(await Promise.all(['users', 'members', 'sessions', 'session_students'].map(count))).toEqual(before);
    });

    it('refuses files that are no part of an import', async () => {
      expect(await faultsOf({ homeworks: '', api_keys: '' })).toEqual([
        expect.stringMatching(/^api_keys\.ndjson: there is no such file in an import \(users, members, /),
        expect.stringMatching(/^homeworks\.ndjson: there is no such file/),
      ]);
      expect(await faultsOf({})).toEqual([expect.stringMatching(/: has no \.ndjson file$/)]);
    });

    it('wants an organization', async () => {
      await expect(load(school.files, UUID)).rejects.toThrow(`There is no organization ${UUID}`);
      await expect(load(school.files, 'none')).rejects.toThrow(/uuid/);
    });
  });

  it('takes 200,000 lines in little memory', async () => {
    const folder = await write(school.files);
    const file = await open(join(folder, 'homework.ndjson'), 'w');
    const row = {
      ...homeworkRow(school.tutor.id as string),
      student_id: school.student.id,
      description: 'x'.repeat(200),
    };
    for (let place = 0; place < 200_000; place += 5_000) {
      await file.appendFile(Array.from({ length: 5_000 }, () => `${JSON.stringify({ ...row, id: id() })}\n`).join(''));
    }
    await file.close();
    // Refused by its last line: reading all and writing nothing is what this is about.
    await appendFile(join(folder, 'homework.ndjson'), '{}\n');
    const before = process.memoryUsage.rss();
    let most = 0;
    let calls = 0;
    const onProgress = () => {
      calls++;
      most = Math.max(most, process.memoryUsage.rss());
    };
    const started = Date.now();
    const options = { url: world.urls.applicationUrl, organizationId: organization, folder, onProgress };
    await expect(importFolder(options)).rejects.toThrow('homework.ndjson:200001: id: is missing');
    expect((most - before) / 1024 / 1024).toBeLessThan(150);
    expect(calls).toBeGreaterThan(4);
    expect(calls).toBeLessThan(6 + (Date.now() - started) / 200);
  });
});
