import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ImportError, importFolder, type ImportOptions, type ImportReport } from '../../../apps/cli/src/import/importer.js';
import { messageRow, type Row, sessionRow, SchemaFixture } from '../database/schema-fixture.js';

/** Import files by table: rows, raw lines, or the whole text. */
export type Files = Record<string, (Row | string)[] | string | Buffer>;

/** A small school's files: a tutor and a student with a session. Tests add more. */
export class ImportedOrganization {
  readonly tutor = this.userRow('tutor');
  readonly student = this.userRow('student');
  readonly files: Record<string, Row[]> = {
    users: [this.tutor, this.student],
    members: [this.memberRow(this.tutor, 'tutor'), this.memberRow(this.student, 'student')],
    sessions: [{ ...without(sessionRow('', this.student.id as string), 'organization_id'), tutor_id: this.tutor.id }],
  };

  userRow(name: string): Row {
    return { id: randomUUID(), email: `${name}-${randomUUID()}@example.com`, first_name: name, last_name: 'Nguyen' };
  }

  memberRow(user: Row, role: string): Row {
    return { id: randomUUID(), user_id: user.id, role };
  }

  /** Adds rows. */
  with(more: Record<string, Row[]>): Record<string, Row[]> {
    const files = { ...this.files };
    for (const [table, rows] of Object.entries(more)) files[table] = [...(files[table] ?? []), ...rows];
    return files;
  }

  /** Adds a conversation between the tutor and the student, with one message. */
  conversation(): Record<string, Row[]> {
    const conversation = { id: randomUUID(), type: 'direct' };
    const seat = (user: Row, role: string) => ({ id: randomUUID(), conversation_id: conversation.id, user_id: user.id, role });
    return {
      conversations: [conversation],
      conversation_participants: [seat(this.tutor, 'teacher'), seat(this.student, 'student')],
      messages: [without(messageRow('', conversation.id, '2026-03-02T09:00:00Z'), 'organization_id')],
    };
  }
}

export function without(row: Row, ...names: string[]): Row {
  return Object.fromEntries(Object.entries(row).filter(([name]) => !names.includes(name)));
}

/** Imports files into the test's own organization. */
export class ImportFixture {
  /** This test's organization: see {@link renew}. */
  organization: string;
  school: ImportedOrganization;
  private readonly folders: string[] = [];

  private constructor(readonly database: SchemaFixture) {}

  static async open(): Promise<ImportFixture> {
    return new ImportFixture(await SchemaFixture.create());
  }

  /** Creates a new organization and school for the next test. */
  async renew(): Promise<void> {
    this.organization = await this.database.organization();
    this.school = new ImportedOrganization();
  }

  async close(): Promise<void> {
    await this.database.stop();
    await Promise.all(this.folders.map((folder) => rm(folder, { recursive: true, force: true })));
  }

  /** @returns the folder */
  async write(files: Files): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), 'tutoring-import-'));
    this.folders.push(folder);
    for (const [table, content] of Object.entries(files)) {
      const text = Array.isArray(content) ? content.map((row) => `${asLine(row)}\n`).join('') : content;
      await writeFile(join(folder, `${table}.ndjson`), text);
    }
    return folder;
  }

  async load(files: Files, into = this.organization, how: Pick<ImportOptions, 'update' | 'dryRun'> = {}): Promise<ImportReport['tables']> {
    const folder = await this.write(files);
    return (await importFolder({ url: this.database.urls.ownerUrl, organizationId: into, folder, ...how })).tables;
  }

  /** Runs an import that must fail. @returns the lines of its report */
  async faultsOf(files: Files, into = this.organization, how: Pick<ImportOptions, 'update' | 'dryRun'> = {}): Promise<string[]> {
    const error = await this.load(files, into, how).then(
      () => new Error('The import succeeded'),
      (thrown: unknown) => thrown,
    );
    if (!(error instanceof ImportError)) throw error;
    return error.message.split('\n');
  }

  /** Rows that the test's own organization sees. */
  rows(sql: string): Promise<Row[]> {
    return this.database.as(this.organization, sql);
  }

  async count(table: string): Promise<number> {
    return Number((await this.database.all(`SELECT count(*) AS n FROM ${table}`))[0]!.n);
  }
}

function asLine(row: Row | string): string {
  return typeof row === 'string' ? row : JSON.stringify(row);
}
