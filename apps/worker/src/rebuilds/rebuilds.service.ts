import { Processor } from '@nestjs/bull';
import { Log } from '@app/logging';
import { OutboxStore } from '../outbox/outbox.store.js';
import { type DrainOptions, Relay } from '../outbox/relay.js';
import { RelayProcessor } from '../outbox/relay.processor.js';
import { RebuildCourier } from './rebuild.courier.js';

const OPTIONS: DrainOptions = {
  // A hook that hangs holds a lane until its deadline. Each is called once at a time, and a call costs nothing but a socket.
  concurrency: 50,
  // A hook only starts a build, which takes no longer.
  deadlineMs: 10_000,
  leaseMs: 20_000,
};

/** Triggers rebuilds of sites. */
@Processor('rebuilds')
export class RebuildsService extends RelayProcessor {
  constructor(courier: RebuildCourier, store: OutboxStore, log: Log) {
    super(new Relay(store, courier, OPTIONS, log));
  }
}
