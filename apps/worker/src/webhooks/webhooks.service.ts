import { Process, Processor } from '@nestjs/bull';
import type { OnModuleDestroy } from '@nestjs/common';
import { Log } from '@app/logging';
import { OutboxStore } from '../outbox/outbox.store.js';
import { type Drained, type DrainOptions, Relay } from '../outbox/relay.js';
import { WebhookCourier } from './webhook.courier.js';

const OPTIONS: DrainOptions = {
  // A try costs nothing but a socket. A receiver that hangs holds a lane until its deadline, so that there are many.
  concurrency: 200,
  deadlineMs: 15_000,
  leaseMs: 20_000,
};

/** Delivers events to webhook endpoints. */
@Processor('webhooks')
export class WebhooksService implements OnModuleDestroy {
  private readonly relay: Relay;

  constructor(courier: WebhookCourier, store: OutboxStore, log: Log) {
    this.relay = new Relay(store, courier, OPTIONS, log);
  }

  /** Delivers until nothing is due. */
  @Process('drain')
  runOnce(): Promise<Drained> {
    return this.relay.drain();
  }

  onModuleDestroy(): Promise<void> {
    return this.relay.stop();
  }
}
