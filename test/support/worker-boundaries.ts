import type { INestApplicationContext } from '@nestjs/common';
import { EmailService } from '../../apps/worker/src/email/email.service.js';
import { TestSmtp } from './smtp.js';
import { type Cut, WireProxy } from './wire-proxy.js';
import { Mailroom } from './worker.js';

/** What became of a mail at all boundaries of the worker that sends it. */
export interface MailWalk {
  recorded: number;
  cuts: number;
  lost: number;
  /** Sent twice, when the worker was cut off between the server's acceptance and the commit that it was sent. */
  doubled: number;
  findings: string[];
}

type Plant = (worker: INestApplicationContext) => void;
const nothing: Plant = () => undefined;

interface Plan {
  /** Whether the worker never reaches the database again; another one takes over. */
  forGood?: boolean;
  /** Whether the server puts the mail off at first. */
  refused?: boolean;
  /** Only one of so many messages. */
  every?: number;
  /** A bug in the worker. */
  plant?: Plant;
}

/** A drain that never ends would be found by this. */
const MOST_MESSAGES = 200;
/** Lanes run side by side: a drain may have a few messages fewer than the one before. So many in a row end the walk. */
const MISSES = 3;

/** A worker behind a proxy that ends its connections to PostgreSQL, and one that is left alone. */
export class WorkerBoundaries {
  private mails = 0;

  private constructor(
    readonly room: Mailroom,
    readonly smtp: TestSmtp,
    private readonly proxy: WireProxy,
  ) {}

  static async open(): Promise<WorkerBoundaries> {
    const smtp = await TestSmtp.start();
    const room = await Mailroom.open({ SMTP_URL: smtp.url });
    return new WorkerBoundaries(room, smtp, await WireProxy.open(room.database.workerUrl));
  }

  async close(): Promise<void> {
    await this.room.stop();
    await this.proxy.close();
    await this.smtp.stop();
  }

  /** Ends the worker's connection at every message, on both sides. */
  async walk({ forGood = false, refused = false, every = 1, plant = nothing }: Plan): Promise<MailWalk> {
    const { messages: recorded } = await this.send(null, refused, plant);
    const walk: MailWalk = { recorded, cuts: 0, lost: 0, doubled: 0, findings: [] };
    for (const side of ['before', 'after'] as const) {
      let misses = 0;
      for (let index = 0; index < MOST_MESSAGES && misses < MISSES; index += every) {
        const { address, accepted, cut } = await this.send({ index, side, forGood }, refused, plant);
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
        // A worker that lives waits for the database, and knows what it has sent.
        if (sent.length > (forGood && accepted ? 2 : 1)) walk.findings.push(`${where}: sent ${sent.length} times`);
        const ids = new Set(sent.map(({ headers }) => headers['message-id']));
        if (ids.size > 1) walk.findings.push(`${where}: ${ids.size} message ids`);
      }
    }
    return walk;
  }

  /** Queues a mail and sends it with the cut; then another worker goes on when every lease is over. */
  private async send(cut: Omit<Cut, 'then'> | null, refused: boolean, plant: Plant) {
    const { room, smtp, proxy } = this;
    const address = `mail${this.mails++}@example.org`;
    await room.clear();
    proxy.watch();
    const worker = await room.worker({ WORKER_DATABASE_URL: proxy.url });
    plant(worker);
    const emails = worker.get(EmailService);
    // A connection is there when the mail is.
    await emails.runOnce();
    await room.queue([address]);
    smtp.atRecipient = () => (refused ? { code: 450, message: 'later' } : undefined);
    let accepted = false;
    const then = () => {
      accepted = smtp.to(address).length > 0;
      // Nobody waits for a database that never comes back.
      if (cut!.forGood) void emails.onModuleDestroy();
    };
    proxy.watch(cut && { ...cut, then });
    await emails.runOnce();
    proxy.unwatch();
    smtp.atRecipient = () => undefined;
    const other = (await room.worker()).get(EmailService);
    for (let tries = 0; (await room.tally()).sent !== 1 && tries < 3; tries++) {
      await room.pass('1 day');
      await other.runOnce();
    }
    return { address, accepted, cut: proxy.cut, messages: proxy.seen.length };
  }
}
