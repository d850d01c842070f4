import { createServer, ServerResponse } from 'node:http';
import { ExpressAdapter } from '@nestjs/platform-express';
import express, { type Express, type Response } from 'express';
import { Drain } from './drain.js';
import { admitMalformed } from './malformed.js';

/** Node's limits (ms). Slow clients are the proxy's. Keep-alive is longer than common proxies' idle timeout (60 s): never closed just before use. */
export const SERVER_LIMITS = {
  headersTimeout: 10_000,
  requestTimeout: 60_000,
  keepAliveTimeout: 65_000,
  connectionsCheckingInterval: 2_000,
};

/** Express on a server that lets clients finish when it closes. */
export class ServingAdapter extends ExpressAdapter {
  private drain: Drain;

  /** @param settings of Express, which reads some of them only once */
  constructor(settings: Record<string, unknown> = {}) {
    super(createExpress(settings));
  }

  override initHttpServer(): void {
    // Without a Host header, Node would answer with an empty body.
    const server = createServer({ ...SERVER_LIMITS, requireHostHeader: false }, this.getInstance<Express>());
    this.drain = new Drain(server);
    admitMalformed(server);
    this.httpServer = server;
  }

  /** From now on each response closes its connection. */
  announceClose(): void {
    this.drain.announce();
  }

  override close(): Promise<void> {
    return this.drain.close();
  }
}

/** Express without its own ETags. A request's turn ends when its response begins. */
function createExpress(settings: Record<string, unknown>): Express {
  const server = express();
  for (const [name, value] of Object.entries(settings)) server.set(name, value);
  server.disable('x-powered-by');
  server.disable('etag');
  // Whichever comes first: a response whose client has left writes no head.
  const methods = ServerResponse.prototype as unknown as Record<string, (...rest: unknown[]) => unknown>;
  for (const name of ['writeHead', 'write', 'end'] as const) {
    const method = methods[name]!;
    server.response[name] = function (this: Response, ...rest: unknown[]) {
      this.req.turn?.release();
      return method.apply(this, rest);
    } as never;
  }
  return server;
}
