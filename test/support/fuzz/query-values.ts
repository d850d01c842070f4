import { queryClassOf } from '../../../apps/api/src/http/validation/declared.js';
import { queryFieldsOf } from '../../../apps/api/src/http/validation/fields.js';
import { dateBound, day, FIELDS, type Kind as DeclaredKind } from '@app/fields';
import type { TestApi } from '../http/api.js';
import { documentOf, keyedReads, queryOf, type Route, type Schema } from '../http/routes.js';

/** A query parameter of a read, from the OpenAPI document. */
export type Parameter = { route: Route; name: string; kind: Kind; schema: Schema };

export type Kind = 'integer' | 'boolean' | 'uuid' | 'date' | 'cursor' | 'brand' | 'token' | 'text' | 'enum';

const BY_KIND = new Map<DeclaredKind, Kind>([
  [dateBound, 'date'],
  [day, 'date'],
  [FIELDS.blog_posts.brand, 'brand'],
]);

/** Every query parameter of every read. */
export async function parametersOfReads(api: TestApi): Promise<Parameter[]> {
  const document = await documentOf(api);
  return keyedReads(api).flatMap((route) => {
    const declared = new Map(queryFieldsOf(queryClassOf(route.handler) ?? Object).map(({ name, kind }) => [name, kind]));
    return [...queryOf(document, route)].map(([name, schema]) => {
      return { route, name, schema, kind: kindOf(name, declared.get(name)!, schema) };
    });
  });
}

function kindOf(name: string, declared: DeclaredKind, { type, format, enum: values, pattern, examples, minLength }: Schema): Kind {
  if (values) return 'enum';
  if (format === 'uuid') return 'uuid';
  if (type === 'integer' || type === 'boolean') return type;
  return (
    BY_KIND.get(declared) ??
    (name === 'cursor' && examples?.includes('start') ? 'cursor' : pattern && examples && minLength === undefined ? 'token' : 'text')
  );
}

/** URL-encoded values that each kind must accept. */
export const GOOD: Record<Exclude<Kind, 'enum' | 'token'>, string[]> = {
  integer: ['1', '2', '007', '100'],
  boolean: ['true', 'false', '1', '0'],
  uuid: ['0190a6f2-5c1e-7d3a-9b4f-2e8c6d1a7f30', '0190A6F2-5C1E-7D3A-9B4F-2E8C6D1A7F30'],
  date: [
    '0001-01-01', '9999-12-31', '2024-02-29', '2026-05-01T09:30:00Z', '2026-05-01T09:30:00.123456789Z',
    '2026-05-01T09:30', '2026-05-01T23:59:59.999-11:30', '2026-05-01T00:00:00%2B14:00', '2026-05-01t00:00z',
  ], // prettier-ignore
  cursor: ['start'],
  brand: ['primary', 'secondary'],
  text: ['a', 'Ada%20L', 'null', '%E2%98%83', '%27'],
};

/** Values that every kind must reject: empty, NUL, invalid UTF-8, lone surrogates, code in other languages. */
const NEVER = [
  '', '%00', '%ff', '%c3', '%ed%a0%80', '%', '%zz', '%u0031', 'null', 'undefined', 'NaN', '[object%20Object]',
  '__proto__', 'constructor', 'toString', '%7B%7D', '%5B%5D', `'%20OR%201=1--`, '$1', '%25s', '%0d%0aX-Evil:%201',
  '%E2%80%AE', '%F0%9F%92%A9', 'x'.repeat(2000),
]; // prettier-ignore

const UUID = '0190a6f2-5c1e-7d3a-9b4f-2e8c6d1a7f30';

