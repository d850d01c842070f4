import { randomUUID as id } from 'node:crypto';
import { homeworkRow, resultRow, type Row } from '../support/database/schema-fixture.js';
import { ImportFixture, ImportedOrganization } from '../support/data/import-fixture.js';

const UUID = '0190a6f2-5c1e-7d3a-9b4f-2e8c6d1a7f30';

describe('an import with invalid rows', () => {
  let fixture: ImportFixture;

  beforeAll(async () => {
    fixture = await ImportFixture.open();
  });
  beforeEach(() => fixture.renew());
  afterAll(() => fixture.close());

  it('names every line with a reference to a missing record', async () => {
    const other = await fixture.database.organization();
    const theirs = new ImportedOrganization();
    const subject_id = id();
    await fixture.load(theirs.with({ subjects: [{ id: subject_id, name: 'Physics' }] }), other);
    const relation = { tutor_id: fixture.school.tutor.id, student_id: fixture.school.student.id };
    const files = fixture.school.with({
      classrooms: [
        { id: id(), name: 'Ours', tutor_id: fixture.school.tutor.id },
        { id: id(), name: 'Theirs', tutor_id: theirs.tutor.id, subject_id },
      ],
      tutor_students: [{ id: id(), ...relation, subject_id }],
      results: [resultRow(theirs.student.id as string)],
      homework: [homeworkRow(theirs.tutor.id as string)],
    });
    expect(await fixture.faultsOf(files)).toEqual([
      'tutor_students.ndjson:1: subject_id: no such subject in this organization',
      'classrooms.ndjson:2: subject_id: no such subject in this organization',
      'classrooms.ndjson:2: tutor_id: no such member in this organization',
      'homework.ndjson:1: assigned_by: no such user in this organization',
      'results.ndjson:1: student_id: no such member in this organization',
    ]);
  });

  it('requires messages in order, and conversations of this organization', async () => {
    const { conversations, conversation_participants, messages } = fixture.school.conversation();
    const answer = { ...messages![0]!, id: id(), reply_to_id: messages![0]!.id };
    const swapped = { conversations: conversations!, conversation_participants: conversation_participants! };
    expect(await fixture.faultsOf(fixture.school.with({ ...swapped, messages: [answer, messages![0]!] }))).toEqual([
      'messages.ndjson:1: reply_to_id: no such message in this organization, nor on an earlier line',
    ]);
    await fixture.load(fixture.school.with({ ...swapped, messages: [messages![0]!, answer] }));

    const other = await fixture.database.organization();
    const message = 'has no participant from this organization (see conversation_participants.ndjson)';
    const theirs = new ImportedOrganization();
    const stranger = theirs.conversation();
    expect(await fixture.faultsOf({ conversations: stranger.conversations! }, other)).toEqual([
      `conversations.ndjson:1: id: ${message}`,
    ]);
    const without = { users: theirs.files.users!, ...stranger };
    expect(await fixture.faultsOf(without, other)).toEqual([`conversations.ndjson:1: id: ${message}`]);
    expect(await fixture.faultsOf({ messages: [answer] }, other)).toEqual([
      'messages.ndjson:1: conversation_id: no such conversation in this organization',
      'messages.ndjson:1: reply_to_id: no such message in this organization, nor on an earlier line',
    ]);
  });

  it('refuses duplicate keys', async () => {
    const subject = { id: UUID, name: 'Physics' };
    const again = { id: UUID.toUpperCase(), name: 'Chemistry' };
    const parent = { parent_id: fixture.school.student.id, student_id: fixture.school.tutor.id };
    const files = fixture.school.with({
      subjects: [subject, again],
      parents: [{ user_id: fixture.school.student.id }],
      parent_students: [parent, parent],
    });
    expect(await fixture.faultsOf(files)).toEqual([
      'subjects.ndjson:2: id: is the same as on line 1',
      'parent_students.ndjson:2: parent_id, student_id: is the same as on line 1',
    ]);
  });

  it('refuses values that are not unique, within the files and against existing rows', async () => {
    await fixture.load(fixture.school.with({ subjects: [{ id: id(), name: 'Physics' }] }));
    const twin = {
      ...fixture.school.userRow('twin'),
      email: ` ${(fixture.school.tutor.email as string).toUpperCase()}`,
    };
    const pair = [fixture.school.userRow('one'), fixture.school.userRow('two')];
    pair[1]!.email = pair[0]!.email;
    expect(await fixture.faultsOf({ users: [twin, ...pair], subjects: [{ id: id(), name: 'Physics' }] })).toEqual([
      'users.ndjson:1: email: is taken by another login',
      'users.ndjson:3: email: is the same as on line 2',
      'subjects.ndjson:1: name: is taken by another subject of this organization',
    ]);
  });

  it('refuses an address or an id in use at another organization, without saying whose', async () => {
    await fixture.load(fixture.school.files);
    const other = await fixture.database.organization();
    const twin = { ...fixture.school.userRow('twin'), email: fixture.school.tutor.email };
    const double = { ...fixture.school.userRow('double'), id: fixture.school.student.id };
    expect(
      await fixture.faultsOf({ users: [fixture.school.userRow('new'), twin, fixture.school.student] }, other),
    ).toEqual(['users.ndjson:2: email: is taken by another login']);
    // Knowing the id of a login gives no access to the person.
    expect(
      await fixture.faultsOf({ users: [fixture.school.tutor, double], parents: [{ user_id: double.id }] }, other),
    ).toEqual(['users.ndjson:2: id: is taken by another login']);
  });

  it('finds the lines that the database rejects', async () => {
    const relation = { tutor_id: fixture.school.tutor.id, student_id: fixture.school.student.id };
    const subjects = Array.from({ length: 9 }, (_, place) => ({ id: id(), name: `Subject ${place}` }));
    const relations = subjects.map((subject): Row => ({ id: id(), ...relation, subject_id: subject.id }));
    // Null counts as a value here, so a pair can have only one relation without a subject.
    for (const place of [1, 4, 7]) relations[place]!.subject_id = null;
    expect(await fixture.faultsOf(fixture.school.with({ subjects, tutor_students: relations }))).toEqual([
      'tutor_students.ndjson:5: tutor_id, student_id, subject_id: is taken',
      'tutor_students.ndjson:8: tutor_id, student_id, subject_id: is taken',
    ]);
    expect(await fixture.database.as(fixture.organization, 'SELECT FROM members')).toEqual([]);
  });

  it('refuses rows that the database would assign to another organization', async () => {
    await fixture.load(fixture.school.files);
    const other = await fixture.database.organization();
    const { tutor } = fixture.school;
    const files = {
      users: [tutor],
      parents: [{ user_id: tutor.id }],
      homework: [homeworkRow(tutor.id as string)],
    };
    expect(await fixture.faultsOf(files, other)).toEqual([
      'homework.ndjson:1: assigned_by: this homework would belong to another organization',
    ]);
    const group = { id: id(), name: 'x', owned: false, tutor_id: tutor.id };
    expect(
      await fixture.faultsOf({ users: [tutor], parents: [{ user_id: tutor.id }], student_groups: [group] }, other),
    ).toEqual(['student_groups.ndjson:1: tutor_id: this student group would belong to another organization']);
  });

  it('refuses ids of another organization, in every table', async () => {
    const theirs = new ImportedOrganization();
    const taken = id();
    const group = { id: id(), name: 'Theirs' };
    const all = (of: ImportedOrganization): Record<string, Row[]> =>
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
    const other = await fixture.database.organization();
    await fixture.load(all(theirs), other);
    const conversation = theirs.conversation();
    await fixture.load(conversation, other);

    const tables = all(fixture.school);
    for (const table of [
      'subjects',
      'classrooms',
      'student_groups',
      'homework',
      'session_feedback',
      'results',
      'invoices',
    ]) {
      const files = { ...fixture.school.files, [table]: tables[table]! };
      expect(await fixture.faultsOf(files), table).toEqual([`${table}.ndjson:1: id: is taken`]);
    }
    const ours = fixture.school.conversation();
    const seats = ours.conversation_participants!.map((seat) => ({
      ...seat,
      conversation_id: conversation.conversations![0]!.id,
    }));
    const stolen = { ...ours.conversations![0]!, id: conversation.conversations![0]!.id };
    expect(
      await fixture.faultsOf(fixture.school.with({ conversations: [stolen], conversation_participants: seats })),
    ).toEqual(['conversations.ndjson:1: id: is taken']);
    const message = { ...ours.messages![0]!, id: conversation.messages![0]!.id };
    expect(await fixture.faultsOf(fixture.school.with({ ...ours, messages: [message] }))).toEqual([
      'messages.ndjson:1: id: is taken',
    ]);
    const seat = { ...ours.conversation_participants![0]!, id: conversation.conversation_participants![0]!.id };
    expect(await fixture.faultsOf(fixture.school.with({ ...ours, conversation_participants: [seat] }))).toEqual([
      'conversation_participants.ndjson:1: id: is taken',
    ]);
  });

  it('leaves nothing behind when the last file fails', async () => {
    const before = await Promise.all(
      ['users', 'members', 'sessions', 'session_students'].map((table) => fixture.count(table)),
    );
    const post = { id: id(), brand: 'primary', title: 'x', slug: 'x' };
    const other = await fixture.database.organization();
    await fixture.load({ blog_posts: [post] }, other);
    expect(await fixture.faultsOf(fixture.school.with({ blog_posts: [post] }))).toEqual([
      'blog_posts.ndjson:1: id: is taken',
    ]);
    expect(
      await Promise.all(['users', 'members', 'sessions', 'session_students'].map((table) => fixture.count(table))),
    ).toEqual(before);
  });

  it('refuses unknown files and empty folders', async () => {
    expect(await fixture.faultsOf({ homeworks: '', api_keys: '' })).toEqual([
      expect.stringMatching(/^api_keys\.ndjson: is not a table that can be imported \(users, members, /),
      expect.stringMatching(/^homeworks\.ndjson: is not a table that can be imported/),
    ]);
    expect(await fixture.faultsOf({})).toEqual([expect.stringMatching(/: contains no \.ndjson files$/)]);
  });

  it('requires an existing organization', async () => {
    await expect(fixture.load(fixture.school.files, UUID)).rejects.toThrow(`There is no organization ${UUID}`);
    await expect(fixture.load(fixture.school.files, 'none')).rejects.toThrow(/uuid/);
  });
});
