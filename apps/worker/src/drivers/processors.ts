import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DiscoveryService, MetadataScanner } from '@nestjs/core';
import { queueNames, QUEUES } from '@app/jobs';

/** The metadata keys of @nestjs/bull's @Processor and @Process, which the package does not export. */
const PROCESSOR = 'bull:module_queue';
const PROCESS = 'bull:module_queue_process';

/** A method that runs one kind of job. */
interface Handler {
  queue: string;
  job: string;
  processor: string;
  run(): Promise<unknown>;
}

/** Every handler, found by its decorators. Refuses to start if a queue has no processor, which would lose its work, or two. */
@Injectable()
export class Processors implements OnModuleInit {
  constructor(
    private readonly discovery: DiscoveryService,
    private readonly scanner: MetadataScanner,
  ) {}

  onModuleInit(): void {
    const handlers = this.handlers();
    const faults = queueNames.flatMap((queue) => {
      const own = handlers.filter((handler) => handler.queue === queue);
      const { size } = new Set(own.map(({ processor }) => processor));
      if (size !== 1) return [`queue "${queue}" must have one processor, but has ${size}`];
      const { job } = QUEUES[queue];
      const found = own.filter((handler) => handler.job === job).length;
      return found === 1 ? [] : [`job "${job}" of queue "${queue}" must have one handler, but has ${found}`];
    });
    for (const { queue, processor } of handlers) {
      if (!(queue in QUEUES)) faults.push(`${processor} processes a queue "${queue}" that nothing fills`);
    }
    if (faults.length > 0) throw new Error(`The worker cannot start: ${faults.join('; ')}`);
  }

  handlers(): Handler[] {
    return this.discovery.getProviders().flatMap(({ metatype, instance }) => {
      const queue = metatype && (Reflect.getMetadata(PROCESSOR, metatype) as { name: string } | undefined);
      if (!queue) return [];
      const methods = instance as Record<string, () => Promise<unknown>>;
      return this.scanner.getAllMethodNames(Object.getPrototypeOf(instance) as object).flatMap((name) => {
        const process = Reflect.getMetadata(PROCESS, methods[name]!) as { name?: string } | undefined;
        if (!process?.name) return [];
        const run = () => methods[name]!();
        return [{ queue: queue.name, job: process.name, processor: metatype.name, run }];
      });
    });
  }
}
