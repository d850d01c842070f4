import pg from 'pg';
import { SchemaFixture } from '../support/database/schema-fixture.js';
import { fixture } from '../support/process/fixture.js';

/** What servers with LLVM, such as Debian's, do with the plans of this service. */
const schema = await fixture(SchemaFixture.create());
const { urls } = schema;

/** A superuser, who has compiling on. */
const admin = await fixture(
  (async () => {
    const client = new pg.Client({ connectionString: urls.adminUrl });
    await client.connect();
    await client.query('SET jit = on');
    return { client, stop: () => client.end() };
  })(),
);

describe('compiling plans (jit)', () => {
  it('is off for the roles of all processes and the owner', async () => {
    for (const url of [urls.ownerUrl, ...Object.values(urls.processUrls)]) {
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      const { rows } = await client.query('SHOW jit').finally(() => client.end());
      expect([new URL(url).username, rows]).toEqual([new URL(url).username, [{ jit: 'off' }]]);
    }
  });

  it('is off in every function that runs as the owner, and in those that disable kinds of plans', async () => {
    const { rows } = await admin.client.query<{ name: string }>(`
      SELECT proname AS name FROM pg_proc WHERE pronamespace = 'public'::regnamespace
        AND (prosecdef OR prosrc ~ 'enable_') AND NOT coalesce(proconfig @> '{jit=off}', false)`);
    expect(rows).toEqual([]);
  });

  it('happens to no claim, whoever claims', async () => {
    const plans: string[] = [];
    admin.client.on('notice', ({ message = '' }) => plans.push(message));
    const explained = async (statement: string) => {
      plans.length = 0;
      await admin.client.query(statement);
      return plans.join('\n');
    };
    await admin.client.query(`LOAD 'auto_explain'; SET auto_explain.log_min_duration = 0; SET auto_explain.log_level = notice;
      SET auto_explain.log_analyze = on; SET auto_explain.log_nested_statements = on`);
    const { rows } = await admin.client.query<{ compiles: boolean }>('SELECT pg_jit_available() AS compiles');
    const dear = await explained('SET jit_above_cost = 0; SELECT count(*) FROM outbox; RESET jit_above_cost');
    expect([dear.includes('outbox'), dear.includes('JIT:')]).toEqual([true, rows[0]!.compiles]);
    for (const topic of ['email', 'rebuild']) {
      const claim = await explained(`SELECT * FROM claim_outbox('${topic}', 'worker', 8, interval '1 minute')`);
      expect(claim).toContain('outbox_turns');
      expect(claim).not.toContain('JIT:');
    }
  });
});
