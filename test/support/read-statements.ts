import pg from 'pg';
import { KeyUsage } from '../../apps/api/src/http/auth/key-usage.js';
import { call, nameOf, type Route } from './routes.js';
import type { TestApi } from './api.js';
import type { School } from './world.js';

/** A statement as it goes to PostgreSQL. */
export interface Statement {
  text: string;
  values: unknown[];
}

/** What goes before and after the statements of a read, and finds the caller: not about the organization's data. */
export const FRAME = /^\s*(SELECT set_config\(|SELECT \* FROM api_key_by_hash\()/i;

/** `last_used_at` is written by a timer: a write that would stand among the statements of whatever read runs just then. */
export function forgetKeyUsage(): void {
  vi.spyOn(KeyUsage.prototype, 'note').mockImplementation(() => undefined);
}

/** A batch has several; anything else is a query as the driver takes it. */
export function statementsOf(sent: unknown): Statement[] {
  if (typeof sent === 'string') return [{ text: sent, values: [] }];
  const { statements, text, values = [] } = sent as { statements?: Statement[] } & Partial<Statement>;
  return statements ?? [{ text: text!, values }];
}

/** The statements that a read of `school` sends, whatever way the code takes to the database: all end at the driver. */
export async function statementsFor(
  api: TestApi,
  route: Route,
  school: School,
  options: { key?: string; query?: string } = {},
): Promise<Statement[]> {
  const query = vi.spyOn(pg.Client.prototype, 'query');
  try {
    await call(api, route, school, options);
    const statements = query.mock.calls.flatMap((args, index) => {
      const client = query.mock.contexts[index] as { connectionParameters?: { application_name?: string } };
      if (client.connectionParameters?.application_name !== 'tutoring api') return [];
      return statementsOf(args[0]).filter(({ text }) => !FRAME.test(text));
    });
    if (statements.length === 0) throw new Error(`${nameOf(route)}${options.query ?? ''} was answered without a query`);
    return statements;
  } finally {
    query.mockRestore();
  }
}
