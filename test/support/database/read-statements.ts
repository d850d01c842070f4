import pg from 'pg';
import { KeyUsage } from '../../../apps/api/src/http/auth/key-usage.js';
import { call, nameOf, type Route } from '../http/routes.js';
import type { TestApi } from '../http/api.js';
import type { OrganizationFixture } from '../data/fixtures.js';

/** A statement as sent to PostgreSQL. */
export interface Statement {
  text: string;
  values: unknown[];
}

/** Statements around a read, for authentication and for readiness, which do not touch the organization's data. */
export const FRAME =
  /^\s*(SELECT set_config\(|SELECT [^(]* FROM (api_key_by_hash|outbox_backlog|newest_events|number_events)\(|SELECT event_lag\()|FROM worker_heartbeats|'migrations'/i;

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

/** All statements that a read of `school` sends, captured at the driver, whatever code sends them. */
export async function statementsFor(
  api: TestApi,
  route: Route,
  school: OrganizationFixture,
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
