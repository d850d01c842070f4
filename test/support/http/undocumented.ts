import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { INestApplication } from '@nestjs/common';
import { type Operation, operationOf } from '../../../apps/api/src/http/openapi/operation.decorator.js';
import { RouteTable } from '../../../apps/api/src/http/routing/route-table.js';

/** Statuses that depend on the state of a record, and so on the operation. */
const OF_STATES = [409, 412];

/** Of a key in use, or whose answer can no longer be read: every operation with a key has these. */
const OF_KEYS = /\bthis Idempotency-Key\b/;

type Routed = IncomingMessage & { route?: { path: string } };

/** Notices error codes of an application's operations that their declarations do not name. */
export class Undocumented {
  private readonly seen = new Set<string>();

  constructor(private readonly app: INestApplication) {
    (app.getHttpServer() as Server).on('request', (request: Routed, response: ServerResponse) => {
      // An own property hides the prototype's method, for one call.
      const end = (...body: unknown[]): ServerResponse => {
        Reflect.deleteProperty(response, 'end');
        if (OF_STATES.includes(response.statusCode)) this.note(request, String(body[0]));
        return (response.end as (...body: unknown[]) => ServerResponse)(...body);
      };
      Object.assign(response, { end });
    });
  }

  private note({ method, route }: Routed, body: string): void {
    // Probes end as tests wish; a HEAD has no body, and is answered as its GET.
    if (!route || method === 'HEAD' || route.path.startsWith('/v1/probes')) return;
    const { code, message } = (JSON.parse(body) as { error: { code: string; message: string } }).error;
    if (!OF_KEYS.test(message)) this.seen.add(`${method} ${route.path} ${code}`);
  }

  /** @throws Error that says what to do about each of them, once */
  check(): void {
    const faults = this.faults();
    this.seen.clear();
    if (faults.length > 0) throw new Error(faults.join('\n'));
  }

  private faults(): string[] {
    if (this.seen.size === 0) return [];
    const routes = this.app.get(RouteTable).routes();
    return [...this.seen].flatMap((one) => {
      const [method, path, code] = one.split(' ') as [string, string, string];
      const handler = routes.find((route) => route.method === method && route.path === path)?.handler;
      const operation = handler && operationOf(handler);
      if (operation && codesOf(operation, method !== 'POST' || path.includes(':')).includes(code)) return [];
      return [`${method} ${path} answered ${code}: name it among the conflicts of its @Documented, or as versioned`];
    });
  }
}

function codesOf({ conflicts = [], versioned }: Operation, changes: boolean): string[] {
  return [...conflicts, ...(versioned && changes ? ['precondition_failed'] : [])];
}
