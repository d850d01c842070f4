import { DataSource } from 'typeorm';
import { migrate } from '@app/database';
import { Schema } from '../../libs/database/src/migrations/1763600000030-schema.js';
import { LAST_BEFORE_FILES } from '../../libs/database/src/schema/adopt.js';
import { createTestDatabase, type TestDatabase } from '../support/database/database.js';
import { Factories } from '../support/data/factories.js';

/** Restores what the last migration before the files left. Statements that change rows come first. */
const FORMER = [
  `SET app.maintenance = 'on'`,
  'ALTER TABLE lesson_participants RENAME TO session_participants',
  `DO $$ DECLARE fresh text; BEGIN
     FOR fresh IN SELECT conname FROM pg_constraint WHERE conrelid = 'session_participants'::regclass LOOP
       EXECUTE format('ALTER TABLE session_participants RENAME CONSTRAINT %I TO %I', fresh,
         replace(fresh, 'lesson_participants', 'session_participants'));
     END LOOP; END $$`,
  'ALTER INDEX lesson_participants_keyset RENAME TO session_participants_keyset',
  'ALTER INDEX lesson_participants_student RENAME TO session_participants_student',
  `ALTER TABLE session_participants ALTER status SET DEFAULT 'invited'`,
  ...[
    ['sessions', 'status', 'scheduled completed cancelled pending'],
    ['session_participants', 'status', 'invited accepted declined cancelled'],
    ['session_participants', 'attendance', 'present absent late'],
    ['payments', 'status', 'pending succeeded failed refunded disputed canceled'],
    ['mileage_trips', 'status', 'logged approved rejected paid'],
    ['expense_claims', 'status', 'logged approved rejected paid'],
    ['conversation_participants', 'role', 'tutor student parent admin'],
    ['messages', 'visibility', 'everyone private'],
  ].map(
    ([table, column, words]) => `ALTER TABLE ${table!} DROP CONSTRAINT ${table!}_${column!}_check,
      ADD CHECK (${column!} IN ('${words!.replaceAll(' ', "', '")}'))`,
  ),
  'ALTER TABLE expense_claims DROP CONSTRAINT expense_claims_category_check',
  `ALTER TABLE invoices DROP CONSTRAINT invoices_check, ALTER invoice_number SET NOT NULL,
     ALTER due_date TYPE timestamptz(3)`,
  'ALTER TABLE subjects DROP COLUMN code CASCADE',
  'DROP TRIGGER IF EXISTS make_code ON subjects',
  'DROP FUNCTION make_subject_code',
  'CREATE FUNCTION record_requests(requests json) RETURNS void LANGUAGE sql RETURN NULL',
  `UPDATE migrations SET name = '${LAST_BEFORE_FILES}'`,
];

/** Everything in the catalogue, whatever the order of columns. */
const CATALOGUE = `
  SELECT 'column ' || concat_ws(' ', c.relname, attname, format_type(atttypid, atttypmod), attnotnull,
    pg_get_expr(adbin, adrelid), attacl) AS line
  FROM pg_attribute JOIN pg_class c ON c.oid = attrelid LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
  WHERE attnum > 0 AND NOT attisdropped AND relnamespace = 'public'::regnamespace AND relkind = 'r'
  UNION ALL SELECT 'constraint ' || conrelid::regclass || ' ' || conname || pg_get_constraintdef(oid)
  FROM pg_constraint WHERE connamespace = 'public'::regnamespace
  UNION ALL SELECT 'index ' || indexdef FROM pg_indexes WHERE schemaname = 'public'
  UNION ALL SELECT 'function ' || pg_get_functiondef(oid) FROM pg_proc WHERE pronamespace = 'public'::regnamespace
  UNION ALL SELECT 'trigger ' || pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal
  UNION ALL SELECT 'policy ' || concat_ws(' ', tablename, policyname, roles::text, cmd, qual, with_check) FROM pg_policies
  UNION ALL SELECT 'migration ' || name FROM migrations ORDER BY 1`;

