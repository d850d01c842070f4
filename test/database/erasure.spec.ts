import { ERASING, UNTOUCHED } from '@app/database';
import { type Column, readColumns } from '../support/database/columns.js';
import { SchemaFixture } from '../support/database/schema-fixture.js';
import { fixture } from '../support/process/fixture.js';

const schema = await fixture(SchemaFixture.create());

/** Columns that can hold something of a person. */
const TELLING = /^(text|json|jsonb|bytea)(\[\])?$/;

/** Ids of people without a foreign key. */
const LOOSE = ['invites.target_id', 'audit_log.person_id', 'events.resource_id', 'event_changes.resource_id'];

const PEOPLE = ['users', 'members', 'parents', 'tutor_profiles'];

const untouched = Object.values(UNTOUCHED).flat();

function namesPerson({ table, name, reference }: Column): boolean {
  return name !== 'organization_id' && reference !== null && PEOPLE.includes(reference.table) && !(table === 'users' && name === 'id');
}

/** What the declaration of a table says of a column; undefined if nothing. */
function said({ table, name }: Column): unknown {
  const { names = {}, empties = {}, keeps = {}, first = '' } = ERASING[table]!;
  if (name in names || name in empties || Object.values(keeps).flat().includes(name)) return true;
  return first.includes(name) ? true : undefined;
}

async function complaints(): Promise<string[]> {
  const columns = (await readColumns((sql) => schema.all(sql))).filter(({ table }) => !untouched.includes(table));
  const tables = [...new Set(columns.map(({ table }) => table))];
  const unsaid = tables.filter((table) => !(table in ERASING));
  const wrong = columns.filter((column) => {
    const { table, name, type, generated, values } = column;
    if (!(table in ERASING) || name === 'organization_id' || (generated && !LOOSE.includes(`${table}.${name}`))) return false;
    if (namesPerson(column)) return said(column) === undefined;
    // Of a table whose rows all go, nothing else stays.
    const goes = Object.values(ERASING[table]!.names ?? {});
    if (goes.length > 0 && goes.every((one) => one === 'goes') && !ERASING[table]!.keeps) return false;
    return TELLING.test(type) && values === null && said(column) === undefined;
  });
  const known = new Set(columns.map(({ table, name }) => `${table}.${name}`));
  const stale = Object.entries(ERASING).flatMap(([table, { names = {}, empties = {}, keeps = {} }]) =>
    [...Object.keys(names), ...Object.keys(empties), ...Object.values(keeps).flat()]
      .map((name) => `${table}.${name}`)
      .filter((name) => !known.has(name)),
  );
  return [
    ...unsaid.map((table) => `${table}: say in ERASING what becomes of it, or in UNTOUCHED why nothing`),
    ...wrong.map(({ table, name }) => `${table}.${name}: say in ERASING what becomes of it when its person is erased`),
    ...stale.map((name) => `${name}: is no such column any more`),
  ];
}

it('of every table and column that can hold something of a person, ERASING says what becomes of it', async () => {
  expect(await complaints()).toEqual([]);
});

it('a new table, and a new column, have to be said', async () => {
  await schema.all('CREATE TABLE planted (organization_id uuid NOT NULL, note text)');
  await schema.all('ALTER TABLE payments ADD COLUMN planted text, ADD COLUMN seen_by_id uuid REFERENCES users');
  expect(await complaints()).toEqual([
    'planted: say in ERASING what becomes of it, or in UNTOUCHED why nothing',
    'payments.planted: say in ERASING what becomes of it when its person is erased',
    'payments.seen_by_id: say in ERASING what becomes of it when its person is erased',
  ]);
});
