import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import ts from 'typescript';
import { ApiKeys, type Scope, SCOPES } from '@app/access';
import { loadEnv } from '@app/config';
import { rulesOn } from '../../../apps/cli/src/rules.js';
import { ApiProcess } from '../http/api-process.js';
import { CommitTrap } from '../database/commit-trap.js';
import { createEmptyDatabase, type TestDatabase } from '../database/database.js';
import { difference } from '../database/difference.js';
import { answerOf, type KillReport, type Victim, type VictimProcess } from './kill-harness.js';
import { type Account, type Mail, wantedOf } from './wanted-people.js';
import { OutboxFixture } from '../worker/worker.js';

/** All accounts, including incomplete ones. A person with two roles in an organization appears twice. */
export const ACCOUNTS = `
  SELECT u.id, u.last_name AS "lastName", t.user_id IS NOT NULL AS tied FROM users u LEFT JOIN (
    SELECT user_id FROM members UNION ALL SELECT user_id FROM parents
  ) t ON t.user_id = u.id`;

export const MAILS = `SELECT kind, recipient FROM outbox WHERE topic = 'email'`;

/** The API as deployed. */
export class ApiVictim implements Victim {
  private constructor(
    private readonly room: OutboxFixture,
    readonly trap: CommitTrap,
    readonly headers: Record<string, string>,
  ) {}

  static async open(): Promise<ApiVictim> {
    const room = await OutboxFixture.open();
    const keys = (await rulesOn(room.db, loadEnv(room.settings, {}))).get(ApiKeys);
    const { key } = await keys.create(room.organizationId, { name: 'kills', scopes: Object.keys(SCOPES) as Scope[] });
    return new ApiVictim(room, await CommitTrap.open(room.database.applicationUrl), {
      Authorization: `Token token=${key}`,
    });
  }

  start(): Promise<ApiProcess> {
    const settings = { DATABASE_URL: this.trap.url, DATABASE_POOL_SIZE: '5', NODE_ENV: 'production', REQUEST_DEADLINE_SECONDS: '60' };
    return ApiProcess.start({ ...this.room.settings, ...settings });
  }

  accounts(): Promise<Account[]> {
    return this.room.make.query(ACCOUNTS);
  }

  mails(): Promise<Mail[]> {
    return this.room.make.query(MAILS);
  }

  /** Compares audit rows, keys and links with one effect per round. @returns the surplus and missing ones */
  async leftovers({ rounds }: KillReport): Promise<string[]> {
    const audited = await this.room.make.query<{ request_id: string; ids: string[] }>(
      `SELECT request_id, details -> 'user_ids' AS ids FROM audit_log WHERE result = 'done' AND api_key_id IS NOT NULL`,
    );
    const keys = await this.room.make.query<{ key: string }>('SELECT key FROM idempotency_keys WHERE status = 200');
    const links = await this.room.make.query<{ name: string }>(
      `SELECT p.last_name || ' of ' || s.last_name AS name FROM parent_students l
       JOIN users p ON p.id = l.parent_id JOIN users s ON s.id = l.student_id`,
    );
    const found = [
      ...audited.map(({ request_id, ids }) => `audit ${request_id} ${ids.join()}`),
      ...keys.map(({ key }) => `key ${key}`),
      ...links.map(({ name }) => `link ${name}`),
    ];
    const expected = rounds.flatMap(({ name, rows, answers }) => {
      const { results } = answerOf(answers[0]!);
      const families = wantedOf(rows, results).filter(({ lastName }) => lastName.endsWith('-parent'));
      return [
        `audit ${name} ${results.map(({ id }) => id).join()}`,
        `key ${name}`,
        ...families.map(({ lastName }) => `link ${lastName} of ${lastName.replace('-parent', '')}`),
      ];
    });
    return difference(found, expected);
  }

  async close(): Promise<void> {
    await this.trap.close();
    await this.room.stop();
  }
}

const SCHEMA = `
  CREATE TABLE people (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), first_name text, last_name text, email text);
  CREATE TABLE mails (kind text, recipient text);
  CREATE TABLE answers (key text, body text)`;

/** An API with planted bugs: see naive-api.ts. */
export class NaiveVictim implements Victim {
  readonly headers = {};
  private readonly program = ts.transpileModule(readFileSync(fileURLToPath(new URL('../http/naive-api.ts', import.meta.url)), 'utf8'), {
    compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2023 },
  }).outputText;

  private constructor(
    private readonly database: TestDatabase,
    private readonly pool: pg.Pool,
  ) {}

  static async open(): Promise<NaiveVictim> {
    const database = await createEmptyDatabase();
    const pool = new pg.Pool({ connectionString: database.ownerUrl, max: 1 });
    await pool.query(SCHEMA);
    return new NaiveVictim(database, pool);
  }

  async start(): Promise<VictimProcess> {
    const child = spawn(process.execPath, ['--input-type=module', '-e', this.program, this.database.ownerUrl], {
      cwd: fileURLToPath(new URL('../../..', import.meta.url)),
      env: { PATH: process.env.PATH },
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    const [message] = (await Promise.race([
      once(child, 'message'),
      once(child, 'exit').then(() => {
        throw new Error('The naive API exited while starting');
      }),
    ])) as [{ listening: number }];
    return { port: message.listening, stop: () => killed(child) };
  }

  async accounts(): Promise<Account[]> {
    return (await this.pool.query<Account>('SELECT id, last_name AS "lastName", true AS tied FROM people')).rows;
  }

  async mails(): Promise<Mail[]> {
    return (await this.pool.query<Mail>('SELECT kind, recipient FROM mails')).rows;
  }

  async close(): Promise<void> {
    await this.pool.end();
    await this.database.drop();
  }
}

async function killed(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill('SIGKILL');
  await exit;
}
