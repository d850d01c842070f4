import { LASTING, RETENTION } from '@app/database';
import { readColumns } from '../support/database/columns.js';
import { SchemaFixture } from '../support/database/schema-fixture.js';
import { fixture } from '../support/process/fixture.js';

const schema = await fixture(SchemaFixture.create());
const columns = await readColumns((sql) => schema.all(sql));

describe('how long rows are kept', () => {
  it('is told for every table: those that grow by themselves, and the others with the reason why not', () => {
    const tables = [...new Set(columns.map(({ table }) => table))];
    const told = [...new Set(RETENTION.map(({ table }) => table)), ...Object.values(LASTING).flat()];
    expect(told.toSorted()).toEqual(tables.toSorted());
  });

  it('counts from a moment of the row, which an index finds among many', async () => {
    const indexed = await schema.all(`
      SELECT i.indrelid::regclass::text AS table, a.attname AS column FROM pg_index i
      JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey::smallint[])`);
    // As many as logins, workers and closed mailboxes, which are few.
    const few = ['portal_sessions', 'api_key_handovers', 'worker_heartbeats', 'suppressions'];
    // They go by their numbers.
    const numbered = ['events', 'event_changes'];
    for (const { table, column } of RETENTION) {
      expect(columns.find((one) => one.table === table && one.name === column)?.type).toBe('timestamp(3) with time zone');
      if (![...few, ...numbered].includes(table)) expect(indexed).toContainEqual({ table, column });
    }
  });
});
