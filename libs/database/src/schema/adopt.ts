/**
 * The schema that `ADOPT` leads to. With any change of the files it stops working, and a database of the earlier
 * migrations is refused like all others: delete this file then, since nothing is released.
 */
export const ADOPTED = 'Schema_76410c54_1763600000030';

/** The last migration before the files. */
export const LAST_BEFORE_FILES = 'DeviceCookies1763600000029';

/** Closed sets, with the former words of each value. */
const SETS: [table: string, column: string, values: Record<string, string[]>][] = [
  ['sessions', 'status', { pending: [], scheduled: [], completed: [], cancelled: [] }],
  ['lesson_participants', 'status', { pending: ['invited'], accepted: [], declined: [], cancelled: [], removed: [] }],
  ['lesson_participants', 'attendance', { attended: ['present', 'late'], no_show: ['absent'], excused: [] }],
  ['payments', 'status', { pending: [], succeeded: [], refunded: [], failed: [], disputed: [], canceled: [] }],
  ['mileage_trips', 'status', { logged: [], approved: [], rejected: [], reimbursed: ['paid'] }],
  ['expense_claims', 'status', { logged: [], approved: [], rejected: [], reimbursed: ['paid'] }],
  ['conversation_participants', 'role', { teacher: ['tutor', 'admin'], student: [], parent: [] }],
  ['messages', 'visibility', { everyone: [], student_only: ['private'], parent_only: [] }],
];

/** Statements for the owner, run one by one: a table cannot be altered in the query that has changed its rows. */
export const ADOPT: string[] = [
  `SET LOCAL app.maintenance = 'on'`,
  'DROP FUNCTION record_requests',
  'ALTER TABLE session_participants RENAME TO lesson_participants',
  `DO $$ DECLARE former text; BEGIN
     FOR former IN SELECT conname FROM pg_constraint WHERE conrelid = 'lesson_participants'::regclass LOOP
       EXECUTE format('ALTER TABLE lesson_participants RENAME CONSTRAINT %I TO %I', former,
         replace(former, 'session_participants', 'lesson_participants'));
     END LOOP; END $$`,
  'ALTER INDEX session_participants_keyset RENAME TO lesson_participants_keyset',
  'ALTER INDEX session_participants_student RENAME TO lesson_participants_student',
  `ALTER TABLE lesson_participants ALTER status SET DEFAULT 'pending'`,
  ...SETS.flatMap(([table, column, values]) => [
    `ALTER TABLE ${table} DROP CONSTRAINT ${table}_${column}_check`,
    ...Object.entries(values).flatMap(([value, former]) =>
      former.map((word) => `UPDATE ${table} SET ${column} = '${value}' WHERE ${column} = '${word}'`),
    ),
    `ALTER TABLE ${table} ADD CHECK (${column} IN (${Object.keys(values)
      .map((value) => `'${value}'`)
      .join(', ')}))`,
  ]),
  `UPDATE expense_claims SET category = CASE WHEN category IN ('stationery', 'books') THEN 'materials' ELSE 'other' END
   WHERE category NOT IN ('parking', 'tolls', 'materials', 'training')`,
  `ALTER TABLE expense_claims ADD CHECK (category IN ('parking', 'tolls', 'materials', 'training', 'other'))`,
  `UPDATE invoices i SET due_date = date_trunc('day', i.due_date AT TIME ZONE o.time_zone) AT TIME ZONE 'UTC'
   FROM organizations o WHERE o.id = i.organization_id`,
  `ALTER TABLE invoices ALTER due_date TYPE date USING (due_date AT TIME ZONE 'UTC')::date,
     ALTER invoice_number DROP NOT NULL, ADD CHECK (status = 'draft' OR invoice_number IS NOT NULL)`,
  `ALTER TABLE subjects ADD COLUMN code text NOT NULL DEFAULT ''`,
  'CREATE TRIGGER make_code BEFORE UPDATE ON subjects FOR EACH ROW EXECUTE FUNCTION make_subject_code()',
  'UPDATE subjects SET name = name',
  'DROP TRIGGER make_code ON subjects',
  `ALTER TABLE subjects ADD CHECK (code ~ '^[a-z0-9]+(_[a-z0-9]+)*$' AND char_length(code) <= 100),
     ADD UNIQUE (organization_id, code)`,
  `CREATE TRIGGER make_code BEFORE INSERT ON subjects
     FOR EACH ROW WHEN (NEW.code = '') EXECUTE FUNCTION make_subject_code()`,
  'ALTER TABLE rebuild_hooks VALIDATE CONSTRAINT rebuild_hooks_no_credentials',
  `SET LOCAL app.maintenance = ''`,
];
