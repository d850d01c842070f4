import { Process, Processor } from '@nestjs/bull';
import { Log } from '@app/logging';
import { OutboxListener } from '../drivers/outbox-listener.js';
import { OutboxStore } from '../outbox/outbox.store.js';
import { type Drained, type DrainOptions, Relay } from '../outbox/relay.js';
import { RelayProcessor } from '../outbox/relay.processor.js';
import { EmailCourier } from './email.courier.js';
import { CONNECTIONS } from './smtp.mailer.js';

const OPTIONS: DrainOptions = {
  // One attempt per connection, so that none waits inside nodemailer while its time runs out.
  concurrency: CONNECTIONS,
  // Longer than a server may be silent; limits a server that responds in a trickle.
  deadlineMs: 60_000,
  // With the queue's 5 s, a killed worker's mails are tried again after 25 s, and a server may take half a minute to accept them.
  leaseMs: 20_000,
};

/** Sends queued mails. */
@Processor('email')
export class EmailService extends RelayProcessor {
  constructor(
    private readonly courier: EmailCourier,
    store: OutboxStore,
    listener: OutboxListener,
    log: Log,
  ) {
    super(new Relay(store, courier, OPTIONS, log));
    listener.subscribe((queue) => {
      if (queue === 'email') this.relay.wake();
    });
    if (!courier.able) log.warn('SMTP_URL is not set: no email will be sent', 'Worker');
  }

  @Process('drain')
  override runOnce(): Promise<Drained> {
    return this.courier.able ? super.runOnce() : Promise.resolve({});
  }

  override async onModuleDestroy(): Promise<void> {
    await super.onModuleDestroy();
    this.courier.close();
  }
}
