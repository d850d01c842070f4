import { Injectable, type OnModuleInit } from '@nestjs/common';
import { queueNames, QUEUES } from '@app/jobs';
import { Processors } from './processors.js';

/** Refuses to start if a queue has no processor, which would lose its work, or two, which would do it twice. */
@Injectable()
export class BootCheck implements OnModuleInit {
  constructor(private readonly processors: Processors) {}

  onModuleInit(): void {
    const handlers = this.processors.handlers();
    const faults = queueNames.flatMap((queue) => {
      const names = new Set(handlers.filter((handler) => handler.queue === queue).map(({ processor }) => processor));
      if (names.size !== 1) return [`queue "${queue}" must have one processor, but has ${names.size}`];
      const { job } = QUEUES[queue];
      const found = handlers.filter((handler) => handler.queue === queue && handler.job === job).length;
      return found === 1 ? [] : [`job "${job}" of queue "${queue}" must have one handler, but has ${found}`];
    });
    const unknown = handlers.filter(({ queue }) => !(queueNames as string[]).includes(queue));
    faults.push(
      ...unknown.map(({ queue, processor }) => `${processor} processes a queue "${queue}" that nothing fills`),
    );
    if (faults.length > 0) throw new Error(`The worker cannot start: ${faults.join('; ')}`);
  }
}
