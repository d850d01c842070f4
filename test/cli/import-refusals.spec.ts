import { randomUUID as id } from 'node:crypto';
import { homeworkRow, resultRow, type Row } from '../support/database/schema-fixture.js';
import { ImportFixture, ImportedOrganization } from '../support/data/import-fixture.js';
import { fixture } from '../support/process/fixture.js';

const UUID = '0190a6f2-5c1e-7d3a-9b4f-2e8c6d1a7f30';

const imports = await fixture(ImportFixture.open());

describe('an import with invalid rows', () => {
  beforeEach(() => imports.renew());

  it('names every line with a reference to a missing record', async () => {
    const other = await imports.database.organization();
    const theirs = new ImportedOrganization();
    const subject_id = id();
    await imports.load(theirs.with({ subjects: [{ id: subject_id, name: 'Physics' }] }), other);
    const relation = { tutor_id: imports.school.tutor.id, student_id: imports.school.student.id };
    const files = imports.school.with({
      classrooms: [
        { id: id(), name: 'Ours', tutor_id: imports.school.tutor.id },
        { id: id(), name: 'Theirs', tutor_id: theirs.tutor.id, subject_id },
      ],
      tutor_students: [{ id: id(), ...relation, subject_id }],
      results: [resultRow(theirs.student.id as string)],
      homework: [homeworkRow(theirs.tutor.id as string)],
    });
    expect(await imports.faultsOf(files)).toEqual([
      'tutor_students.ndjson:1: subject_id: no such subject in this organization',
      'classrooms.ndjson:2: subject_id: no such subject in this organization',
      'classrooms.ndjson:2: tutor_id: no such member in this organization',
      'homework.ndjson:1: assigned_by: no such user in this organization',
      'results.ndjson:1: student_id: no such member in this organization',
    ]);
  });

  it('requires messages in order, and conversations of this organization', async () => {
    const { conversations, conversation_participants, messages } = imports.school.conversation();
    const answer = { ...messages![0]!, id: id(), reply_to_id: messages![0]!.id };
    const swapped = { conversations: conversations!, conversation_participants: conversation_participants! };
    expect(await imports.faultsOf(imports.school.with({ ...swapped, messages: [answer, messages![0]!] }))).toEqual([
      'messages.ndjson:1: reply_to_id: no such message in this organization, nor on an earlier line',
    ]);
    await imports.load(imports.school.with({ ...swapped, messages: [messages![0]!, answer] }));

    const other = await imports.database.organization();
    const message = 'has no participant from this organization (see conversation_participants.ndjson)';
    const theirs = new ImportedOrganization();
    const stranger = theirs.conversation();
    expect(await imports.faultsOf({ conversations: stranger.conversations! }, other)).toEqual([`conversations.ndjson:1: id: ${message}`]);
    const without = { users: theirs.files.users!, ...stranger };
    expect(await imports.faultsOf(without, other)).toEqual([`conversations.ndjson:1: id: ${message}`]);
    expect(await imports.faultsOf({ messages: [answer] }, other)).toEqual([
      'messages.ndjson:1: conversation_id: no such conversation in this organization',
      'messages.ndjson:1: reply_to_id: no such message in this organization, nor on an earlier line',
    ]);
  });

  it('refuses duplicate keys', async () => {
    const subject = { id: UUID, name: 'Physics' };
    const again = { id: UUID.toUpperCase(), name: 'Chemistry' };
    const parent = { parent_id: imports.school.student.id, student_id: imports.school.tutor.id };
    const files = imports.school.with({
      subjects: [subject, again],
      parents: [{ user_id: imports.school.student.id }],
      parent_students: [parent, parent],
    });
    expect(await imports.faultsOf(files)).toEqual([
      'subjects.ndjson:2: id: is the same as on line 1',
      'parent_students.ndjson:2: parent_id, student_id: is the same as on line 1',
    ]);
  });

  it('refuses values that are not unique, within the files and against existing rows', async () => {
    await imports.load(imports.school.with({ subjects: [{ id: id(), name: 'Physics' }] }));
    const twin = {
      ...imports.school.userRow('twin'),
      email: ` ${(imports.school.tutor.email as string).toUpperCase()}`,
    };
    const pair = [imports.school.userRow('one'), imports.school.userRow('two')];
    pair[1]!.email = pair[0]!.email;
    expect(await imports.faultsOf({ users: [twin, ...pair], subjects: [{ id: id(), name: 'Physics' }] })).toEqual([
      'users.ndjson:1: email: is taken by another login',
      'users.ndjson:3: email: is the same as on line 2',
      'subjects.ndjson:1: name: is taken by another subject of this organization',
    ]);
  });

  it('refuses an address or an id in use at another organization, without saying whose', async () => {
    await imports.load(imports.school.files);
    const other = await imports.database.organization();
    const twin = { ...imports.school.userRow('twin'), email: imports.school.tutor.email };
    const double = { ...imports.school.userRow('double'), id: imports.school.student.id };
    expect(await imports.faultsOf({ users: [imports.school.userRow('new'), twin, imports.school.student] }, other)).toEqual([
      'users.ndjson:2: email: is taken by another login',
    ]);
    // Knowing the id of a login gives no access to the person.
    expect(await imports.faultsOf({ users: [imports.school.tutor, double], parents: [{ user_id: double.id }] }, other)).toEqual([
      'users.ndjson:2: id: is taken by another login',
    ]);
  });

  it('finds the lines that the database rejects', async () => {
    const relation = { tutor_id: imports.school.tutor.id, student_id: imports.school.student.id };
    const subjects = Array.from({ length: 9 }, (_, place) => ({ id: id(), name: `Subject ${place}` }));
    const relations = subjects.map((subject): Row => ({ id: id(), ...relation, subject_id: subject.id }));
    // Null counts as a value here, so a pair can have only one relation without a subject.
    for (const place of [1, 4, 7]) relations[place]!.subject_id = null;
    expect(await imports.faultsOf(imports.school.with({ subjects, tutor_students: relations }))).toEqual([
      'tutor_students.ndjson:5: tutor_id, student_id, subject_id: is taken',
      'tutor_students.ndjson:8: tutor_id, student_id, subject_id: is taken',
    ]);
    expect(await imports.rows('SELECT FROM members')).toEqual([]);
  });

  it('refuses rows that the database would assign to another organization', async () => {
    await imports.load(imports.school.files);
    const other = await imports.database.organization();
    const { tutor } = imports.school;
    const known = { users: [tutor], members: [imports.school.memberRow(tutor, 'tutor')] };
    const files = { ...known, homework: [homeworkRow(tutor.id as string)] };
    expect(await imports.faultsOf(files, other)).toEqual(['homework.ndjson:1: assigned_by: this homework would belong to another organization']);
    const group = { id: id(), name: 'x', owned: false, tutor_id: tutor.id };
    expect(await imports.faultsOf({ ...known, student_groups: [group] }, other)).toEqual([
      'student_groups.ndjson:1: tutor_id: this student group would belong to another organization',
    ]);
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
        invoices: [{ id: taken, invoice_number: '1', student_id: of.student.id, status: 'open', amount_due_cents: 1, currency: 'AUD' }],
      });
    const other = await imports.database.organization();
    await imports.load(all(theirs), other);
    const conversation = theirs.conversation();
    await imports.load(conversation, other);

    const tables = all(imports.school);
    const owned = ['subjects', 'classrooms', 'student_groups', 'homework', 'session_feedback', 'results', 'invoices'];
    for (const table of owned) {
      const files = { ...imports.school.files, [table]: tables[table]! };
      expect(await imports.faultsOf(files), table).toEqual([`${table}.ndjson:1: id: is taken`]);
    }
    const ours = imports.school.conversation();
    const seats = ours.conversation_participants!.map((seat) => ({ ...seat, conversation_id: conversation.conversations![0]!.id }));
    const stolen = { ...ours.conversations![0]!, id: conversation.conversations![0]!.id };
    expect(await imports.faultsOf(imports.school.with({ conversations: [stolen], conversation_participants: seats }))).toEqual([
      'conversations.ndjson:1: id: is taken',
    ]);
    const message = { ...ours.messages![0]!, id: conversation.messages![0]!.id };
    expect(await imports.faultsOf(imports.school.with({ ...ours, messages: [message] }))).toEqual(['messages.ndjson:1: id: is taken']);
    const seat = { ...ours.conversation_participants![0]!, id: conversation.conversation_participants![0]!.id };
    expect(await imports.faultsOf(imports.school.with({ ...ours, conversation_participants: [seat] }))).toEqual([
      'conversation_participants.ndjson:1: id: is taken',
    ]);
  });

  it('leaves nothing behind when the last file fails', async () => {
    const counts = () => Promise.all(['users', 'members', 'sessions', 'session_students'].map((table) => imports.count(table)));
    const before = await counts();
    const post = { id: id(), brand: 'primary', title: 'x', slug: 'x' };
    const other = await imports.database.organization();
    await imports.load({ blog_posts: [post] }, other);
    expect(await imports.faultsOf(imports.school.with({ blog_posts: [post] }))).toEqual(['blog_posts.ndjson:1: id: is taken']);
    expect(await counts()).toEqual(before);
  });

  it('refuses unknown files and empty folders', async () => {
    expect(await imports.faultsOf({ homeworks: '', api_keys: '' })).toEqual([
      expect.stringMatching(/^api_keys\.ndjson: is not a table that can be imported \(users, .*\bmembers, /),
      expect.stringMatching(/^homeworks\.ndjson: is not a table that can be imported/),
    ]);
    expect(await imports.faultsOf({})).toEqual([expect.stringMatching(/: contains no \.ndjson files$/)]);
  });
});
