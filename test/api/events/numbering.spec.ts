import { Factories } from '../../support/data/factories.js';
import { createTestDatabase } from '../../support/database/database.js';
import { fixture } from '../../support/process/fixture.js';

const database = await fixture(createTestDatabase());
const make = await fixture(Factories.connect(database));
const school = (await make.organization()).id;
const change = (values: string, ...given: unknown[]) =>
  make.query(
    `INSERT INTO event_changes (organization_id, resource, resource_id, op, changed, about, within)
     SELECT $1, resource, id, op, '{status}', '{}', within FROM (${values}) AS t (resource, id, op, within)`,
    [school, ...given],
  );
/** @returns how many events each call makes */
async function numbered(): Promise<number[]> {
  const made: number[] = [];
  while ((await make.query('SELECT FROM event_changes LIMIT 1')).length > 0) {
    const [row] = await make.query<{ made: number }>('SELECT made::integer FROM number_events()');
    made.push(row!.made);
  }
  return made;
}

await numbered();

// A plan that compares all with all would take longer than the test may.
it('takes portions of a backlog, each session with its participants', async () => {
  await change(
    `SELECT r, CASE r WHEN 'session' THEN s ELSE gen_random_uuid() END, 'I', CASE r WHEN 'session' THEN NULL ELSE s END
     FROM unnest(ARRAY['session', 'lesson_participant', 'lesson_participant', 'lesson_participant']) WITH ORDINALITY AS k (r, place),
       (SELECT gen_random_uuid() FROM generate_series(1, $2)) AS t (s) ORDER BY place`,
    8_000,
  );
  expect(await numbered()).toEqual(Array(4).fill(2_000));
});

it('keeps the order of a record across portions: a transaction that began early and changed it late comes later', async () => {
  const early = await Factories.connect(database);
  const insert = (who: Factories, verb: string, ids: string) =>
    who.query(
      `INSERT INTO event_changes (organization_id, resource, resource_id, op, verb, changed) SELECT $1, 'student', id, 'U', $2, '{}' FROM ${ids} AS t (id)`,
      [school, verb],
    );
  const [record, others] = [`(SELECT md5('record')::uuid)`, '(SELECT gen_random_uuid() FROM generate_series(1, 3000))'];
  await early.query('BEGIN');
  await insert(early, 'other', others);
  await insert(make, 'first', record);
  await insert(make, 'other', others);
  await insert(early, 'second', record);
  await early.query('COMMIT');
  await early.close();
  expect((await numbered()).length).toBeGreaterThan(1);
  const told = await make.query(`SELECT type FROM events WHERE resource_id = md5('record')::uuid ORDER BY number`);
  expect(told).toEqual([{ type: 'student.first' }, { type: 'student.second' }]);
});
