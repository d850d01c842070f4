import { Processor } from '@nestjs/bull';
import { Log } from '@app/logging';
import { OutboxStore } from '../outbox/outbox.store.js';
import { type DrainOptions, Relay } from '../outbox/relay.js';
import { RelayProcessor } from '../outbox/relay.processor.js';
import { WebhookCourier } from './webhook.courier.js';

const OPTIONS: DrainOptions = {
  // A try costs nothing but a socket. A receiver that hangs holds a lane until its deadline, so that there are many.
  concurrency: 200,
  deadlineMs: 15_000,
  leaseMs: 20_000,
};

/** Delivers events to webhook endpoints. */
@Processor('webhooks')
export class WebhooksService extends RelayProcessor {
  constructor(courier: WebhookCourier, store: OutboxStore, log: Log) {
    super(new Relay(store, courier, OPTIONS, log));
  }
}
