import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import pg from 'pg';
import { ApiKeys } from '@app/access';
import { Organizations } from '@app/people';
import { loadEnv } from '@app/config';
import { connect, Database, migrate } from '@app/database';
import { startEmbeddedPostgres } from '../apps/cli/src/postgres/embedded-postgres.js';
import { rulesOn } from '../apps/cli/src/rules.js';

const CLASSROOMS = 40;
const STUDENTS = 600;

/** The benchmark's own PostgreSQL server, with its data and keys. */
export interface BenchDatabase {
  /** Connects as the application's role, subject to row-level security. */
  applicationUrl: string;
  workerUrl: string;
  portalUrl: string;
  /** Connects as the role that migrates and imports. */
  ownerUrl: string;
  /** Connects as the superuser, who bypasses row-level security, as tutorials do. */
  adminUrl: string;
  organizationId: string;
  /** Rows of homework in each of the two organizations. */
  homeworkRows: number;
  /** That organization's key with the scope `read`. */
  key: string;
  /** A key with the scopes that the measured writes need. */
  writingKey: string;
  /** Id of the writing key. */
  keyId: string;
  /** The other organization, and its key with the scope `read`. */
  other: { organizationId: string; key: string };
  encryptionKey: string;
  /** Folder for the run's other files. */
  folder: string;
  stop(): Promise<void>;
}

/** Starts PostgreSQL with its default, durable settings, migrates it and fills it. */
export async function startDatabase(homeworkRows: number): Promise<BenchDatabase> {
  const folder = await mkdtemp(join(tmpdir(), 'tutoring-bench-'));
  const postgres = await startEmbeddedPostgres({ dataDir: folder });
  const stop = async () => {
    await postgres.stop();
    // As root, the data is in a folder of its own elsewhere.
    for (const path of [folder, dirname(postgres.dataDirectory)]) await rm(path, { recursive: true, force: true });
  };
  try {
    const { ownerUrl, applicationUrl, workerUrl, portalUrl } = postgres;
    const adminUrl = Object.assign(new URL(postgres.adminUrl), { pathname: new URL(ownerUrl).pathname }).href;
    await migrate(ownerUrl, { api: applicationUrl, worker: workerUrl, portal: portalUrl });
    const encryptionKey = randomBytes(32).toString('hex');
    const accounts = await createAccounts(ownerUrl, encryptionKey);
    await fill(adminUrl, [accounts.organizationId, accounts.other.organizationId], homeworkRows);
    return {
      ...accounts,
      homeworkRows,
      applicationUrl,
      workerUrl,
      portalUrl,
      ownerUrl,
      adminUrl,
      encryptionKey,
      folder,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function createAccounts(url: string, encryptionKey: string) {
  const dataSource = await connect({ url, poolSize: 1, applicationName: 'tutoring bench' });
  try {
    const rules = await rulesOn(new Database(dataSource), loadEnv({ ENCRYPTION_KEY: encryptionKey }, {}));
    const organizations = rules.get(Organizations);
    const { id: organizationId } = await organizations.create({ name: 'Bench Tutoring', slug: 'bench' });
    const { id: otherId } = await organizations.create({ name: 'Next Door', slug: 'next-door' });
    const keys = rules.get(ApiKeys);
    const { key } = await keys.create(organizationId, { name: 'bench' });
    const writing = await keys.create(organizationId, {
      name: 'bench',
      scopes: ['read', 'students:write', 'accounts:write', 'sessions:write', 'payments:write', 'blog:write'],
    });
    const other = { organizationId: otherId, key: (await keys.create(otherId, { name: 'bench' })).key };
    return { organizationId, other, key, keyId: writing.id, writingKey: writing.key };
  } finally {
    await dataSource.destroy();
  }
}

/** Ids are hashes of their rows' names, so that statements can refer to each other's rows. */
const FILL = (homeworkRows: number) => [
  `INSERT INTO users (id, email, email_normalized, first_name, last_name)
   SELECT md5(o || kind || n)::uuid, kind || n || '@' || o || '.example', kind || n || '@' || o || '.example', 'Mia', 'Nguyen ' || n
   FROM unnest($1::uuid[]) o, unnest('{tutor,student,parent}'::text[]) kind, generate_series(1, ${STUDENTS}) n
   WHERE kind <> 'tutor' OR n = 1`,
  `INSERT INTO members (id, organization_id, user_id, role, created_at)
   SELECT gen_random_uuid(), o, md5(o || kind || n)::uuid, kind, now() - n * interval '1 hour'
   FROM unnest($1::uuid[]) o, unnest('{tutor,student}'::text[]) kind, generate_series(1, ${STUDENTS}) n
   WHERE kind <> 'tutor' OR n = 1`,
  `INSERT INTO parents (organization_id, user_id)
   SELECT o, md5(o || 'parent' || n)::uuid FROM unnest($1::uuid[]) o, generate_series(1, ${STUDENTS}) n`,
  `INSERT INTO parent_students (organization_id, parent_id, student_id)
   SELECT o, md5(o || 'parent' || n)::uuid, md5(o || 'student' || n)::uuid
   FROM unnest($1::uuid[]) o, generate_series(1, ${STUDENTS}) n`,
  `INSERT INTO classrooms (id, organization_id, name)
   SELECT md5(o || 'classroom' || n)::uuid, o, 'Classroom ' || n
   FROM unnest($1::uuid[]) o, generate_series(1, ${CLASSROOMS}) n`,
  // The organization is derived from the classroom. Rows are inserted oldest first, alternating between the organizations, as in production.
  `INSERT INTO homework
     (id, assigned_by, title, description, homework_type, scope, classroom_id, due_date, files, created_at)
   SELECT gen_random_uuid(), md5(o || 'tutor' || 1)::uuid, 'Quadratics, exercises ' || n || ' to ' || n + 11,
     'Show the working for each step, and check the last three with the graph.', (ARRAY['text', 'exam'])[1 + n % 2],
     'classroom', md5(o || 'classroom' || 1 + n % ${CLASSROOMS})::uuid, now() - n * interval '10 minutes' + interval '7 days',
     jsonb_build_array(jsonb_build_object('name', 'sheet-' || n || '.pdf', 'size', 1000 + n)), now() - n * interval '10 minutes'
   FROM generate_series(${homeworkRows}, 1, -1) n, unnest($1::uuid[]) o`,
];

/** Runs a statement that bypasses row-level security. */
export async function asAdmin<T>(url: string, work: (admin: pg.Client) => Promise<T>): Promise<T> {
  const admin = new pg.Client({ connectionString: url });
  // An interrupted run stops the server first, which must fail the query but not this process.
  admin.on('error', () => undefined);
  await admin.connect();
  try {
    return await work(admin);
  } finally {
    await admin.end();
  }
}

async function fill(adminUrl: string, organizations: string[], homeworkRows: number): Promise<void> {
  await asAdmin(adminUrl, async (admin) => {
    for (const statement of FILL(homeworkRows)) await admin.query(statement, [organizations]);
    await admin.query('VACUUM ANALYZE');
  });
}

/** The id of a row that the benchmark's database was filled with. */
export function idOf(organizationId: string, name: string): string {
  const hash = createHash('md5')
    .update(organizationId + name)
    .digest('hex');
  return hash.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
