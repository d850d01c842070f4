import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { AnswerSchemas } from '../../../apps/api/src/http/openapi/answers.js';
import { errorSchemas } from '../../../apps/api/src/http/openapi/errors.js';
import { operationOf } from '../../../apps/api/src/http/openapi/operation.decorator.js';
import type { Route } from '../../../apps/api/src/http/routing/route-table.js';

/** The parts of a response that the check needs. Header names are in lower case. */
export interface Answer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: string;
  /** The request's method: responses to HEAD have no body. */
  method?: string;
}

/** Details of the code, the database, the machine and its software that an error body must never reveal. */
const INTERNALS: Record<string, RegExp> = {
  stack: /\n\s*at |\bat \S+ \(|node:internal|\.[cm]?[jt]s:\d+/,
  sql: /\bselect\b.*\bfrom\b|insert into|\bupdate \w+ set\b|delete from|\brelation "|\bcolumn "|syntax error|duplicate key|violates|SQLSTATE|current_setting|row-level/is,
  sqlstate: /(?<!-)\b(?:0[A-Z0-9]|2[0-9BDF]|3[0-9BDF]|4[0-9]|5[0-9]|P0|XX)[0-9A-Z]{3}\b(?!-)/,
  path: /(?:^|[\s"'(=])\/(?:home|root|usr|var|tmp|srv|opt|app|etc)\/|node_modules|\bdist\/|\b[A-Z]:\\/,
  product: /\b(?:express|nest(?:js)?|typeorm|postgres(?:ql)?|node(?:\.?js)?|ioredis|redis|llhttp|HPE_\w+)\b/i,
  errorName: /\b(?:Type|Range|Reference|Syntax|QueryFailed|Aggregate)Error\b|\bE(?:CONN|PIPE|TIMEDOUT|NOENT)\w*|\[object |\bundefined\b|\bNaN\b/,
};

const FAULT_TYPES = new Set(
  `missing extra_forbidden string_type string_too_short string_too_long string_pattern_mismatch too_short too_long
  int_parsing int_type float_type bool_parsing bool_type list_type dict_type greater_than_equal less_than_equal enum literal_error
  uuid_parsing datetime_parsing date_parsing union_tag_not_found union_tag_invalid json_invalid value_error`.split(/\s+/),
);

/** The header that each of these statuses requires. */
const OWED: Record<number, [name: string, value: RegExp]> = {
  401: ['www-authenticate', /^Token$/],
  405: ['allow', /^[A-Z]+(, [A-Z]+)*$/],
  429: ['retry-after', /^[1-9]\d*$/],
  503: ['retry-after', /^[1-9]\d*$/],
};

/** Checks any response of the API against the contract's rules for all responses. */
export class AnswerCheck {
  private readonly ajv = new Ajv2020({ strict: false });
  private readonly errors: { name: string; fits: ValidateFunction }[];
  /** Keyed by the route's method and path. */
  private readonly successes = new Map<string, ValidateFunction>();

  /** @param routes those whose successful responses are checked against their documented schema */
  constructor(routes: Route[] = []) {
    formats.default(this.ajv);
    this.errors = Object.entries(errorSchemas).map(([name, schema]) => ({ name, fits: this.ajv.compile(schema) }));
    const answers = new AnswerSchemas(routes);
    for (const { method, path, handler } of routes) {
      const answer = operationOf(handler)?.answer;
      if (!answer) continue;
      const schemas = {};
      const schema = answers.of(method, answer, schemas);
      this.successes.set(`${method} ${path}`, this.ajv.compile({ ...schema, components: { schemas } }));
    }
  }

  /** @param route method and path, to check a success against its schema @returns the rules that the response breaks */
  faults({ status, headers, body, method }: Answer, route?: string): string[] {
    const header = (name: string) => String(headers[name] ?? '');
    const faults: string[] = [];
    if (!/^[A-Za-z0-9._-]{1,128}$/.test(header('x-request-id'))) faults.push('no request id');
    for (const name of ['server', 'x-powered-by']) if (headers[name]) faults.push(`tells ${name}`);
    if (body === '' && (status < 400 || method === 'HEAD')) return faults;
    // The landing page is not an operation, but a path with `..` can lead to it.
    if (status === 200 && !route && body.startsWith('<!doctype html>')) return faults;
    if (!header('content-type').startsWith('application/json')) {
      return [...faults, `content type ${header('content-type')}`];
    }
    let parsed: unknown;
    try {
      parsed = JSON.parse(body);
    } catch {
      return [...faults, 'a body that is not JSON'];
    }
    if (status >= 400) return [...faults, ...this.errorFaults(status, header, parsed)];
    const fits = route && this.successes.get(route);
    if (fits && !fits(parsed)) faults.push(`not the documented answer: ${this.ajv.errorsText(fits.errors)}`);
    return faults;
  }

  private errorFaults(status: number, header: (name: string) => string, body: unknown): string[] {
    const faults: string[] = [];
    const shapes = this.errors.filter(({ fits }) => fits(body)).map(({ name }) => name);
    if (shapes.length !== 1) faults.push(`fits ${shapes.length} of the error shapes`);
    if ((status === 422) !== (shapes[0] === 'ValidationError')) faults.push(`${status} with the shape ${shapes[0]}`);
    if (shapes[0] === 'ExpiredKeyError' && status !== 401) faults.push(`${status} with the shape of an expired key`);
    const told = (body as { error?: { status: unknown } }).error?.status ?? status;
    if (told !== status) faults.push(`${status} says ${JSON.stringify(told)}`);
    const owed = OWED[status];
    if (owed && !owed[1].test(header(owed[0]))) faults.push(`${status} with ${owed[0]} "${header(owed[0])}"`);
    const details = shapes[0] === 'ValidationError' ? (body as { detail: FaultDetail[] }).detail : [];
    for (const { loc, type } of details) {
      if (!FAULT_TYPES.has(type)) faults.push(`unknown fault type ${type}`);
      if (!['body', 'query', 'path', 'header'].includes(String(loc[0]))) faults.push(`a loc at ${loc[0]}`);
    }
    const said = shapes[0] === 'ValidationError' ? details.map(({ msg }) => msg) : [(body as { error?: { message: string } }).error?.message ?? ''];
    faults.push(...said.filter((text) => text !== '' && !/^\P{Ll}.*[.?]$/su.test(text)).map((text) => `no sentence: ${text}`));
    // A loc only repeats what the caller sent, so it leaks nothing.
    const ours = strings(body).join('\n');
    for (const [what, pattern] of Object.entries(INTERNALS)) {
      const hit = pattern.exec(ours);
      if (hit) faults.push(`${what} in the body: ${JSON.stringify(hit[0])}`);
    }
    return faults;
  }
}

type FaultDetail = { loc: (string | number)[]; msg: string; type: string };

/** All names and texts in the body except locs. */
function strings(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, part]) => (name === 'loc' ? [] : [name, ...strings(part)]));
}
