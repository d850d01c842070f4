import pg from 'pg';
import { Deadline, isUnavailable } from '@app/database';
import { runTogether } from '../../libs/database/src/batch.js';
import { Lease } from '../../libs/database/src/lease.js';
import { createTestDatabase } from '../support/database/database.js';
import { fixture } from '../support/process/fixture.js';

/** A pool without a connection to give refuses the statements, and nothing else. It had ended the process. */

const database = await fixture(createTestDatabase());

/** The fault of a statement, which is one that passes. */
async function faultOf(pool: pg.Pool): Promise<unknown> {
  const lease = new Lease(new Deadline(5_000));
  const ended = vi.spyOn(globalThis, 'clearTimeout');
  const statement = { name: 'one', text: 'SELECT 1', values: [] };
  const fault: unknown = await runTogether(pool, [statement], lease).catch((error: unknown) => error);
  expect(isUnavailable(fault)).toBe(true);
  expect(ended).toHaveBeenCalled();
  ended.mockRestore();
  return fault;
}

it('refuses statements that wait too long for a connection', async () => {
  const pool = new pg.Pool({ connectionString: database.applicationUrl, max: 1, connectionTimeoutMillis: 200 });
  // Connecting may itself take longer on a busy machine.
  const holder = await vi.waitFor(() => pool.connect());
  expect(await faultOf(pool)).toMatchObject({ message: 'timeout exceeded when trying to connect' });
  holder.release();
  await pool.end();
});

it('refuses statements once the pool has ended', async () => {
  const pool = new pg.Pool({ connectionString: database.applicationUrl });
  await pool.end();
  expect(await faultOf(pool)).toHaveProperty('message', expect.stringContaining('after calling end'));
});
