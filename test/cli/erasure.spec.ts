import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { v7 as uuidv7 } from 'uuid';
import { loadEnv, Vault } from '@app/config';
import { readColumns } from '../support/database/columns.js';
import { createTestDatabase, urlsOf } from '../support/database/database.js';
import { Canary } from '../support/data/canary.js';
import { Factories } from '../support/data/factories.js';
import type { Row } from '../support/data/sample-rows.js';
import { filesBelow, rowsWith } from '../support/data/traces.js';
import { results } from '../support/process/cli.js';
import { runHere } from '../support/process/commands.js';
import { fixture } from '../support/process/fixture.js';

const KEY = '07'.repeat(32);
const database = await fixture(createTestDatabase());
const make = await Factories.connect(database);
const dataDir = mkdtempSync(join(tmpdir(), 'erasure-'));
const settings = { ...urlsOf(database), DATA_DIR: dataDir, ENCRYPTION_KEY: KEY };
const cli = (...args: string[]) => runHere(['--json', ...args], settings);
const vault = new Vault(loadEnv({ ENCRYPTION_KEY: KEY }));

afterAll(async () => {
  await make.close();
  rmSync(dataDir, { recursive: true, force: true });
});

/** All rows without these texts, but for logs and counters. */
async function others(...texts: string[]): Promise<Set<string>> {
  const tables = await make.query<{ name: string }>(`SELECT relname AS name FROM pg_class
    WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND relname <> ALL ('{event_changes,list_counts,worker_heartbeats}') ORDER BY 1`);
  const all = new Set<string>();
  for (const { name } of tables) {
    const rows = await make.query<{ row: string }>(
      `SELECT '${name} ' || t::text AS row FROM ${name} t WHERE NOT EXISTS (SELECT FROM unnest($1::text[]) w WHERE position(lower(w) IN lower(t::text)) > 0)`,
      [texts],
    );
    for (const { row } of rows) all.add(row);
  }
  return all;
}

async function document(organizationId: string, studentId: string, ownerId: string, word: string): Promise<string> {
  const id = uuidv7();
  await make.row('uploads', { id, organizationId, name: `${word}.pdf`, mime: 'application/pdf', sizeBytes: word.length });
  await make.insert('files', [{ id: uuidv7(), organization_id: organizationId, scope: 'private', title: word, resource_type: 'file', file_url: null, upload_id: id, student_id: studentId, owner_id: ownerId }]); // prettier-ignore
  const path = join(dataDir, 'private', organizationId, id);
  mkdirSync(join(dataDir, 'private', organizationId), { recursive: true });
  writeFileSync(path, word);
  return path;
}

