import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { INestApplication } from '@nestjs/common';
import { buildDocument } from '../../../apps/api/src/http/openapi/document.js';
import { templateOf } from '../../../apps/api/src/http/request-log/route-template.js';

/** Statuses that depend on the state of a record, and so on the operation. */
const OF_STATES = [409, 412];

/** Notices answers of an application's operations with a status that the OpenAPI document does not name. */
export class Undocumented {
  private readonly seen = new Set<string>();

  constructor(private readonly app: INestApplication) {
    (app.getHttpServer() as Server).on('request', (request: IncomingMessage & { route?: { path: string } }, response: ServerResponse) => {
      response.on('finish', () => {
        const { method, route } = request;
        // Probes end as tests wish.
        if (!route || route.path.startsWith('/v1/probes') || !OF_STATES.includes(response.statusCode)) return;
        this.seen.add(`${method} ${templateOf(route.path)} ${response.statusCode}`);
      });
    });
  } // prettier-ignore

  /** @returns what to do about each of them */
  faults(): string[] {
    if (this.seen.size === 0) return [];
    const { paths } = buildDocument(this.app, []);
    return [...this.seen].flatMap((one) => {
      const [method, path, status] = one.split(' ') as [string, string, string];
      const operations = paths[path] as Record<string, { responses: object }> | undefined;
      if (status in (operations?.[method.toLowerCase()]?.responses ?? {})) return [];
      return [`${method} ${path} answered ${status}: name it among its responses, in errorsOf of apps/api/src/http/openapi/document.ts`];
    });
  } // prettier-ignore
}
