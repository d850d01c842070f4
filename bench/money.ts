import { addDays, dayOf } from '@app/scheduling';
import { type Bench, type Length, say } from './bench.js';
import { asAdmin, idOf } from './database.js';
import { medianOf, ratioOf, row } from './tables.js';
import { Client } from './writes/client.js';
import { inTurns, type Plan } from './writes/rounds.js';

const PLANS: Record<Length, Plan> = {
  smoke: { warmUp: 0, rounds: 1, calls: 2 },
  quick: { warmUp: 20, rounds: 3, calls: 30 },
  full: { warmUp: 50, rounds: 7, calls: 100 },
};

/** How many lessons a student has had, one every nine days, and how many of them are on an invoice. */
const LESSONS = 200;
const ON_AN_INVOICE = 4;
const STUDENTS_OF_A_TUTOR: Record<Length, number> = { smoke: 2, quick: 50, full: 50 };

/** Tutors of the small and of the large organization: 10,000 lines of invoices each, except in a smoke. */
const TUTORS = { smoke: [1, 1], quick: [1, 10], full: [1, 100] } as const;

/** Families and tutors are alike in organizations of any size. $1 is the organization, $2 the number of students, $3 of tutors. */
const FILL = [
  `INSERT INTO users (id, email, email_normalized, first_name, last_name)
   SELECT md5($1::uuid || kind || n)::uuid, kind || n || '@' || $1 || '.example', kind || n || '@' || $1 || '.example', 'Mia', 'Nguyen ' || n
   FROM unnest('{tutor,student,parent}'::text[]) kind, generate_series(1, $2::int) n WHERE kind <> 'tutor' OR n <= $3::int
   ON CONFLICT DO NOTHING`,
  `INSERT INTO members (id, organization_id, user_id, role)
   SELECT gen_random_uuid(), $1::uuid, md5($1::uuid || kind || n)::uuid, kind
   FROM unnest('{tutor,student}'::text[]) kind, generate_series(1, $2::int) n WHERE kind <> 'tutor' OR n <= $3::int
   ON CONFLICT DO NOTHING`,
  `INSERT INTO parents (organization_id, user_id)
   SELECT $1::uuid, md5($1::uuid || 'parent' || n)::uuid FROM generate_series(1, $2::int) n ON CONFLICT DO NOTHING`,
  `INSERT INTO parent_students (organization_id, parent_id, student_id)
   SELECT $1::uuid, md5($1::uuid || 'parent' || n)::uuid, md5($1::uuid || 'student' || n)::uuid FROM generate_series(1, $2::int) n
   ON CONFLICT DO NOTHING`,
  `CREATE TEMPORARY TABLE lessons (id uuid, student_id uuid, tutor_id uuid, student integer, n integer, invoice_id uuid, starts_at timestamptz)`,
  `INSERT INTO lessons
   SELECT md5($1::uuid || 'session' || student || ' ' || n)::uuid, md5($1::uuid || 'student' || student)::uuid,
     md5($1::uuid || 'tutor' || 1 + student % $3::int)::uuid, student, n,
     md5($1::uuid || 'invoice' || student || ' ' || n / ${ON_AN_INVOICE})::uuid,
     date_trunc('hour', now()) - n * interval '9 days' - (2 + student / $3::int) * interval '1 hour'
   FROM generate_series(0, ${LESSONS - 1}) n, generate_series(1, $2::int) student`,
  `INSERT INTO sessions (id, organization_id, status, tutor_id, student_id, starts_at, ends_at, duration_minutes, tutor_pay_cents,
     student_rate_cents, amount_owed_cents, completed_at, created_at, overlap_allowed)
   SELECT id, $1::uuid, 'completed', tutor_id, student_id, starts_at, starts_at + interval '1 hour', 60, 5000, 8000, 8000, starts_at,
     starts_at, true FROM lessons ORDER BY n DESC, student`,
  `INSERT INTO lesson_participants (id, organization_id, session_id, student_id, status, attendance, rate_cents, billed_cents)
   SELECT gen_random_uuid(), $1::uuid, id, student_id, 'accepted', 'attended', 8000, 8000 FROM lessons ORDER BY n DESC, student`,
  // Without triggers, counts_at is written here.
  `INSERT INTO payouts (id, organization_id, tutor_id, session_id, amount_cents, currency, is_group, paid_at, counts_at, created_at)
   SELECT gen_random_uuid(), $1::uuid, tutor_id, id, 5000, 'AUD', false, starts_at, starts_at, starts_at FROM lessons
   WHERE n > 1 ORDER BY n DESC, student`,
  `INSERT INTO invoices (id, organization_id, invoice_number, student_id, status, amount_due_cents, amount_paid_cents, currency, due_date,
     sent_at, paid_at, created_at)
   SELECT invoice_id, $1::uuid, 'INV-' || lpad((row_number() OVER (ORDER BY n DESC, student))::text, 6, '0'), student_id,
     CASE n WHEN 0 THEN 'open' ELSE 'paid' END, 8000 * ${ON_AN_INVOICE}, CASE n WHEN 0 THEN 0 ELSE 8000 * ${ON_AN_INVOICE} END, 'AUD',
     starts_at, starts_at, CASE n WHEN 0 THEN NULL ELSE starts_at END, starts_at
   FROM lessons WHERE n % ${ON_AN_INVOICE} = 0`,
  `INSERT INTO invoice_lines (id, organization_id, invoice_id, position, description, quantity, unit_amount_cents, amount_cents, item_type,
     session_id)
   SELECT gen_random_uuid(), $1::uuid, invoice_id, n % ${ON_AN_INVOICE}, 'Lesson', 1, 8000, 8000, 'session', id FROM lessons
   ORDER BY n DESC, student`,
  `INSERT INTO payments (id, organization_id, student_id, invoice_id, amount_cents, currency, payment_type, status, received_on, recorded,
     credit_cents, created_at)
   SELECT gen_random_uuid(), $1::uuid, student_id, id, amount_paid_cents, 'AUD', 'cash', 'succeeded', paid_at, true,
     CASE WHEN created_at > now() - interval '80 days' THEN 100 ELSE 0 END, created_at FROM invoices
   WHERE organization_id = $1 AND status = 'paid' ORDER BY created_at`,
  `DROP TABLE lessons`,
];

