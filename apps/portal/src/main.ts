import 'reflect-metadata';
import type { AddressInfo } from 'node:net';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { endWithLauncher, Env, loadEnv, readEnvFile, tellLauncher } from '@app/config';
import { inWords } from '@app/database';
import { Log } from '@app/logging';
import { configurePortal, createAdapter } from './configure-portal.js';
import { PortalModule } from './portal.module.js';
import { lowerPriorityOfHashing } from './web/password-work.js';

try {
  readEnvFile();
  endWithLauncher();
  await lowerPriorityOfHashing();
  const env = loadEnv();
  env.needFor('portal');
  const app = await NestFactory.create<NestExpressApplication>(PortalModule.forRoot(env), createAdapter(), {
    bodyParser: false,
    bufferLogs: true,
    // Our logger does not exist yet; a failed start is reported in one line below.
    logger: false,
    abortOnError: false,
  });
  configurePortal(app);
  await app.listen(app.get(Env).portalPort, env.get('HOST') ?? '0.0.0.0');
  const { port } = app.getHttpServer().address() as AddressInfo;
  app.get(Log).log(`Listening on port ${port}`, 'Portal');
  tellLauncher({ listening: port });
} catch (error) {
  process.stderr.write(`${inWords(error)}\n`);
  process.exitCode = 1;
  // A pool or timer of a partly started application must not keep the process alive.
  setTimeout(() => process.exit(1), 1_000).unref();
}
