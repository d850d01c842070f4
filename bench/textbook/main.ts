/**
 * The same page as tutorials build it: Nest, a guard, a ValidationPipe, TypeORM's `find()`. No row-level security (it
 * connects past it), no rate limit, no log, no headers: it does less than the API.
 */
import 'reflect-metadata';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Module, ValidationPipe } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
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
      // A filter that is not given, as tutorials write it.
      invalidWhereValuesBehavior: { undefined: 'ignore' },
    }),
    TypeOrmModule.forFeature([ApiKey, Homework]),
  ],
  controllers: [HomeworkController],
  providers: [ApiKeyGuard, HomeworkService],
})
class TextbookModule {}

const app = await NestFactory.create(TextbookModule, { logger: false });
app.useGlobalPipes(new ValidationPipe({ transform: true, whitelist: true }));
app.enableShutdownHooks();
const server = app.getHttpServer() as Server;
server.keepAliveTimeout = 65_000;
await app.listen(0, '127.0.0.1');
process.send!({ listening: (server.address() as AddressInfo).port });
