import { spoilBody, toBytes } from './fuzz-bodies.js';
import { badValues, goodValues, type Parameter } from './query-values.js';
import type { Random } from '../data/random.js';
import { operationOf, type ValidWrite } from '../http/record-for.js';
import { missingIn, type Route } from '../http/routes.js';
import { pathOf, type OrganizationFixture } from '../data/fixtures.js';

/** A request in parts, each of which can be spoilt. Every character is one byte on the wire. */
export interface FuzzRequest {
  /** Method and path of the intended route. */
  route: string;
  method: string;
  path: string;
  /** Encoded pairs for the URL. */
  query: string[];
  headers: [name: string, value: string][];
  body: string;
  /** Sent instead of all the parts. */
  raw: string | null;
}

/** Methods that Node's parser knows, except CONNECT, which has no path, and some that it does not know. */
const METHODS = ['HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'PURGE', 'SEARCH', 'QUERY', 'FOO'];
const KEEPING_METHODS = METHODS.filter((method) => method !== 'DELETE');

const NAMES = [
  'limit', 'offset', 'cursor', 'status', 'from', 'to', 'student_id', 'tutor_id', 'anonymize', 'target', 'organization_id', 'id',
  '__proto__', 'constructor', 'toString', 'hasOwnProperty', 'prototype', 'then', '0', 'length', 'limit[]', 'limit[$gt]', 'a[b][c]',
  'a.b', '%00', '%ff', '%ed%a0%80', '', '%5B%5D', 'select', '%F0%9F%92%A9',
]; // prettier-ignore

const HEADERS: [name: string, value: string][] = [
  ['X-Request-Id', 'mine'], ['X-Request-Id', 'a\xe9b'], ['X-Request-Id', '%0d%0aX-Evil: 1'], ['X-Request-Id', 'a'.repeat(200)],
  ['Accept', 'text/html'], ['Accept', '\xff'], ['Content-Type', 'text/plain'], ['Content-Type', 'multipart/form-data; boundary="'],
  ['Content-Encoding', 'gzip'], ['Range', 'bytes=-1'], ['If-None-Match', '*'], ['If-None-Match', 'W/"'], ['If-Modified-Since', 'x'],
  ['If-Match', '"1"'], ['X-HTTP-Method-Override', 'DELETE'], ['Origin', 'https://evil.example'], ['Origin', 'null'],
  ['Access-Control-Request-Method', 'FOO'], ['Access-Control-Request-Headers', 'x, '.repeat(200)], ['Cookie', 'a=b; '.repeat(100)],
  ['X-Forwarded-For', '::ffff:999.1.1.1%eth0, x'], ['Forwarded', 'for="'], ['Upgrade', 'websocket'], ['Expect', '100-continue'],
  ['Expect', 'wonders'], ['Host', '[::1'], ['Idempotency-Key', '\xff'], ['Idempotency-Key', 'a'.repeat(300)], ['__proto__', 'x'],
  ['X-Long', 'a'.repeat(9_000)], ['X-Too-Long', 'a'.repeat(17_000)], ['Connection', 'close'], ['TE', 'trailers'],
]; // prettier-ignore

const AUTHORIZATIONS = [
  '', 'Token', 'Token token=', 'Token token=""', 'Bearer x', 'Basic Og==', 'Token token=x', `Token token=tk_live_${'0'.repeat(64)}`,
  `Token token=tk_live_${'g'.repeat(64)}`, '\xff\xfe', 'Token token="', `Token token=${'a'.repeat(5_000)}`, 'Token token=a, token=b',
]; // prettier-ignore

/** Generates requests: about half have one fault, most others have several. */
export class FuzzRequests {
  private readonly byRoute: Map<Route, Parameter[]>;

  constructor(
    private readonly random: Random,
    private readonly routes: Route[],
    parameters: Parameter[],
    /** Their keys hold every scope. */
    private readonly schools: OrganizationFixture[],
    /** Keys of all kinds, including revoked and expired ones. */
    private readonly keys: string[],
    /** Valid writes of each school. */
    private readonly writes: Map<OrganizationFixture, ValidWrite[]>,
    /** Paths for each deletion, each of another record of the first school. */
    private readonly spare: Map<string, string[]>,
  ) {
    this.byRoute = new Map(routes.map((route) => [route, parameters.filter((parameter) => parameter.route === route)]));
  }

  /** @param among routes, of which the request is for one */
  next(among = this.routes): FuzzRequest {
    const { random } = this;
    const request = this.valid(random.pick(among));
    if (random.chance(0.1)) return request;
    const times = random.chance(0.55) ? 1 : 2 + random.integer(5);
    for (let time = 0; time < times; time++) this.mutate(request);
    // Sometimes corrupts the raw bytes.
    if (random.chance(0.05)) request.raw = this.havoc(wireOf(request), 1 + random.integer(4), '\x00\r\n\t\x7f\x80\xff');
    return request;
  }

  private valid(route: Route): FuzzRequest {
    const { random } = this;
    const school = random.chance(0.9) ? this.schools[0]! : random.pick(this.schools);
    const parameters = this.byRoute.get(route)!.filter(() => random.chance(0.4));
    const write = this.writeOf(route, school);
    const body = this.fresh(write);
    const query = parameters.map((parameter) => {
      const own = school.query[parameter.name];
      return `${parameter.name}=${own && random.chance(0.5) ? own : random.pick(goodValues(parameter))}`;
    });
    return {
      route: `${route.method} ${route.path}`,
      method: route.method,
      path: this.spare.get(operationOf(route))?.pop() ?? write?.path ?? pathOf(route, school),
      query: [...query, ...missingIn(query.join('&'), route, school)],
      headers: [
        ['Authorization', `Token token=${random.chance(0.9) ? school.key : random.pick(this.keys)}`],
        ...(body === '' ? [] : [['Content-Type', 'application/json'] as [string, string]]),
        // Few keys for many requests cause replays, conflicts and concurrent duplicates.
        ...(route.method === 'POST' && random.chance(0.3) ? [['Idempotency-Key', `k${random.integer(40)}`] as [string, string]] : []),
      ],
      body,
      raw: null,
    }; // prettier-ignore
  }

  private writeOf(route: Route, school: OrganizationFixture): ValidWrite | undefined {
    const writes = this.writes.get(school)!.filter(({ operation }) => operation === operationOf(route));
    return writes.length > 0 ? this.random.pick(writes) : undefined;
  }

  /** Creates new people and posts each time: otherwise they would all exist after the first request. */
  private fresh(write: ValidWrite | undefined): string {
    if (!write?.body) return '';
    const number = this.random.integer(1_000_000);
    const text = JSON.stringify(write.body).replaceAll('@canary', `${number}@canary`);
    return toBytes(text.replace('"slug":"canary"', `"slug":"canary-${number}"`));
  }

  private mutate(request: FuzzRequest): void {
    const { random } = this;
    const kinds = ['value', 'value', 'value', 'value', 'twice', 'name', 'pair', 'path', 'path', 'method', 'header', 'header', 'auth', 'body', 'havoc']; // prettier-ignore
    const kind = request.body !== '' && random.chance(0.6) ? 'body' : random.pick(kinds);
    if (kind === 'value') this.spoilValue(request);
    else if (kind === 'twice' && request.query.length > 0) request.query.push(random.pick(request.query));
    else if (kind === 'path') request.path = this.spoilPath(request.path);
    else if (kind === 'method') request.method = random.pick(this.deletes(request) ? KEEPING_METHODS : METHODS);
    else if (kind === 'header') request.headers.push(random.pick(HEADERS));
    else if (kind === 'auth') this.spoilAuthorization(request);
    else if (kind === 'body') request.body = spoilBody(random, request.body, (text) => this.havoc(text, 1 + random.integer(3)));
    else if (kind === 'havoc') request.query = [this.havoc(request.query.join('&'), 1 + random.integer(8))];
    else request.query.push(`${random.pick(NAMES)}${kind === 'name' ? '' : `=${this.noise()}`}`);
  }

  /** Whether a DELETE of the same path would remove a record that other requests need. */
  private deletes({ route }: FuzzRequest): boolean {
    return this.routes.some(({ method, path }) => method === 'DELETE' && route.endsWith(` ${path}`));
  }

  private spoilValue(request: FuzzRequest): void {
    const parameters = [...this.byRoute.values()].flat();
    const own = parameters.filter(({ route }) => `${route.method} ${route.path}` === request.route);
    if (parameters.length === 0) return;
    const parameter = this.random.pick(own.length > 0 ? own : parameters);
    const value = this.random.chance(0.8) ? this.random.pick(badValues(parameter)) : this.noise();
    const others = request.query.filter((pair) => !pair.startsWith(`${parameter.name}=`));
    request.query = [...others, `${parameter.name}=${value}`];
  }

  private spoilPath(path: string): string {
    const { random } = this;
    const segments = path.split('/');
    const at = 1 + random.integer(segments.length - 1);
    const ways = [
      () => (segments[at] = this.noise()),
      () => (segments[at] = segments[at]!.toUpperCase()),
      () => (segments[at] = this.havoc(segments[at]!, 1)),
      () => (segments[at] = `%${segments[at]!.charCodeAt(0).toString(16)}${segments[at]!.slice(1)}`),
      () => segments.splice(at, 0, random.pick(['', '.', '..', '%2e%2e', '__proto__', 'x'])),
      () => segments.splice(at, 1),
      () => segments.push(''),
      () => segments.push(...segments.slice(1)),
    ];
    random.pick(ways)();
    const spoilt = segments.join('/');
    return spoilt.startsWith('/') ? spoilt : `/${spoilt}`;
  }

  private spoilAuthorization(request: FuzzRequest): void {
    const others = request.headers.filter(([name]) => name !== 'Authorization');
    const key = this.random.pick(this.keys);
    const value = this.random.pick([...AUTHORIZATIONS, `Token token="${key}"`, key, `Token token=${this.havoc(key, 1)}`]);
    request.headers = value === '' ? others : [...others, ['Authorization', value]];
  }

  /** A value made of characters with special meanings. */
  private noise(): string {
    const { random } = this;
    const pieces = [
      '%00', '%ff', '%', '%25', '%0a', '%0d%0a', '+', '0', '-1', '1e9', '9'.repeat(20), 'a', '[]', '{}', '(', "'", '"', ';', '--', '$1', '\\',
      '/', '..', '<', 'null', 'true', '2026-02-30', 'start', '%ed%a0%80', '%F0%9F%92%A9', '%E2%80%AE', 'x'.repeat(500), '=', ',', '*',
    ]; // prettier-ignore
    return Array.from({ length: 1 + random.integer(4) }, () => random.pick(pieces)).join('');
  }

  private havoc(text: string, times: number, extra = ''): string {
    const { random } = this;
    const alphabet = `%&=?#/+;,.:-_~'"<>[]{}()|^\`$@!*\\0a9ZAf${extra}`;
    let bytes = text;
    for (let time = 0; time < times; time++) {
      const at = random.integer(bytes.length + 1);
      const removed = random.integer(3);
      const put = random.chance(0.7) ? alphabet.charAt(random.integer(alphabet.length)) : bytes.slice(at, at + random.integer(20));
      bytes = bytes.slice(0, at) + put + bytes.slice(at + removed);
    }
    return bytes;
  }
}

export function targetOf({ path, query }: FuzzRequest): string {
  return query.length === 0 ? path : `${path}?${query.join('&')}`;
}

/** The request's bytes, to be sent on its own connection. */
export function wireOf(request: FuzzRequest): string {
  if (request.raw !== null) return request.raw;
  const length: [string, string][] = request.body === '' ? [] : [['Content-Length', String(request.body.length)]];
  const headers = [['Host', '127.0.0.1'], ['Connection', 'close'], ...length, ...request.headers];
  const lines = headers.map(([name, value]) => `${name}: ${value}`).join('\r\n');
  return `${request.method} ${targetOf(request)} HTTP/1.1\r\n${lines}\r\n\r\n${request.body}`;
}
