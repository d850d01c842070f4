import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { loadEnv } from '@app/config';
import { Log } from '@app/logging';
import { WorkerModule } from './worker.module.js';

try {
  const env = loadEnv();
  const app = await NestFactory.createApplicationContext(WorkerModule.forRoot(env), {
    bufferLogs: true,
    abortOnError: false,
  });
  app.useLogger(app.get(Log));
  // Ended in order, a process ends with 0.
  app.enableShutdownHooks(undefined, { useProcessExit: true });
  app.get(Log).log('Working', 'Worker');
  // A launcher that is gone cannot stop this process any more.
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));
  process.send?.({ working: true });
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
  setTimeout(() => process.exit(1), 1_000).unref();
}
