import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { endWithLauncher, loadEnv, readEnvFile, tellLauncher } from '@app/config';
import { inWords } from '@app/database';
import { Log } from '@app/logging';
import { WorkerModule } from './worker.module.js';

try {
  readEnvFile();
  endWithLauncher();
  const env = loadEnv();
  env.needFor('worker');
  const app = await NestFactory.createApplicationContext(WorkerModule.forRoot(env), {
    bufferLogs: true,
    // Our logger does not exist yet; a failed start is reported in one line below.
    logger: false,
    abortOnError: false,
  });
  app.useLogger(app.get(Log));
  // After an orderly shutdown the process exits with 0.
  app.enableShutdownHooks(undefined, { useProcessExit: true });
  app.get(Log).log('Working', 'Worker');
  tellLauncher({ working: true });
} catch (error) {
  process.stderr.write(`${inWords(error)}\n`);
  process.exitCode = 1;
  setTimeout(() => process.exit(1), 1_000).unref();
}
