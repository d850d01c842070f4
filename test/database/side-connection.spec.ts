import sql from 'sql-template-tag';
import { connect, SideConnection } from '@app/database';
import { createTestDatabase } from '../support/database/database.js';

const NAME = 'tutoring tests, aside';
const database = await createTestDatabase();
const source = await connect({ url: database.adminUrl, poolSize: 1, applicationName: 'tutoring tests' });
const side = new SideConnection(database.applicationUrl, NAME);
const backends = (name: string) => source.query<{ pid: number }[]>('SELECT pid FROM pg_stat_activity WHERE application_name = $1', [name]);

beforeAll(() => source.query('CREATE TABLE notes (statement_timeout text, lock_timeout text); GRANT INSERT ON notes TO PUBLIC'));
afterAll(async () => {
  await side.close();
  await source.destroy();
  await database.drop();
});

describe('a connection outside the pool', () => {
  it('connects with the first statement, once, and has the limits of its role', async () => {
    expect(await backends(NAME)).toHaveLength(0);
    const note = sql`INSERT INTO notes SELECT current_setting('statement_timeout'), current_setting('lock_timeout')`;
    await Promise.all([side.run(note), side.run(note)]);
    const limits = { statement_timeout: '5s', lock_timeout: '4s' };
    expect(await source.query('SELECT * FROM notes')).toEqual([limits, limits]);
    expect(await backends(NAME)).toHaveLength(1);
  });

  it('connects again after it was cut', async () => {
    const [{ pid } = { pid: 0 }] = await backends(NAME);
    await source.query('SELECT pg_terminate_backend($1)', [pid]);
    await vi.waitFor(async () => expect(await backends(NAME)).toHaveLength(0));
    await vi.waitFor(() => side.run(sql`SELECT 1`));
    const [{ pid: next } = { pid: 0 }] = await backends(NAME);
    expect(next).not.toBe(pid);
  });
});