/** What sums cost in a large organization, compared with a small one whose families and tutors have as much. */
export async function measureMoney(bench: Bench): Promise<void> {
  const { length, database } = bench;
  const [few, many] = TUTORS[length];
  const students = STUDENTS_OF_A_TUTOR[length];
  const schools = [
    { id: database.other.organizationId, key: database.other.key, tutors: few },
    { id: database.organizationId, key: database.key, tutors: many },
  ];
  const lines = schools.map(({ tutors }) => tutors * students * LESSONS);
  const started = performance.now();
  for (const { id, tutors } of schools) await fill(database.adminUrl, id, tutors, tutors * students);
  await asAdmin(database.adminUrl, (admin) => admin.query('VACUUM ANALYZE'));
  const seconds = Math.round((performance.now() - started) / 1_000);
  const [small, large] = lines.map((count) => count.toLocaleString('en'));
  say(
    `\nMoney in organizations with ${small} and ${large} invoice lines, as many sessions and payouts (filled in ${seconds} s)`,
  );

  const api = await bench.serveApi();
  const clients = schools.map(({ key }) => new Client(api.url, key));
  const today = dayOf(new Date(), 'Australia/Melbourne');
  const reads: Record<string, (school: string) => string> = {
    'balance of a parent': (school) => `/v1/parents/${idOf(school, 'parent2')}/balance`,
    'earnings of a month': (school) =>
      `/v1/tutors/${idOf(school, 'tutor1')}/earnings?from=${addDays(today, -31)}&to=${today}`,
    'earnings, whole history': (school) => `/v1/tutors/${idOf(school, 'tutor1')}/earnings`,
    'summary of the organization': () => '/v1/reports/summary',
  };
  try {
    say(`\n${row('p50 ms', ['small', 'large', 'ratio', 'rounds'])}`);
    for (const [name, pathOf] of Object.entries(reads)) {
      const ways = schools.map(({ id }, index) => async () => {
        return (await clients[index]!.send({ path: pathOf(id), method: 'GET' }, 200)).milliseconds;
      });
      const [one, other] = await inTurns(ways, PLANS[length]);
      const { median, lowest, highest } = ratioOf(other!.p50, one!.p50);
      const times = [one!, other!].map(({ p50 }) => medianOf(p50).toFixed(2));
      say(row(name, [...times, `${median.toFixed(2)}x`, `${lowest.toFixed(2)}-${highest.toFixed(2)}`]));
    }
  } finally {
    for (const client of clients) client.close();
  }
}

async function fill(adminUrl: string, organizationId: string, tutors: number, students: number): Promise<void> {
  await asAdmin(adminUrl, async (admin) => {
    // Without triggers and checks of foreign keys, which the rows above satisfy.
    await admin.query(`SET session_replication_role = replica`);
    for (const statement of FILL) {
      const values = [organizationId, students, tutors];
      await admin.query(
        statement,
        values.slice(0, Math.max(...[...statement.matchAll(/\$(\d)/g)].map(([, n]) => Number(n)), 0)),
      );
    }
  });
}
