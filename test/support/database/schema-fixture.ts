import { randomBytes, randomUUID } from 'node:crypto';
import pg from 'pg';
import { type Row, SampleRows } from '../data/sample-rows.js';
import { createTestDatabase, type TestDatabase } from './database.js';

export type { Row };

/** A spec's own database and rows to fill it. Database tests use plain SQL: they test the schema, not the code. */
export class SchemaFixture {
  private constructor(
    readonly urls: TestDatabase,
    readonly owner: pg.Pool,
    private readonly tenant: pg.Pool,
    private readonly drop: () => Promise<void>,
  ) {}

  static async create(): Promise<SchemaFixture> {
    const database = await createTestDatabase();
    const owner = ownersPool(database.ownerUrl);
    const tenant = new pg.Pool({ connectionString: database.tenantUrl, max: 12 });
    return new SchemaFixture(database, owner, tenant, () => database.drop());
  }

  async stop(): Promise<void> {
    await this.tenant.end();
    await this.owner.end();
    await this.drop();
  }

  /** Opens a transaction of a role that only row-level security restricts; {@link end} it. */
  async begin(organizationId: string | null): Promise<pg.PoolClient> {
    const client = await this.tenant.connect();
    await client.query('BEGIN');
    if (organizationId) await client.query(`SELECT set_config('app.organization_id', $1, true)`, [organizationId]);
    return client;
  }

  async end(client: pg.PoolClient, how: 'COMMIT' | 'ROLLBACK' = 'COMMIT'): Promise<void> {
    try {
      await client.query(how);
    } finally {
      client.release();
    }
  }

  /** Runs the statement in a transaction of its own. */
  async as(organizationId: string | null, sql: string, values: unknown[] = []): Promise<Row[]> {
    const client = await this.begin(organizationId);
    try {
      const { rows } = await client.query<Row>(sql, values);
      await this.end(client);
      return rows;
    } catch (error) {
      await this.end(client, 'ROLLBACK');
      throw error;
    }
  }

  /** Queries all rows, whoever may see them. */
  async all(sql: string, values: unknown[] = []): Promise<Row[]> {
    return (await this.owner.query<Row>(sql, values)).rows;
  }

  /** @returns the row's id; meaningless for tables without one */
  async insert(organizationId: string | null, table: string, row: Row): Promise<string> {
    const { sql, values } = insertion(table, row);
    await this.as(organizationId, sql, values);
    return row.id as string;
  }

  async organization(): Promise<string> {
    const id = randomUUID();
    return this.insert(id, 'organizations', { id, name: 'OrganizationFixture', slug: `school-${id}` });
  }

  async person(): Promise<string> {
    const id = randomUUID();
    const email = `${id}@example.com`;
    // Any organization may add a login, so a random one does.
    const row = { id, email, email_normalized: email, first_name: 'Ada', last_name: 'Lovelace' };
    return this.insert(randomUUID(), 'users', row);
  }

  /** @returns the person's id */
  async member(organizationId: string, role: string, { user, ...more }: { user?: string; status?: string } = {}) {
    const id = user ?? (await this.person());
    await this.insert(organizationId, 'members', {
      id: randomUUID(),
      organization_id: organizationId,
      user_id: id,
      role,
      // People with an existing login must consent first.
      ...(user && { status: 'pending' }),
      ...more,
    });
    if (user && !more.status) await this.setStatus(organizationId, user, 'accepted');
    return id;
  }

  async setStatus(organizationId: string, user: string, status: string): Promise<void> {
    const { sql, values } = statusChange(user, status);
    await this.as(organizationId, sql, values);
  }

  async session(organizationId: string, student: string | null = null): Promise<string> {
    return this.insert(organizationId, 'sessions', sessionRow(organizationId, student));
  }

  /** The student's attempt, written by an organization that the student belongs to. */
  async result(organizationId: string, student: string): Promise<string> {
    return this.insert(organizationId, 'results', resultRow(student));
  }

  async conversation(organizationId: string, ...people: string[]): Promise<string> {
    const id = await this.insert(organizationId, 'conversations', { id: randomUUID(), type: 'direct' });
    for (const person of people) await this.insert(organizationId, 'conversation_participants', seatRow(id, person));
    return id;
  }

  async parent(organizationId: string): Promise<string> {
    const user_id = await this.person();
    await this.insert(organizationId, 'parents', { organization_id: organizationId, user_id });
    return user_id;
  }

