import { TestApi } from '../../support/http/api.js';
import { send } from '../../support/http/routes.js';
import { createFixtures } from '../../support/data/fixtures.js';
import { fixture } from '../../support/process/fixture.js';

/** What a person wrote, which database errors may quote. */
const CANARY = 'StoredCanary';
const LEAK = /storedcanary/i;

const api = await fixture(TestApi.start({ LOG_LEVEL: 'trace' }));
const fixtures = await createFixtures(api);

/** Makes reads of homework fail with an error that quotes this value. */
async function failingHomework(value: string, expression: string): Promise<void> {
  await fixtures.make.query('UPDATE homework SET description = $1', [value]);
  await fixtures.make.query(`
    ALTER TABLE homework RENAME TO homework_table;
    CREATE FUNCTION spoil(said text) RETURNS text LANGUAGE plpgsql AS $$ BEGIN ${expression}; END $$;
    CREATE VIEW homework AS SELECT id, assigned_by, spoil(description) AS title, description, homework_type, scope,
      classroom_id, group_id, student_id, due_date, files, organization_id, created_at FROM homework_table;
    GRANT SELECT ON homework TO tutoring_app`);
}

async function mendHomework(): Promise<void> {
  await fixtures.make.query('DROP VIEW homework; DROP FUNCTION spoil; ALTER TABLE homework_table RENAME TO homework');
}

describe('a database error that quotes a person', () => {
  const forged = `${CANARY}\n    at ${CANARY} (file.js:1:1)\n{"level":"info","msg":"forged"}`;

  it.each([
    ['22P02', 'RETURN said::int', 500],
    ['22P02 across lines', 'RETURN said::uuid', 500],
    ['23514', `RAISE EXCEPTION 'new row violates "%"', said USING ERRCODE = '23514', DETAIL = said, HINT = said`, 500],
    ['P0001', `RAISE EXCEPTION 'Not so: %', said USING DETAIL = said, HINT = said`, 500],
    ['P0004', `ASSERT false, said`, 500],
    ['57014', `RAISE EXCEPTION '%', said USING ERRCODE = '57014'`, 503],
    ['XX000', `RAISE EXCEPTION '%', said USING ERRCODE = 'XX000'`, 500],
    ['an unheard-of code', `RAISE EXCEPTION '%', said USING ERRCODE = 'ZZ999'`, 500],
  ])('%s is logged by its code, without the quotation', async (code, expression, status) => {
    await failingHomework(forged, expression);
    const before = api.logged.length;
    const answer = await api.get('/v1/homework', fixtures.a.key);
    await mendHomework();
    expect(answer.status, answer.text).toBe(status);
    expect(answer.text).not.toMatch(LEAK);
    const failure = api.logged.slice(before).find((line) => line.includes('"failure"'))!;
    expect(JSON.parse(failure)).toMatchObject({ level: 'error', request_id: answer.headers['x-request-id'] as string, err: { code: code.startsWith('an') ? 'ZZ999' : code.slice(0, 5) } });
    expect(failure).not.toMatch(LEAK);
    // The stack still shows where it failed.
    expect(failure).toMatch(/at \S+ \(.*\.[tj]s:\d+/);
  }); // prettier-ignore

  it('logs the message of a faulty statement, which quotes code and not people', async () => {
    await fixtures.make.query('ALTER TABLE homework RENAME TO homework_table');
    const answer = await api.get('/v1/homework', fixtures.a.key);
    await fixtures.make.query('ALTER TABLE homework_table RENAME TO homework');
    expect(answer.status).toBe(500);
    expect(api.logged.find((line) => line.includes('relation \\"homework\\" does not exist'))).toBeTruthy();
  });

  it('leaves no quotation in the log or the metrics, and no forged line', async () => {
    expect(api.logged.filter((line) => line.includes('"failure"')).length).toBeGreaterThan(8);
    for (const line of api.logged) {
      expect(line).not.toMatch(LEAK);
      expect(line.indexOf('\n')).toBe(line.length - 1);
      expect((JSON.parse(line) as { msg: string }).msg).not.toBe('forged');
    }
    expect((await send(api, 'GET', '/metrics')).text).not.toMatch(LEAK);
  });
});
