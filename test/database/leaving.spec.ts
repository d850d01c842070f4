import { LEAVING } from '@app/access';
import { SchemaFixture } from '../support/database/schema-fixture.js';
import { fixture } from '../support/process/fixture.js';

const schema = await fixture(SchemaFixture.create());

/** Columns that refer to a person, as a login, a member, a parent or a tutor, or to an API key of theirs. */
const NAMING = `
  SELECT k.conrelid::regclass || '.' || a.attname AS name FROM pg_constraint k, unnest(k.conkey) c (num)
  JOIN LATERAL (SELECT attname FROM pg_attribute WHERE attrelid = k.conrelid AND attnum = c.num) a ON a.attname <> 'organization_id'
  WHERE k.contype = 'f' AND k.connamespace = 'public'::regnamespace
    AND k.confrelid = ANY ('{users,members,parents,tutor_profiles,api_keys}'::regclass[]) ORDER BY 1`;

async function complaints(): Promise<string[]> {
  const named = (await schema.all(NAMING)).map(({ name }) => String(name));
  return [
    ...named.filter((name) => !(name in LEAVING)).map((name) => `${name}: say in LEAVING of libs/access what becomes of it when the person leaves`),
    ...Object.keys(LEAVING).filter((name) => !named.includes(name)).map((name) => `${name}: refers to nobody, remove it from LEAVING`),
  ];
} // prettier-ignore

it('of every column that names a person, LEAVING says what becomes of its rows', async () => {
  expect(await complaints()).toEqual([]);
});

it('a new table that names a person is named', async () => {
  await schema.all(`CREATE TABLE planted (organization_id uuid NOT NULL, made_by uuid,
    FOREIGN KEY (organization_id, made_by) REFERENCES members (organization_id, user_id))`);
  expect(await complaints()).toEqual([expect.stringMatching(/^planted\.made_by: /)]);
});