  /** Resolves when the connection waits for another one's lock. */
  async blocked(client: pg.PoolClient): Promise<void> {
    const { processID } = client as unknown as { processID: number };
    for (let attempt = 0; attempt < 5_000; attempt++) {
      const [row] = await this.all('SELECT cardinality(pg_blocking_pids($1)) > 0 AS blocked', [processID]);
      if (row?.blocked) return;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    throw new Error('The second statement did not wait for the first transaction');
  }
}

/** A pool of one connection that sees every row, because `app.maintenance` opens the owner's policies. */
export function ownersPool(connectionString: string): pg.Pool {
  return new pg.Pool({ connectionString, options: '-c app.maintenance=on', max: 1 });
}

export function insertion(table: string, row: Row): { sql: string; values: unknown[] } {
  const names = Object.keys(row);
  const marks = names.map((_, index) => `$${index + 1}`);
  return { sql: `INSERT INTO ${table} (${names.join(', ')}) VALUES (${marks.join(', ')})`, values: Object.values(row) };
}

/** Members become accepted only by their own consent. */
export function statusChange(user: string, status: string): { sql: string; values: unknown[] } {
  return status === 'accepted'
    ? { sql: 'SELECT accept_ties($1, false, true)', values: [user] }
    : { sql: 'UPDATE members SET status = $2 WHERE user_id = $1', values: [user, status] };
}

export function sessionRow(organization_id: string, student_id: string | null): Row {
  const times = { starts_at: '2026-03-02T09:00:00Z', ends_at: '2026-03-02T10:00:00Z', duration_minutes: 60 };
  return { id: randomUUID(), organization_id, student_id, ...times };
}

export function resultRow(student_id: string): Row {
  return { id: randomUUID(), student_id, status: 'in_progress', mode: 'sac' };
}

export function seatRow(conversation_id: string, user_id: string): Row {
  return { id: randomUUID(), conversation_id, user_id, role: 'teacher' };
}

export function messageRow(organization_id: string, conversation_id: string, created_at: string, more: Row = {}): Row {
  return { id: randomUUID(), organization_id, conversation_id, content: 'Hello', created_at, ...more };
}

export function homeworkRow(assigned_by: string, more: Row = {}): Row {
  return { id: randomUUID(), assigned_by, title: 'Fractions', homework_type: 'text', scope: 'student', ...more };
}

export function feedbackRow(tutor_id: string, more: Row = {}): Row {
  return { id: randomUUID(), tutor_id, rating: 5, ...more };
}

export function inviteRow(organization_id: string, more: Row = {}): Row {
  const purpose = { scope: 'organization', role: 'student', target_id: organization_id };
  return { id: randomUUID(), organization_id, ...purpose, secret_hash: randomBytes(32), expires_at: '2100-01-01', ...more };
}

export function messageToSend(organization_id: string, more: Row = {}): Row {
  const mail = { topic: 'email', kind: 'organization_invite', recipient: 'ada@example.org', payload: randomBytes(40) };
  // The default of now() is rounded to milliseconds, so that a message could be due only half a millisecond later.
  const due_at = new Date(Date.now() - 1_000).toISOString();
  return { id: randomUUID(), organization_id, due_at, ...mail, ...more };
}

export function hookRow(organization_id: string): Row {
  return {
    target: `organization:${organization_id}`,
    organization_id,
    url: 'https://example.org',
    secret: randomBytes(40),
  };
}

/** How many events there are. */
let events = 0;

/** Adds at least one row to every table that belongs to an organization. */
export async function fill(fixture: SchemaFixture, organization_id: string): Promise<void> {
  const samples = await SampleRows.read((sql) => fixture.all(sql));
  const add = (table: string, row: Row): Promise<string> => fixture.insert(organization_id, table, row);
  const tutor_id = await fixture.member(organization_id, 'tutor');
  const student_id = await fixture.member(organization_id, 'student');
  const parent_id = await fixture.parent(organization_id);
  const session_id = await fixture.session(organization_id, student_id);
  const group_id = randomUUID();
  await add('student_groups', { id: group_id, owner_organization_id: organization_id, name: 'Group' });
  await add('student_group_members', { id: randomUUID(), group_id, user_id: student_id, role: 'student' });
  await add('homework', homeworkRow(tutor_id));
  await add('session_feedback', feedbackRow(tutor_id, { session_id, comment: 'Patient' }));
  await fixture.result(organization_id, student_id);
  const conversation_id = await fixture.conversation(organization_id, tutor_id, student_id);
  await add('messages', messageRow(organization_id, conversation_id, '2026-03-02T09:00:00Z'));
  await add('questions', { id: randomUUID(), organization_id, topic: 'Fractions' });
  await add('lesson_plans', { id: randomUUID(), organization_id, title: 'Fractions', scope: 'student', student_id });
  await add('events', {
    organization_id,
    number: ++events,
    type: 'student.created',
    resource: 'student',
    resource_id: student_id,
    timestamp: '2026-03-02T09:00:00Z',
    data: {},
  });
  const invite = inviteRow(organization_id);
  await add('invites', invite);
  await add('outbox', messageToSend(organization_id));
  await add('rebuild_hooks', hookRow(organization_id));
  await add('suppressions', { organization_id, email_normalized: `gone-${organization_id}@example.org`, suppressed_until: '2999-01-01T00:00:00Z' });

  // The other tables, each after the tables that it refers to.
  const known: Row = { organization_id, user_id: tutor_id, tutor_id, student_id, parent_id, session_id, invite_id: invite.id };
  const filled = await Promise.all(
    samples.tablesWith('organization_id').map(async (table) => {
      const rows = await fixture.as(organization_id, `SELECT FROM ${table} LIMIT 1`);
      return { table, empty: rows.length === 0 };
    }),
  );
  const empty = filled.flatMap((one) => (one.empty ? [one.table] : []));
  await samples.each(empty, known, (table, row) => add(table, { ...row, organization_id }));
}