describe('erase-person', () => {
  it('leaves nothing of the person anywhere, and all of everybody else', async () => {
    const canary = new Canary(make, await readColumns((text) => make.query(text)));
    const { id: school, slug } = await make.organization({ slug: 'erasing' });
    const [person, neighbour] = [await canary.somebody(school, 'Canary'), await canary.somebody(school, 'Wren')];
    await canary.mark(school, person, neighbour);
    await canary.mark(school, neighbour, person);
    const mine = await document(school, person.id, neighbour.id, 'Canary document');
    const theirs = await document(school, neighbour.id, neighbour.id, 'Wren document');
    const sealed = vault.seal('outbox payloads', JSON.stringify({ membership: { person: 'Canary First Canary Last' } }));
    await make.row('outbox', {
      id: uuidv7(),
      organizationId: school,
      topic: 'email',
      kind: 'member_removed',
      recipient: 'o@example.org',
      payload: sealed,
    });
    const answer = vault.seal(
      'idempotent answers',
      JSON.stringify({ status: 201, headers: {}, body: JSON.stringify({ email: person.email }), maker: '', others: {} }),
    );
    await make.row('idempotency_keys', {
      organizationId: school,
      operation: 'POST /v1/students',
      key: 'k',
      requestHash: Buffer.alloc(32),
      expiresAt: new Date('2100-01-01'),
      answer,
    });
    // What is theirs is reached by every kind of column.
    expect([...canary.written].filter(([one]) => one.startsWith('Canary')).length).toBeGreaterThan(60);

    while (Number((await make.query<{ n: string }>('SELECT made AS n FROM number_events()'))[0]!.n) > 0);
    const before = await others(person.id, 'canary');
    const shown = await cli('erase-person', '--org', slug, '--email', person.email);
    expect(shown).toMatchObject({ code: 0, stderr: '' });
    expect(await others(person.id, 'canary')).toEqual(before);
    const done = await cli('erase-person', '--org', slug, '--id', person.id, '--yes');
    expect(done).toMatchObject({ code: 0, stderr: '' });
    expect(results(done.stdout)[0]).toEqual({ ...results(shown.stdout)[0], done: true });

    const left = (await rowsWith(make, 'canary')).flatMap(({ table, row }) => row.match(/canary(?: \d+)?/gi)!.map((one) => ({ one, table })));
    expect(left.filter(({ one }) => !canary.mayStay(one))).toEqual([]);
    // Only the event names them, by their id.
    expect((await rowsWith(make, person.id)).map(({ table }) => table)).toEqual(['event_changes', 'event_changes']);
    const after = await others('nothing like this');
    // A conversation is as new as the last message that is left.
    const changed = [...before].filter((row) => !after.has(row)).map((row) => row.split(' ')[0]);
    expect(changed).toEqual(['conversations', 'idempotency_keys', 'outbox']);

    const stored = filesBelow(dataDir).filter((path) => !path.includes('postgres'));
    expect(stored).not.toContain(mine);
    expect(readFileSync(theirs, 'utf8')).toBe('Wren document');
    const texts = stored.map((path) => readFileSync(path, 'utf8')).join('\n');
    expect(texts).not.toMatch(/canary/i);
    const [entry] = readFileSync(join(dataDir, 'private', 'erased', school), 'utf8').trim().split('\n').map((line) => JSON.parse(line) as Row); // prettier-ignore
    expect(entry).toEqual({ person_id: person.id, erased_at: expect.any(String) as string, keep_results: false });
    const [mail] = await make.query('SELECT count(*)::int AS n FROM outbox WHERE payload = $1', [sealed]);
    expect(mail).toEqual({ n: 0 });
  });

  it('takes an organization’s tie alone while another one is tied to the login', async () => {
    const [here, there] = [await make.organization({ slug: 'tie-here' }), await make.organization({ slug: 'tie-there' })];
    const person = await make.student(here.id, { user: { firstName: 'Shared' }, status: 'archived', acceptedAt: new Date('2026-01-01') });
    await make.student(there.id, { user: { id: person.id } });
    const tutor = await make.tutor(there.id);
    const session = await make.session(there.id, { tutorId: tutor.id, studentId: person.id, title: 'Shared' });
    await make.participant(there.id, session.id, person.id);
    await make.result(person.id, { madeByOrganizationId: there.id });
    await make.result(person.id, { madeByOrganizationId: here.id });
    await make.session(here.id, { studentId: person.id, title: 'Shared' });
    const rowsOf = async (id: string) => (await rowsWith(make, id)).filter(({ table }) => table !== 'event_changes');
    const [elsewhere, login] = [await rowsOf(there.id), await make.find('users', person.id)];
    const done = await cli('erase-person', '--org', 'tie-here', '--id', person.id, '--yes');
    expect(results(done.stdout)[0]).toMatchObject({ gone: false, erased: { members: 1 } });
    expect(await rowsOf(there.id)).toEqual(elsewhere);
    expect(await make.find('users', person.id)).toEqual(login);
    const named = await make.query('SELECT supplied_last_name FROM members WHERE organization_id = $1', [here.id]);
    expect(named).toEqual([{ supplied_last_name: 'student' }]);
    const left = (await rowsOf(person.id)).filter(({ row }) => row.includes(here.id));
    expect(left).toEqual([]);
  });

  it('export and erasure of one organization show and change nothing of another that shares the person', async () => {
    const canary = new Canary(make, await readColumns((text) => make.query(text)));
    const [here, there] = [await make.organization({ slug: 'shares-here' }), await make.organization({ slug: 'shares-there' })];
    const shared = await canary.somebody(here.id, 'Heron');
    const known = await canary.somebody(there.id, 'Thrush', shared);
    await canary.mark(here.id, { ...shared, mark: 'Heron Here' }, await canary.somebody(here.id, 'Robin'));
    await canary.mark(there.id, { ...known, mark: 'Thrush There' }, await canary.somebody(there.id, 'Finch'));
    const exported = async (slug: string, name: string) => {
      const folder = join(dataDir, name);
      expect(await cli('export', folder, '--org', slug)).toMatchObject({ code: 0 });
      const files = filesBelow(folder).filter((path) => path.endsWith('.ndjson') && !path.includes('history'));
      const texts = new Map(files.map((path) => [path.slice(folder.length), readFileSync(path, 'utf8')]));
      const all = filesBelow(folder)
        .map((path) => readFileSync(path, 'utf8'))
        .join('\n');
      rmSync(folder, { recursive: true });
      return { texts, all };
    };
    const [mine, theirs] = [await exported('shares-here', 'mine'), await exported('shares-there', 'theirs')];
    expect([mine.all.includes('Heron Here'), /Thrush There|Finch/.test(mine.all), mine.all.includes(there.id)]).toEqual([true, false, false]);
    expect([theirs.all.includes('Thrush There'), /Heron Here|Robin/.test(theirs.all), theirs.all.includes(here.id)]).toEqual([true, false, false]);
    const erased = await cli('erase-person', '--org', 'shares-here', '--id', shared.id, '--yes');
    expect(results(erased.stdout)[0]).toMatchObject({ gone: false });
    expect((await exported('shares-there', 'after')).texts).toEqual(theirs.texts);
    const left = await exported('shares-here', 'left');
    expect([...left.texts.values()].join('')).not.toContain(shared.id);
  });

  it('keeps an issued invoice as printed, its money, and results without a name if that is wanted', async () => {
    const { id: school } = await make.organization({ slug: 'books' });
    const student = await make.student(school, {
      user: { firstName: 'Mia', lastName: 'Chen' },
      status: 'archived',
      acceptedAt: new Date('2026-01-01'),
    });
    const snapshot = { issued_on: '2026-01-01', buyer: { student_name: 'Mia Chen', name: 'Mia Chen', address: null } };
    const invoice = await make.invoice(school, student.id, { snapshot, taxCents: 0 });
    // Tax law no longer asks for this one.
    const old = await make.invoice(school, student.id, { snapshot, taxCents: 0, createdAt: new Date('2015-01-01') });
    const paper = (id: string) => join(dataDir, 'private', school, id);
    mkdirSync(join(dataDir, 'private', school), { recursive: true });
    const paid = await make.payment(school, { studentId: student.id, createdAt: new Date('2015-01-01') });
    const notes = await make.query<{ id: string }>(`SELECT md5('adjustment note of ' || id)::uuid AS id FROM unnest($1::uuid[]) id`, [
      [invoice.id, old.id],
    ]);
    for (const { id } of [invoice, old, paid, ...notes]) writeFileSync(paper(id), 'Mia Chen');
    await make.invoiceLine(school, invoice.id, { description: 'Lesson with Mia' });
    const payment = await make.payment(school, { studentId: student.id, invoiceId: invoice.id, reference: 'CHEN M' });
    const result = await make.result(student.id, { madeByOrganizationId: school, grade: 81 });
    expect(await cli('erase-person', '--org', 'books', '--id', student.id, '--keep-results', '--yes')).toMatchObject({ code: 0 });
    const after = await make.find('invoices', invoice.id);
    expect(after).toEqual({ ...invoice, studentId: after.studentId, personErased: true });
    expect(await make.find('invoices', old.id)).toMatchObject({ snapshot: { issued_on: '2026-01-01' }, personErased: true });
    expect([invoice, old, paid, ...notes].map(({ id }) => existsSync(paper(id)))).toEqual([true, false, false, true, false]);
    expect(after.studentId).not.toBe(student.id);
    expect(await make.find('payments', payment.id)).toEqual({ ...payment, studentId: after.studentId, reference: null, personErased: true });
    expect(await make.find('results', result.id)).toEqual({ ...result, studentId: after.studentId });
    expect((await rowsWith(make, 'Mia')).map(({ table }) => table)).toEqual(['invoice_lines', 'invoices']);
  });

  it('refuses somebody who belongs, one whom an owner holds, and a stranger', async () => {
    const { id: school } = await make.organization({ slug: 'refusing' });
    const student = await make.student(school);
    const erase = (id: string) => cli('erase-person', '--org', 'refusing', '--id', id, '--yes');
    expect(await erase(student.id)).toMatchObject({ code: 1, stderr: 'Only somebody whose membership has ended can be erased.\n' });
    await make.query(`UPDATE members SET status = 'archived' WHERE user_id = $1`, [student.id]);
    await make.row('holds', { organizationId: school, userId: student.id, reason: 'A dispute' });
    expect(await erase(student.id)).toMatchObject({ code: 1, stderr: 'An owner holds this person’s data.\n' });
    expect((await erase(uuidv7())).code).toBe(1);
    expect(await make.find('users', student.id)).toMatchObject({ firstName: 'Ada' });
  });

  it('erases again after a restore who was erased since, and nobody who has come back since', async () => {
    const { id: school } = await make.organization({ slug: 'restored' });
    const person = await make.student(school, { user: { firstName: 'Returned' }, createdAt: new Date('2026-01-01') });
    const member = await make.query('SELECT * FROM members WHERE user_id = $1', [person.id]);
    const login = await make.query('SELECT * FROM users WHERE id = $1', [person.id]);
    await make.query(`UPDATE members SET status = 'archived' WHERE user_id = $1`, [person.id]);
    expect(await cli('erase-person', '--org', 'restored', '--id', person.id, '--yes')).toMatchObject({ code: 0 });
    for (const [table, rows] of [
      ['users', login],
      ['members', member],
    ] as const) {
      const { phone_digits: _, ...row } = rows[0] as Row;
      await make.query(`INSERT INTO ${table} (${Object.keys(row).join(', ')}) SELECT ${Object.keys(row).join(', ')} FROM jsonb_populate_record(NULL::${table}, $1)`, [JSON.stringify(row)]); // prettier-ignore
    }
    expect(await cli('erase', '--again')).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining(person.id) as string });
    expect((await rowsWith(make, person.id, 'Returned')).filter(({ table }) => table !== 'event_changes')).toEqual([]);
    expect(await cli('erase', '--again')).toMatchObject({ code: 0, stdout: '' });
  });
});
