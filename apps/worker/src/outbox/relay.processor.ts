import { Process } from '@nestjs/bull';
import type { OnModuleDestroy } from '@nestjs/common';
import type { Drained, Relay } from './relay.js';

/** The processor of a queue whose rounds drain a topic of the outbox. */
export abstract class RelayProcessor implements OnModuleDestroy {
  constructor(protected readonly relay: Relay) {}

  /** Delivers until nothing is due. */
  @Process('drain')
  runOnce(): Promise<Drained> {
    return this.relay.drain();
  }

  onModuleDestroy(): Promise<void> {
    return this.relay.stop();
  }
}
