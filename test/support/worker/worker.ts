import { randomBytes } from 'node:crypto';
import type { INestApplicationContext } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { loadEnv, Vault } from '@app/config';
import { Database } from '@app/database';
import type { Tables } from '../database/tables.js';
import { type EmailKind, type EmailPayload, Outbox } from '@app/jobs';
import { logTo } from '../process/log-to.js';
import { WorkerModule } from '../../../apps/worker/src/worker.module.js';
import { createTestDatabase, type TestDatabase } from '../database/database.js';
import { connectPatiently } from '../database/patient-connection.js';
import { Factories } from '../data/factories.js';

/** An organization whose mails are queued as by the API, and workers that send them. */
export class OutboxFixture {
  /** All log output of the workers so far. */
  readonly logged: string[] = [];
  private readonly workers = new Set<INestApplicationContext>();
  private readonly idle = new Map<string, Promise<INestApplicationContext>>();

  private constructor(
    readonly database: TestDatabase,
    readonly make: Factories,
    readonly organizationId: string,
    readonly db: Database,
    readonly outbox: Outbox,
    readonly vault: Vault,
    readonly settings: Record<string, string>,
    private readonly close: () => Promise<void>,
  ) {}

  static async open(settings: Record<string, string> = {}): Promise<OutboxFixture> {
    const database = await createTestDatabase();
    const all = {
      NODE_ENV: 'test',
      DATABASE_URL: database.applicationUrl,
      WORKER_DATABASE_URL: database.workerUrl,
      ENCRYPTION_KEY: randomBytes(32).toString('hex'),
      SMTP_URL: 'smtp://127.0.0.1:1',
      MAIL_FROM: 'Tutoring <no-reply@tutoring.example>',
      LOG_LEVEL: 'info',
      INVITE_MAILS_PER_DAY: '1000000',
      ...settings,
    };
    const env = loadEnv(all, {});
    const make = await Factories.connect(database);
    const { id } = await make.organization();
    const dataSource = await connectPatiently({ url: database.ownerUrl, poolSize: 4, applicationName: 'tutoring tests' });
    const db = new Database(dataSource);
    const vault = new Vault(env);
    const outbox = new Outbox(db, vault, env);
    return new OutboxFixture(database, make, id, db, outbox, vault, all, () => dataSource.destroy());
  }

  /** Creates a worker in this process; {@link INestApplicationContext.init} starts its queues. */
  async worker(settings: Record<string, string> = {}): Promise<INestApplicationContext> {
    const module = await this.create(settings);
    this.workers.add(module);
    return module;
  }

  /** A worker whose queues do not run: the same one for all tests with these settings, because a start takes half a second of work. */
  idleWorker(settings: Record<string, string> = {}): Promise<INestApplicationContext> {
    const name = JSON.stringify(settings);
    const worker = this.idle.get(name) ?? this.create(settings);
    this.idle.set(name, worker);
    return worker;
  }

  private create(settings: Record<string, string>): Promise<INestApplicationContext> {
    const env = loadEnv({ ...this.settings, ...settings }, {});
    return Test.createTestingModule({ imports: [WorkerModule.forRoot(env, logTo(this.logged))] }).compile();
  }

  /** Queues mails to these addresses in one transaction. */
  queue(
    addresses: string[],
    wish: { organizationId?: string; kind?: EmailKind; inviteId?: string; payload?: Partial<EmailPayload> } = {},
  ): Promise<void> {
    const { organizationId = this.organizationId, kind = 'organization_invite', inviteId, payload = {} } = wish;
    const { organizationName: name = 'Demo Tutoring', timeZone = 'Australia/Melbourne', proof, key } = payload;
    const { firstName = 'Ada', role = 'student' } = payload;
    const expiresAt = payload.expiresAt ? new Date(payload.expiresAt) : new Date(Date.now() + 14 * 86_400_000);
    const mails = addresses.map((to) => {
      const url = payload.joinUrl ?? `https://app.tutoring.example/join/${randomBytes(32).toString('base64url')}`;
      return { kind, to, firstName, role, link: { url, inviteId, proof, expiresAt }, key };
    });
    const from = { organizationId, organization: { name, timeZone } };
    return this.db.transaction({ organizationId }, async () => {
      await this.outbox.addEmails(from, mails);
    });
  }

  rebuild(organizationId = this.organizationId): Promise<void> {
    return this.db.transaction({ organizationId }, () => this.outbox.addRebuild(organizationId, `organization:${organizationId}`));
  }

  async setHook(url: string, secret: string, organizationId = this.organizationId): Promise<void> {
    await this.make.query(
      `INSERT INTO rebuild_hooks (target, organization_id, url, secret) VALUES ($1, $2, $3, $4)
       ON CONFLICT (target) DO UPDATE SET url = excluded.url, secret = excluded.secret`,
      [`organization:${organizationId}`, organizationId, url, this.vault.seal('hook secrets', secret)],
    );
  }

  /** Creates an invite. @returns its id */
  async invite(wish: Partial<Tables['invites']> = {}): Promise<string> {
    const { id } = await this.make.row('invites', {
      organizationId: this.organizationId,
      scope: 'organization',
      role: 'student',
      targetId: this.organizationId,
      email: 'invited@example.org',
      expiresAt: new Date(Date.now() + 86_400_000),
      ...wish,
    });
    return id;
  }

  rows(where = 'true'): Promise<OutboxRow[]> {
    return this.make.query<OutboxRow>(`SELECT *, extract(epoch FROM due_at - now()) AS due_in FROM outbox WHERE ${where} ORDER BY created_at, id`);
  }

  /** Counts messages by status. */
  async tally(): Promise<Record<string, number>> {
    const rows = await this.make.query<{ status: string; n: string }>('SELECT status, count(*) AS n FROM outbox GROUP BY status');
    return Object.fromEntries(rows.map(({ status, n }) => [status, Number(n)]));
  }

  /** Shifts the due times and leases of waiting messages, as if this much time had passed. */
  async pass(interval: string): Promise<void> {
    await this.make.query(
      `UPDATE outbox SET due_at = due_at - $1::interval, leased_until = leased_until - $1::interval
       WHERE status IN ('queued', 'failed')`,
      [interval],
    );
  }

  /** Stops the workers and empties the outbox. */
  async clear(): Promise<void> {
    await Promise.all([...this.workers].map((worker) => worker.close()));
    this.workers.clear();
    this.logged.length = 0;
    // TRUNCATE would make files, and every connection read again what it knows of the tables.
    const emptied = ['joins', 'outbox', 'outbox_turns', 'suppressions', 'rebuild_hooks', 'invites', 'idempotency_keys', 'worker_heartbeats'];
    await this.make.withoutTriggers(emptied.map((table) => `DELETE FROM ${table}`).join('; '));
  }

  async stop(): Promise<void> {
    await this.clear();
    for (const worker of this.idle.values()) await (await worker).close();
    await this.close();
    await this.make.close();
    await this.database.drop();
  }
}

export interface OutboxRow {
  id: string;
  topic: Tables['outbox']['topic'];
  kind: string;
  gathered_kinds: Record<string, number>;
  recipient: string;
  status: Tables['outbox']['status'];
  attempts: number;
  last_error: string | null;
  leased_by: string | null;
  payload: Buffer | null;
  due_in: string;
}
