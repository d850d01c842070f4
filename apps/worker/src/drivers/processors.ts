import { Injectable } from '@nestjs/common';
import { DiscoveryService, MetadataScanner } from '@nestjs/core';

/** The metadata keys of @nestjs/bull's @Processor and @Process, which the package does not export. */
const PROCESSOR = 'bull:module_queue';
const PROCESS = 'bull:module_queue_process';

/** A method that runs one kind of job. */
export interface Handler {
  queue: string;
  job: string;
  processor: string;
  run(): Promise<unknown>;
}

/** Every handler of the application, found by its decorators. */
@Injectable()
export class Processors {
  constructor(
    private readonly discovery: DiscoveryService,
    private readonly scanner: MetadataScanner,
  ) {}

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
