import pg from 'pg';
import { KeyUsage } from '../../../apps/api/src/http/auth/key-usage.js';
import { type Answer, call, nameOf, type Route } from '../http/routes.js';
import type { TestApi } from '../http/api.js';
import type { OrganizationFixture } from '../data/fixtures.js';

/** A statement as sent to PostgreSQL. */
export interface Statement {
  text: string;
  values: unknown[];
}

/** Statements around a read, for authentication and for readiness, which do not touch the organization's data. */
export const FRAME =
  /^\s*(SELECT set_config\(|SELECT [^(]* FROM (api_key_by_hash|outbox_backlog|newest_events|number_events)\(|SELECT event_lag\()|FROM worker_heartbeats|'migrations'|FROM migrations/i;

/** Disables `last_used_at`. A timer writes it, so its statements would appear among those of a concurrent read. */
export function forgetKeyUsage(): void {
  vi.spyOn(KeyUsage.prototype, 'note').mockImplementation(() => undefined);
}

/** A batch has several statements; anything else is a query in the driver's form. */
export function statementsOf(sent: unknown): Statement[] {
  if (typeof sent === 'string') return [{ text: sent, values: [] }];
  const { statements, text, values = [] } = sent as { statements?: Statement[] } & Partial<Statement>;
  return statements ?? [{ text: text!, values }];
}

/** All statements that a process sends during some work, captured at the driver, whatever code sends them. */
export async function sentDuring<T>(application: string, work: () => Promise<T>): Promise<{ statements: Statement[]; answer: T }> {
  const query = vi.spyOn(pg.Client.prototype, 'query');
  try {
    const answer = await work();
    const statements = query.mock.calls.flatMap((args, index) => {
      const client = query.mock.contexts[index] as { connectionParameters?: { application_name?: string } };
      if (client.connectionParameters?.application_name !== application) return [];
      return statementsOf(args[0]).filter(({ text }) => !FRAME.test(text));
    });
    return { statements, answer };
  } finally {
    query.mockRestore();
  }
}

/** The statements of a read of `school`, and its answer. */
export async function readBy(
  api: TestApi,
  route: Route,
  school: OrganizationFixture,
  options: { key?: string; query?: string } = {},
): Promise<{ statements: Statement[]; answer: Answer }> {
  const read = await sentDuring('tutoring api', () => call(api, route, school, options));
  if (read.statements.length === 0) throw new Error(`${nameOf(route)}${options.query ?? ''} was answered without a query`);
  return read;
}

/** The statements alone. */
export const statementsFor = async (...read: Parameters<typeof readBy>): Promise<Statement[]> => (await readBy(...read)).statements;
