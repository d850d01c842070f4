import type { INestApplicationContext } from '@nestjs/common';
import { EmailService } from '../../../apps/worker/src/email/email.service.js';
import { TestSmtp } from './smtp.js';
import { type Cut, WireProxy } from '../database/wire-proxy.js';
import { OutboxFixture } from './worker.js';

/** The result of cutting a worker's connection at every message while it sends a mail. */
export interface MailWalk {
  recorded: number;
  cuts: number;
  lost: number;
  /** Mails sent twice, because the worker was cut off between the server's acceptance and its own commit. */
  doubled: number;
  findings: string[];
}

type Plant = (worker: INestApplicationContext) => void;
const nothing: Plant = () => undefined;

interface Plan {
  /** The worker never reaches the database again, and another takes over. */
  forGood?: boolean;
  /** The mail server defers the mail at first. */
  refused?: boolean;
  /** Tries only every nth message. */
  every?: number;
  /** Plants a bug in the worker. */
  plant?: Plant;
}

/** Catches a drain that never ends. */
const MOST_MESSAGES = 200;
/** A walk ends after this many misses in a row: lanes run concurrently, so the number of messages varies a little. */
const MISSES = 3;

/** A worker behind a proxy that cuts its connections to PostgreSQL, and a second, undisturbed worker. */
export class WorkerBoundaries {
  private mails = 0;

  private constructor(
    readonly room: OutboxFixture,
    readonly smtp: TestSmtp,
    private readonly proxy: WireProxy,
  ) {}

  static async open(): Promise<WorkerBoundaries> {
    const smtp = await TestSmtp.start();
    const room = await OutboxFixture.open({ SMTP_URL: smtp.url });
    return new WorkerBoundaries(room, smtp, await WireProxy.open(room.database.workerUrl));
  }

  async close(): Promise<void> {
    await this.room.stop();
    await this.proxy.close();
    await this.smtp.stop();
  }

  /** Cuts the worker's connection before and after every message. */
  async walk({ forGood = false, refused = false, every = 1, plant = nothing }: Plan): Promise<MailWalk> {
    const { messages: recorded } = await this.send(null, refused, plant);
    const walk: MailWalk = { recorded, cuts: 0, lost: 0, doubled: 0, findings: [] };
    for (const side of ['before', 'after'] as const) {
      let misses = 0;
      for (let index = 0; index < MOST_MESSAGES && misses < MISSES; index += every) {
        const { address, unstored, cut } = await this.send({ index, side, forGood }, refused, plant);
        if (!cut) {
          misses++;
          continue;
        }
        misses = 0;
        walk.cuts++;
        const where = `${side} message ${index} (${cut.type} of ${cut.statement.slice(0, 60)})`;
        const sent = this.smtp.to(address);
        if (sent.length === 0) walk.lost++;
        if (sent.length > 1) walk.doubled++;
        // A running worker waits for the database and remembers what it has sent.
        if (sent.length > (forGood && unstored ? 2 : 1)) walk.findings.push(`${where}: sent ${sent.length} times`);
        const ids = new Set(sent.map(({ headers }) => headers['message-id']));
        if (ids.size > 1) walk.findings.push(`${where}: ${ids.size} message ids`);
      }
    }
    return walk;
  }

  /** Queues a mail and cuts the connection while it is sent. Then all leases expire and the second worker continues. */
  private async send(cut: Omit<Cut, 'then'> | null, refused: boolean, plant: Plant) {
    const { room, smtp, proxy } = this;
    const address = `mail${this.mails++}@example.org`;
    await room.clear();
    proxy.watch();
    const worker = await room.worker({ WORKER_DATABASE_URL: proxy.url });
    plant(worker);
    const emails = worker.get(EmailService);
    // Opens the connection before the mail is queued.
    await emails.runOnce();
    await room.queue([address]);
    smtp.atRecipient = () => (refused ? { code: 450, message: 'later' } : undefined);
    const then = () => {
      // Stops the worker from waiting for a database that never returns.
      if (cut!.forGood) void emails.onModuleDestroy();
    };
    proxy.watch(cut && { ...cut, then });
    await emails.runOnce();
    proxy.unwatch();
    smtp.atRecipient = () => undefined;
    // Another lane may lose the connection while a mail is being sent.
    const unstored = smtp.to(address).length > 0 && (await room.tally()).sent !== 1;
    const other = (await room.worker()).get(EmailService);
    for (let tries = 0; (await room.tally()).sent !== 1 && tries < 3; tries++) {
      await room.pass('1 day');
      await other.runOnce();
    }
    return { address, unstored, cut: proxy.cut, messages: proxy.seen.length };
  }
}
