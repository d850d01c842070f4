import { createHash, randomBytes, randomUUID } from 'node:crypto';
import pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import type { BenchDatabase } from '../database.js';
import { newStudents } from './students.js';

/** Bytes of an encrypted mail: nonce, tag and about 300 bytes of JSON. */
const PAYLOAD_BYTES = 330;
const DAY_MS = 86_400_000;

/** Inserts into the four tables that the API writes for new students who get a mail. */
const STATEMENTS = {
  users: `INSERT INTO users (id, email, email_normalized, placeholder_email, first_name, last_name)
    SELECT id, email, email, false, first_name, last_name
    FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[]) AS r (id, email, first_name, last_name)`,
  members: `INSERT INTO members (id, organization_id, user_id, role, status, invited_at, accepted_at)
    SELECT id, $1, user_id, 'student', 'accepted', now(), now()
    FROM unnest($2::uuid[], $3::uuid[]) AS r (id, user_id)`,
  invites: `INSERT INTO invites
      (id, organization_id, scope, role, target_id, email, secret_hash, api_key_id, expires_at, created_at)
    SELECT id, $1, 'account', 'student', target_id, email, secret_hash, $2, $3, now()
    FROM unnest($4::uuid[], $5::uuid[], $6::text[], $7::bytea[]) AS r (id, target_id, email, secret_hash)`,
  outbox: `INSERT INTO outbox (id, organization_id, topic, kind, recipient, payload)
    SELECT id, $1, 'email', 'account_created', recipient, payload
    FROM unnest($2::uuid[], $3::text[], $4::bytea[]) AS r (id, recipient, payload)`,
};

export type Table = keyof typeof STATEMENTS;
export const TABLES = Object.keys(STATEMENTS) as Table[];

/** Writes a bulk invite's rows and does nothing else: no lookups, decisions, secrets, idempotency key or audit row. */
export class BareInsert {
  private readonly client: pg.Client;

  constructor(private readonly database: BenchDatabase) {
    const settings = { connectionString: database.applicationUrl, pipeline: true, keepAlive: true };
    this.client = new pg.Client(settings);
    // An interrupted run stops the server first.
    this.client.on('error', () => undefined);
  }

  connect(): Promise<unknown> {
    return this.client.connect();
  }

  end(): Promise<void> {
    return this.client.end();
  }

  /** Sends everything at once, as prepared statements. @returns milliseconds */
  async run(): Promise<number> {
    const { organizationId } = this.database;
    const values = this.values();
    const started = performance.now();
    await Promise.all([
      this.client.query('BEGIN'),
      this.client.query(`SELECT set_config('app.organization_id', $1, true)`, [organizationId]),
      ...TABLES.map((name) => this.client.query({ name, text: STATEMENTS[name], values: values[name] })),
      this.client.query('COMMIT'),
    ]);
    return performance.now() - started;
  }

  /** The values, which are prepared before the measurement starts. */
  private values(): Record<Table, unknown[]> {
    const { organizationId, keyId } = this.database;
    const students = newStudents();
    const emails = students.map(({ email }) => email);
    const ids = students.map(() => uuidv7());
    const fresh = () => students.map(() => uuidv7());
    const hashes = students.map(() => createHash('sha256').update(randomUUID()).digest());
    return {
      users: [ids, emails, students.map((one) => one.first_name), students.map((one) => one.last_name)],
      members: [organizationId, fresh(), ids],
      invites: [organizationId, keyId, new Date(Date.now() + 14 * DAY_MS), fresh(), ids, emails, hashes],
      outbox: [organizationId, fresh(), emails, students.map(() => randomBytes(PAYLOAD_BYTES))],
    };
  }
}