/** URL-encoded values that each kind must reject. */
export const BAD: Record<Kind, string[]> = {
  integer: [
    ...NEVER, '1e1', '0x10', '0b11', '0o17', '%2010%20', '+10', '%2B10', '10%20', '%0910', '10%0a', '10%00', '1.5', '1.0',
    '.5', '-1', '-', '--1', '1,0', '1_0', '10n', 'true', 'Infinity', '%D9%A1', '%EF%BC%91', '99999999999999999999',
    '9007199254740993', '2147483648', '-9223372036854775809', `${'0'.repeat(60)}99999999999999999999`, '9'.repeat(400),
  ],
  boolean: [...NEVER, 'yes', 'no', 'on', 'off', 't', '2', '-1', '01', '+1', 'true%20', 'true%00'],
  uuid: [
    ...NEVER, `{${UUID}}`, `%7B${UUID}%7D`, UUID.replaceAll('-', ''), UUID.slice(1), `${UUID}0`, `urn:uuid:${UUID}`,
    `${UUID}%0a`, `${UUID}%00`, `%20${UUID}`, UUID.replace('0', 'g'), UUID.replace('0', 'o'), UUID.replace('0', '%EF%BC%90'),
    UUID.replaceAll('-', '%E2%80%90'), '1', '%2e%2e%2f',
  ],
  date: [
    ...NEVER, '2024-02-30', '2023-02-29', '1900-02-29', '2024-00-01', '2024-13-01', '2024-04-31', '2024-01-00',
    '0000-01-01', '0000-12-31T23:59:59Z', '10000-01-01', '%2B010000-01-01', '+010000-01-01T00:00:00Z', '-000001-01-01',
    '2024-W05-1', '2024-W05', '2024W051', '2024-032', '20240131', '2024', '2024-01', '24-01-01', '2024-1-1', '01/02/2024',
    'infinity', '-infinity', 'now', 'today', 'tomorrow', 'epoch', 'allballs', '1700000000', '1e12',
    '2024-01-01T24:00:00Z', '2024-01-01T23:60:00Z', '2016-12-31T23:59:60Z', '2024-01-01T25:00Z', '2024-01-01T10',
    '2024-01-01T10:00:00.Z', '2024-01-01T10:00:00.1234567890Z', '2024-01-01T10:00:00%2B16:00', '2024-01-01T10:00:00%2B10:60',
    '2024-01-01T10:00:00+10:00', '2024-01-01%2010:00:00Z', '2024-01-01T10:00:00UTC', '2024-01-01T10:00:00[Australia/Melbourne]',
    '0001-01-01T00:00:00%2B14:00', '9999-12-31T23:59:59-14:00', '2024-01-01%00', '2024-01-01%0a', '%202024-01-01',
    'Mon,%2001%20Jan%202024%2000:00:00%20GMT', '%D9%A2%D9%A0%D9%A2%D9%A4-01-01',
  ],
  cursor: [
    ...NEVER, 'START', 'Start', 'start%20', 'start%00', 'end', '0', UUID, 'A'.repeat(53), 'A'.repeat(54), 'A'.repeat(55),
    `${'A'.repeat(52)}==`, `${'A'.repeat(53)}%2B`, `${'A'.repeat(53)}/`, '_'.repeat(54),
  ],
  brand: [...NEVER, 'tertiary', 'Primary', 'primary%20', 'primary%00', 'primary,secondary', '0'],
  token: NEVER,
  text: ['%00', '%ff', '%c3', '%ed%a0%80', '%', '%zz', 'a%00', '%1b', 'a%08', '%ed%b0%80', 'x'.repeat(5_000)],
  enum: [...NEVER, 'unheard_of', '0', 'true'],
}; // prettier-ignore

/** The fault types for bad values of each kind. */
export const FAULTS: Record<Kind, string[]> = {
  integer: ['int_parsing', 'greater_than_equal', 'less_than_equal'],
  boolean: ['bool_parsing'],
  uuid: ['uuid_parsing'],
  date: ['date_parsing'],
  cursor: ['value_error'],
  brand: ['enum'],
  token: ['value_error', 'string_pattern_mismatch'],
  text: ['value_error', 'string_too_short', 'string_too_long'],
  enum: ['enum'],
};

export function goodValues({ kind, schema }: Parameter): string[] {
  if (kind === 'token') return (schema.examples as string[]).map(encodeURIComponent);
  if (kind === 'integer') {
    const { minimum = 0, maximum = Infinity } = schema;
    return [...GOOD.integer.filter((value) => Number(value) >= minimum && Number(value) <= maximum), String(minimum)];
  }
  // A search has at least two characters.
  if (kind === 'text' && schema.minLength === 2) return GOOD.text.filter((value) => decodeURIComponent(value).length >= 2);
  return kind === 'enum' ? (schema.enum as string[]) : GOOD[kind];
}

/** Bad values for the kind, and values just beyond this parameter's limits or similar to its enum values. */
export function badValues({ kind, schema }: Parameter, few = (values: string[]) => values): string[] {
  const { minimum = 0, maximum = Infinity } = schema;
  // An offset has no end.
  const beyond = kind === 'integer' ? [minimum - 1, ...(maximum < Infinity ? [maximum + 1] : [])].map(String) : [];
  const beside = ((schema.enum ?? (kind === 'token' ? schema.examples : [])) as string[]).flatMap((value) => [
    value === value.toUpperCase() ? value.toLowerCase() : value.toUpperCase(),
    `${value}%20`,
    `${value}%00`,
    value.slice(1),
  ]);
  const bad = [...few(BAD[kind]), ...beyond, ...beside].filter((value) => maximum < Infinity || kind !== 'integer' || !/^\d+$/.test(value));
  // What looks wrong may fit the pattern of a token; encoded values never do.
  return kind === 'token' ? bad.filter((value) => value.includes('%') || !new RegExp(schema.pattern!).test(value)) : bad;
}
