/**
 * The work of limit/ in a single handler of Nest on Express: no guard, interceptor, validation or log. Shows what the
 * framework costs before the API does anything.
 */
import 'reflect-metadata';
import type { AddressInfo } from 'node:net';
import { Controller, Get, Module, Req, Res } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { Request, Response } from 'express';
import { answer } from '../limit/answer.js';

const KEEP_ALIVE_TIMEOUT = 65_000;

@Controller()
class FrameController {
  @Get('*path')
  async get(@Req() request: Request, @Res({ passthrough: true }) response: Response): Promise<string> {
    const [status, body, headers = []] = await answer(request.url, request.headers.authorization);
    response.status(status);
    for (const [name, value] of headers) response.setHeader(name, value);
    return body;
  }
}

@Module({ controllers: [FrameController] })
class FrameModule {}

const app = await NestFactory.create<NestExpressApplication>(FrameModule, { logger: false, bodyParser: false });
app.disable('x-powered-by');
app.disable('etag');
app.enableShutdownHooks();
const server = app.getHttpServer();
server.keepAliveTimeout = KEEP_ALIVE_TIMEOUT;
await app.listen(0, '127.0.0.1');
process.send!({ listening: (server.address() as AddressInfo).port });
