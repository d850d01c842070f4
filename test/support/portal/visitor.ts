import type supertest from 'supertest';
import type { TestPortal } from './portal.js';

let networks = 0;

/** Somebody with a browser: keeps cookies and has their own network. */
export class Visitor {
  readonly cookies = new Map<string, string>();
  constructor(
    readonly portal: TestPortal,
    /** The Cookie header of somebody who is signed in. */
    session?: string,
    /** Needs TRUST_PROXY. */
    readonly network = `198.18.${Math.floor(++networks / 250) % 256}.${(networks % 250) + 1}`,
  ) {
    if (session) this.keep([session]);
  }

  get(path: string): Promise<supertest.Response> {
    return this.send(this.portal.get(path, this.header));
  }

  post(path: string, fields: Record<string, string> = {}): Promise<supertest.Response> {
    return this.send(this.portal.post(path, fields, this.header).set('Origin', this.origin));
  }

  /** Sends JSON, as the passkey script does. */
  json(path: string, body: object): Promise<supertest.Response> {
    return this.send(this.portal.post(path, {}, this.header).set('Origin', this.origin).type('json').send(body));
  }

  /** Sends a form from a page of another site, with this browser's cookies. */
  postFromElsewhere(path: string, fields: Record<string, string> = {}): Promise<supertest.Response> {
    const origin = { Origin: 'https://attacker.example', 'Sec-Fetch-Site': 'cross-site' };
    return this.send(this.portal.post(path, fields, this.header).set(origin));
  }

  /** Follows redirects. @returns the final response */
  async follow(answer: supertest.Response): Promise<supertest.Response> {
    return answer.status === 303 ? this.follow(await this.get(answer.headers.location!)) : answer;
  }

  /** The portal's, as in this browser's address bar. */
  get origin(): string {
    return `http://127.0.0.1:${this.portal.port}`;
  }

  /** The Cookie header. */
  get header(): string {
    return [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  }

  private async send(request: supertest.Test): Promise<supertest.Response> {
    const answer = await request.set('X-Forwarded-For', this.network);
    this.keep((answer.headers['set-cookie'] ?? []) as unknown as string[]);
    return answer;
  }

  private keep(set: string[]): void {
    for (const line of set) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)!;
      if (value) this.cookies.set(name!, value);
      else this.cookies.delete(name!);
    }
  }
}