/** Delete this file with libs/database/src/schema/adopt.ts when a change of the tables makes it fail. */
describe('a database of the last migration before the files', () => {
  let database: TestDatabase;
  let owner: DataSource;
  let make: Factories;

  const again = () => migrate(database.ownerUrl, database.processUrls);
  const catalogue = () => owner.query<object[]>(CATALOGUE);

  beforeEach(async () => {
    database = await createTestDatabase();
    owner = new DataSource({ type: 'postgres', url: database.ownerUrl, extra: { max: 1 } });
    await owner.initialize();
    make = await Factories.connect(database);
  });
  afterEach(async () => {
    await make.close();
    await owner.destroy();
    await database.drop();
  });

  it('becomes like a new one, with its rows', async () => {
    const before = await catalogue();
    const { id: organization } = await make.organization({ timeZone: 'Australia/Brisbane' });
    const [tutor, student] = [(await make.tutor(organization)).id, (await make.student(organization)).id];
    for (const statement of FORMER) await owner.query(statement);
    expect(await catalogue()).not.toEqual(before);
    const session = await make.session(organization, { tutorId: tutor });
    const add = (table: string, row: string) =>
      make.query(`INSERT INTO ${table} SELECT (r).* FROM (SELECT
      json_populate_record(NULL::${table}, to_json(d)) AS r FROM (SELECT gen_random_uuid() AS id, now() AS created_at, ${row}) d) x`);
    const seat = `'${organization}' AS organization_id, '${session.id}' AS session_id, '${student}' AS student_id`;
    await add('session_participants', `${seat}, 'invited' AS status, 'late' AS attendance`);
    const claim = `'${organization}' AS organization_id, '${tutor}' AS tutor_id, 'paid' AS status, 5 AS amount_cents`;
    for (const category of ['books', 'parking', 'Taxi']) {
      await add('expense_claims', `${claim}, '2026-05-01' AS expense_date, '${category}' AS category`);
    }
    const thread = (await make.conversation()).id;
    for (const [person, role] of [
      [tutor, 'admin'],
      [student, 'student'],
    ] as const) {
      const person_ = `'${thread}' AS conversation_id, '${person}' AS user_id, now() AS joined_at`;
      await add('conversation_participants', `${person_}, '${role}' AS role`);
    }
    const invoice = `'${organization}' AS organization_id, '${student}' AS student_id, 'open' AS status`;
    const amounts = `5 AS amount_due_cents, 0 AS amount_paid_cents, 'AUD' AS currency, 'INV-1' AS invoice_number`;
    await add('invoices', `${invoice}, ${amounts}, '2026-05-01T15:00Z' AS due_date`);
    for (const name of ['Methods 3/4', 'Methods 34']) {
      await add('subjects', `'${organization}' AS organization_id, '${name}' AS name`);
    }

    expect(await again()).toEqual({ applied: [], replaced: [] });
    expect(await catalogue()).toEqual(before);
    const rows = (query: string) => make.query(query);
    expect(await rows('SELECT status, attendance FROM lesson_participants')).toEqual([
      { status: 'pending', attendance: 'attended' },
    ]);
    expect(await rows('SELECT status, category FROM expense_claims ORDER BY category')).toEqual(
      ['materials', 'other', 'parking'].map((category) => ({ status: 'reimbursed', category })),
    );
    expect(await rows('SELECT participants FROM organization_conversations')).toMatchObject([
      { participants: expect.arrayContaining([{ user_id: tutor, role: 'teacher' }]) as object },
    ]);
    expect(await rows('SELECT due_date::text, invoice_number FROM invoices')).toEqual([
      { due_date: '2026-05-02', invoice_number: 'INV-1' },
    ]);
    expect(await rows('SELECT code FROM subjects ORDER BY code')).toEqual([
      { code: 'methods_34' },
      { code: 'methods_34_2' },
    ]);
  });

  it.each(['FairClaims1763600000028', 'Schema_00000000_1763600000030'])('is refused if it is of %s', async (name) => {
    await owner.query('UPDATE migrations SET name = $1', [name]);
    const before = await catalogue();
    await expect(again()).rejects.toThrow('made by another unreleased build');
    expect(await catalogue()).toEqual(before);
    await owner.query('UPDATE migrations SET name = $1', [Schema.name]);
    expect(await again()).toEqual({ applied: [], replaced: [] });
  });
});
