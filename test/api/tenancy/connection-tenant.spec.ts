import { request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import sql from 'sql-template-tag';
import { Database } from '@app/database';
import { Random } from '../../support/data/random.js';
import { createFixtures, type OrganizationFixture } from '../../support/data/fixtures.js';
import { organizationsLeft, POOL } from '../../support/database/api-pool.js';
import { forgetKeyUsage } from '../../support/database/read-statements.js';
import { TestApi } from '../../support/http/api.js';
import { keyedReads, validPath } from '../../support/http/routes.js';
import { fixture } from '../../support/process/fixture.js';

forgetKeyUsage();
const api = await fixture(TestApi.start({ DATABASE_POOL_SIZE: String(POOL) }));
const fixtures = await createFixtures(api);

describe('the organization that a connection worked for', () => {
  it('is reset after a failure and after a statement timeout', async () => {
    const db = api.app.get(Database);
    const tenant = { organizationId: fixtures.a.id };
    const failures = [
      [sql`SELECT 1 / 0`],
      [sql`SELECT 'x'::uuid`],
      [sql`SELECT FROM nowhere`],
      [sql`SELECT set_config('statement_timeout', '50ms', true)`, sql`SELECT pg_sleep(60)`],
    ];
    const codes = await Promise.all(
      failures.map((statements) => db.read(tenant, ...statements).catch((error: unknown) => (error as { code: string }).code)),
    );
    expect(codes).toEqual(['22012', '22P02', '42P01', '57014']);
    expect(await organizationsLeft(api)).toEqual([]);
  });

  it('is reset after a client hangs up and never used by another request', async () => {
    const random = new Random(17);
    const schools = [fixtures.a, fixtures.b, fixtures.c];
    const routes = keyedReads(api);
    let aborted = 0;
    const answered = new Map<string, number>();
    const one = async (): Promise<void> => {
      const school = random.pick(schools);
      const route = random.pick(routes);
      const body = await ask(validPath(route, school), school, random.chance(0.1) ? random.integer(8) : null);
      if (body === null) {
        aborted++;
        return;
      }
      answered.set(school.id, (answered.get(school.id) ?? 0) + 1);
      for (const other of schools) {
        if (other !== school) expect([...other.ids, other.id].filter((id) => body.includes(id))).toEqual([]);
      }
    };
    const worker = async (): Promise<void> => {
      // A fast machine answers before most have hung up.
      for (let n = 0; n < 100 || (aborted <= 50 && n < 400); n++) await one();
    };
    await Promise.all(Array.from({ length: 15 }, worker));
    expect(aborted).toBeGreaterThan(50);
    expect([...answered.values()].every((count) => count > 300)).toBe(true);
    await vi.waitFor(async () => expect(await organizationsLeft(api)).toEqual([]));
    await vi.waitFor(() => {
      const { total, idle, waiting } = api.app.get(Database).poolState;
      expect([idle, waiting]).toEqual([total, 0]);
    });
  });

  /** The body of the answer, or null if this client hung up before it arrived. */
  function ask(path: string, { key }: OrganizationFixture, hangUpAfter: number | null): Promise<string | null> {
    const { port } = api.server.address() as AddressInfo;
    return new Promise((resolve, reject) => {
      const headers = { Authorization: `Token token=${key}` };
      const sent = send({ host: '127.0.0.1', port, path, headers }, (response) => {
        let body = '';
        response.setEncoding('utf8').on('data', (part: string) => (body += part));
        response.on('end', () => (response.statusCode === 200 ? resolve(body) : reject(new Error(body))));
        response.on('error', () => resolve(null));
      });
      sent.on('error', (error) => (hangUpAfter === null ? reject(error) : resolve(null)));
      sent.end();
      if (hangUpAfter !== null) setTimeout(() => sent.destroy(), hangUpAfter);
    });
  }
});
