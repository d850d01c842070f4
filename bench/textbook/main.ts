/**
 * Serves the same page with the same duties, each as in the framework's own documentation: a guard for the key, the
 * ThrottlerGuard, helmet, CORS, a logging middleware, a ValidationPipe, TypeORM's `find()` and the
 * ClassSerializerInterceptor. It has no metrics and no request ids, and its connection bypasses row-level security.
 * https://docs.nestjs.com/security/helmet, /security/rate-limiting, /techniques/serialization, /middleware
 */
import 'reflect-metadata';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ClassSerializerInterceptor, Logger, Module, ValidationPipe } from '@nestjs/common';
import { NestFactory, Reflector } from '@nestjs/core';
import { ThrottlerModule } from '@nestjs/throttler';
import { TypeOrmModule } from '@nestjs/typeorm';
import type { NextFunction, Request, Response } from 'express';
import helmet from 'helmet';
import { ApiKey, Homework } from './entities.js';
import { ApiKeyGuard, HomeworkController, HomeworkService } from './homework.js';

const [, , url, poolSize] = process.argv;

@Module({
  imports: [
    TypeOrmModule.forRoot({
      type: 'postgres',
      url: url!,
      poolSize: Number(poolSize),
      entities: [ApiKey, Homework],
      installExtensions: false,
      // Lets `find()` take undefined for missing filters, as in tutorials.
      invalidWhereValuesBehavior: { undefined: 'ignore' },
    }),
    ThrottlerModule.forRoot([{ ttl: 60_000, limit: 1_000_000 }]),
    TypeOrmModule.forFeature([ApiKey, Homework]),
  ],
  controllers: [HomeworkController],
  providers: [ApiKeyGuard, HomeworkService],
})
class TextbookModule {}

const app = await NestFactory.create(TextbookModule, { logger: ['log', 'warn', 'error'] });
const logger = new Logger('HTTP');
app.use((request: Request, response: Response, next: NextFunction) => {
  const started = Date.now();
  response.on('finish', () => {
    logger.log(`${request.method} ${request.originalUrl} ${response.statusCode} ${Date.now() - started} ms`);
  });
  next();
});
app.use(helmet());
app.enableCors();
app.useGlobalPipes(new ValidationPipe({ transform: true, whitelist: true }));
app.useGlobalInterceptors(new ClassSerializerInterceptor(app.get(Reflector)));
app.enableShutdownHooks();
const server = app.getHttpServer() as Server;
server.keepAliveTimeout = 65_000;
await app.listen(0, '127.0.0.1');
process.send!({ listening: (server.address() as AddressInfo).port });
