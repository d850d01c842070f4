import type { Sql } from 'sql-template-tag';
import { loadEnv, Vault } from '@app/config';
import type { Database } from '@app/database';
import type { Caller } from '../apps/api/src/http/auth/caller.js';
import { CURSOR_START, Cursors } from '../apps/api/src/http/lists/cursor.js';
import type { LargeAnswers } from '../apps/api/src/http/lists/large-answers.js';
import type { PageQuery } from '../apps/api/src/http/lists/list.js';
import { Lists } from '../apps/api/src/http/lists/lists.js';
import type { Fairness } from '../apps/api/src/http/request/fairness.js';
import { HOMEWORK } from '../apps/api/src/areas/teaching/homework.controller.js';
import { STUDENTS } from '../apps/api/src/areas/people/students/students.queries.js';
import { asAdmin, type BenchDatabase } from './database.js';

/** A request, and the statements that the API sends to answer it. */
export interface Page {
  name: string;
  path: string;
  /** If empty, the bare server only looks up the key. */
  statements: Statement[];
}

export interface Statement {
  text: string;
  values: unknown[];
}

/** A row of every statement that a list sends. */
const ROW = { data: null, count: 0, total: 0, more: false, created_at: null, id: null };

/** Records what the API's own code sends, so that the bare server's queries stay the same. */
class Recorder {
  readonly statements: Statement[] = [];

  read(_tenant: unknown, ...statements: Sql[]): Promise<object[][]> {
    this.statements.push(...statements.map(({ text, values }) => ({ text, values })));
    return Promise.resolve(statements.map(() => [ROW]));
  }
}

/** The measured requests; the targets apply to the first one. */
export async function pages({
  adminUrl,
  organizationId,
  encryptionKey,
  homeworkRows,
}: BenchDatabase): Promise<[Page, ...Page[]]> {
  const vault = new Vault(loadEnv({ ENCRYPTION_KEY: encryptionKey }, {}));
  const cursors = new Cursors(vault);
  const caller = { organizationId } as Caller;
  const record = async (send: (lists: Lists) => Promise<unknown>) => {
    const recorder = new Recorder();
    await send(new Lists(recorder as unknown as Database, cursors, {} as Fairness, {} as LargeAnswers, vault));
    return recorder.statements;
  };
  const homework = (query: Partial<PageQuery>) =>
    record((lists) => lists.page(caller, HOMEWORK, Object.assign(new HOMEWORK.query(), query)));
  const half = await rowAt(adminUrl, organizationId, homeworkRows / 2);
  const deep = cursors.encode(half, { organizationId, list: HOMEWORK.id, filters: {} });
  return [
    { name: 'homework page', path: '/v1/homework?limit=20', statements: await homework({}) },
    {
      name: 'homework, first cursor page',
      path: `/v1/homework?limit=20&cursor=${CURSOR_START}`,
      statements: await homework({ cursor: CURSOR_START }),
    },
    {
      name: `homework, cursor ${homeworkRows / 2} rows deep`,
      path: `/v1/homework?limit=20&cursor=${deep}`,
      statements: await homework({ cursor: deep }),
    },
    {
      name: 'students page, counted',
      path: '/v1/students?limit=20',
      statements: await record((lists) => lists.page(caller, STUDENTS, new STUDENTS.query())),
    },
    { name: 'ping', path: '/v1/ping', statements: [] },
  ];
}

/** The position of a homework row in the list, newest first. */
async function rowAt(adminUrl: string, organizationId: string, offset: number): Promise<{ at: Date; id: string }> {
  return asAdmin(adminUrl, async (admin) => {
    const { rows } = await admin.query<{ created_at: Date; id: string }>(
      'SELECT created_at, id FROM homework WHERE organization_id = $1 ORDER BY created_at DESC, id DESC LIMIT 1 OFFSET $2',
      [organizationId, offset],
    );
    return { at: rows[0]!.created_at, id: rows[0]!.id };
  });
}
