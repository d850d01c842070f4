import 'reflect-metadata';
import type { AddressInfo } from 'node:net';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { endWithLauncher, loadEnv, readEnvFile, tellLauncher } from '@app/config';
import { inWords } from '@app/database';
import { Log } from '@app/logging';
import { ApiModule } from './api.module.js';
import { configureApp, createAdapter } from './configure-app.js';

try {
  readEnvFile();
  endWithLauncher();
  const env = loadEnv();
  env.needFor('api');
  const app = await NestFactory.create<NestExpressApplication>(ApiModule.forRoot(env), createAdapter(), {
    bodyParser: false,
    bufferLogs: true,
    // Our logger does not exist yet; a failed start is reported in one line below.
    logger: false,
    abortOnError: false,
  });
  configureApp(app);
  await app.listen(env.get('PORT'), env.get('HOST') ?? '0.0.0.0');
  const { port } = app.getHttpServer().address() as AddressInfo;
  app.get(Log).log(`Listening on port ${port}`, 'Api');
  tellLauncher({ listening: port });
} catch (error) {
  process.stderr.write(`${inWords(error)}\n`);
  process.exitCode = 1;
  // A pool or timer of a partly started application must not keep the process alive.
  setTimeout(() => process.exit(1), 1_000).unref();
}
