import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** A routing service that speaks the HTTP API of OSRM, in a flat country: a degree takes an hour, by a road of 111 km. */
export class RoutingServer {
  /** Every request so far. */
  readonly asked: { method: string; url: string; headers: NodeJS.Dict<string | string[]>; body: string }[] = [];
  answer: Answer = () => undefined;

  private constructor(
    private readonly server: Server,
    readonly url: string,
  ) {}

  static async start(): Promise<RoutingServer> {
    const server = createServer((request, response) => {
      void (async () => {
        let body = '';
        for await (const chunk of request) body += String(chunk);
        routing.asked.push({ method: request.method!, url: request.url!, headers: request.headers, body });
        routing.answer(request, response);
      })();
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const routing = new RoutingServer(server, `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    return routing;
  }

  /** The coordinates of each request, as latitude and longitude. */
  get places(): string[][] {
    return this.asked.map(({ url }) => pointsOf(url).map(([lng, lat]) => `${lat},${lng}`));
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }
}

const pointsOf = (url: string): [number, number][] =>
  /^\/table\/v1\/driving\/([^?]+)\?/.exec(url)![1]!.split(';').map((pair) => pair.split(',').map(Number) as [number, number]); // prettier-ignore

/** The tables for a request. @param change of a row of seconds and one of meters */
export function tablesFor(url: string, change = (row: (number | null)[]): unknown => row) {
  const points = pointsOf(url);
  const degrees = points.map(([lng, lat]) => Math.hypot(lng - points[0]![0], lat - points[0]![1]));
  const [durations, distances] = [degrees.map((far) => far * 3_600), degrees.map((far) => far * 111_000)];
  return { code: 'Ok', durations: [change(durations)], distances: [change(distances)], sources: [], destinations: [] };
}

export const json = (response: ServerResponse, body: unknown, status = 200): void => {
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
};
