import pg from 'pg';
import type { View } from '../../../apps/api/src/http/views/view.js';
import { Records } from '../../../apps/api/src/http/lists/records.js';
import { Source } from '../../../apps/api/src/http/lists/source.js';
import { operationOf } from '../../../apps/api/src/http/openapi/operation.decorator.js';
import { type Column, readColumns } from '../../support/database/columns.js';
import { SourceStatements } from '../../support/database/source-statements.js';
import { everyWrite, isUpload, validWrites } from '../../support/http/record-for.js';
import { call, documentOf, filtersOf, keyedReads, nameOf, type Route, type Schema } from '../../support/http/routes.js';
import { TenancySweep } from '../../support/http/tenancy-sweep.js';
import { fieldsOfBody } from '../../support/http/valid-bodies.js';
import { fixture } from '../../support/process/fixture.js';

/** Tables that every write fills with values of its own. */
const OF_THE_PIPELINE = ['api_keys', 'audit_log', 'idempotency_keys', 'outbox'];

/** Values of a CHECK that an operation leaves out on purpose, by its table and column. */
const LEFT_OUT: Record<string, { values: string[]; reason: string }> = {
  'GET members.role': { values: ['student'], reason: 'the staff are listed; students have their own list' },
  'GET outbox.status': { values: ['suppressed'], reason: 'only mails are' },
  'POST sessions.status': { values: ['completed', 'cancelled'], reason: 'complete and cancel make these' },
  'PUT sessions.status': { values: ['completed', 'cancelled'], reason: 'complete and cancel make these' },
  'PATCH booking_requests.status': { values: ['matched', 'expired'], reason: 'a booking and time make these' },
  'PATCH inbox_messages.status': { values: ['unread'], reason: 'nothing leads back' },
  'POST payments.payment_type': { values: ['card'], reason: 'money that is received outside is recorded' },
  'POST invites.role': { values: ['parent'], reason: 'the scope decides' },
  'POST invites.scope': { values: ['account'], reason: 'send-invite makes these' },
};

/** Fields whose values a setting lists: BLOG_BRANDS is checked at start. */
const NARROWED = ['blog_posts.brand'];

/** Fields that are called like a column of another table that their operation writes. */
const NAMESAKES = [
  'POST /v1/sessions lesson_participants.status',
  'PUT /v1/sessions/:session_id lesson_participants.status',
  'POST /v1/session-series lesson_participants.status',
  'POST /v1/sessions booking_requests.status',
  'POST /v1/session-series booking_requests.status',
  'PATCH /v1/lesson-participants/:participant_id sessions.status',
];

const sweep = await fixture(TenancySweep.open());
const { api, fixtures } = sweep;
const { make, a: school } = fixtures;
const document = await documentOf(api);

/** A field of a request, or a field or filter of a response, and the column that it stands for. */
type Use = { operation: string; field: string; schema: Schema; table: string };

/** Fields of requests, each with the tables that its operation writes, and that have a column of this name. */
async function written(): Promise<Use[]> {
  const uses: Use[] = [];
  const routes = everyWrite(api).filter((route) => !isUpload(route));
  const texts: string[] = [];
  const original = Object.getOwnPropertyDescriptor(pg.Client.prototype, 'query')!.value as (...args: unknown[]) => unknown;
  vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function (this: pg.Client, ...args: unknown[]) {
    const [query] = args as [string | { text?: string }];
    texts.push(typeof query === 'string' ? query : (query.text ?? ''));
    return original.apply(this, args);
  });
  for (const write of await validWrites(routes, make, school)) {
    texts.length = 0;
    const { status, text } = await sweep.write(write, school);
    expect([write.operation, status < 300, text]).toEqual([write.operation, true, text]);
    const { inserts, updates } = SourceStatements.in(texts.map((one) => `\`${one}\``).join('\n'));
    for (const table of new Set([...inserts.keys(), ...updates.keys()])) {
      if (OF_THE_PIPELINE.includes(table)) continue;
      for (const [field, schema] of fieldsOfBody(write.route)) {
        if (NAMESAKES.includes(`${write.operation} ${table}.${field}`)) continue;
        uses.push({ operation: write.operation, field, schema: schema, table });
      }
    }
  }
  vi.restoreAllMocks();
  return uses;
} // prettier-ignore

/** Fields of responses and filters, each with the driving table of its operation. */
async function shown(): Promise<Use[]> {
  const uses: Use[] = [];
  const note = (route: Route, source: Source, fields: Iterable<[string, Schema]>) => {
    const table = source.table.sql.split(' ')[0]!;
    for (const [field, schema] of fields) uses.push({ operation: nameOf(route), field, schema, table });
  };
  const get = vi.spyOn(Records.prototype, 'get');
  for (const route of keyedReads(api)) {
    const list = operationOf(route.handler)?.list;
    get.mockClear();
    await call(api, route, school);
    const sources = get.mock.calls.map(([caller, { view, source }]): [View, Source] => [view, source instanceof Source ? source : source(caller)]);
    for (const [view, source] of list ? [[list.view, list.source] as const] : sources) {
      note(route, source, Object.entries(view.schema.properties as Record<string, Schema>));
      note(route, source, filtersOf(document, route));
    }
  }
  get.mockRestore();
  return uses;
}

const [inBodies, inAnswers] = [await written(), await shown()];

/** Values at the limits of what the schema allows. */
function extremes(schema: Schema & { maxLength?: number; minLength?: number; maxItems?: number; items?: Schema }): unknown[] {
  const { enum: values, minLength = 0, maxLength = 1_000_000, minimum, maximum, maxItems = 10_000, items, format, pattern, examples } = schema;
  const [type] = [schema.type].flat().filter((name) => name !== 'null');
  if (values) return values.filter((value) => value !== null);
  if (type === 'integer' || type === 'number') return [minimum ?? -Number.MAX_SAFE_INTEGER, maximum ?? Number.MAX_SAFE_INTEGER];
  if (type === 'array') return extremes(items ?? {}).flatMap((item) => [[item], Array.from({ length: maxItems }, () => item)]);
  if (type !== 'string' || (format !== undefined && format !== 'uri')) return [];
  const text = (length: number) => (format === 'uri' ? 'https://'.padEnd(Math.max(length, 9), 'a') : 'a'.repeat(length));
  const fits = (value: string) => pattern === undefined || format === 'uri' || new RegExp(pattern).test(value);
  return [text(minLength), text(maxLength), ...((examples ?? []) as string[])].filter(fits);
} // prettier-ignore

type Check = { table: string; column: string; expression: string };

/** Values that a request may have, although a CHECK of the column refuses them, and values that an enum lacks. */
async function faults(): Promise<string[]> {
  const checks = await make.query<Check>(`
    SELECT c.relname AS table, a.attname AS column, pg_get_expr(k.conbin, k.conrelid) AS expression
    FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid JOIN pg_attribute a ON a.attrelid = c.oid AND k.conkey = ARRAY[a.attnum]
    WHERE k.contype = 'c' AND c.relnamespace = 'public'::regnamespace`);
  const found = new Set<string>();
  for (const { operation, field, schema, table } of inBodies) {
    if (NARROWED.includes(`${table}.${field}`)) continue;
    for (const { column, expression } of checks.filter((check) => check.table === table && check.column === field)) {
      for (const value of extremes(schema)) {
        const allowed = await make
          .query<{ ok: boolean | null }>(`SELECT (${expression}) AS ok FROM jsonb_populate_record(NULL::${table}, $1)`, [
            JSON.stringify({ [column]: value }),
          ])
          .then(([row]) => row!.ok, () => false);
        if (allowed === false) {
          found.add(`${operation}: "${field}" may be ${JSON.stringify(value).slice(0, 20)} (${JSON.stringify(value).length}), which the CHECK of ${table}.${column} refuses: narrow it in the dto`);
        }
      }
    }
  }
  const columns = await readColumns((sql) => make.query(sql));
  for (const use of [...inBodies, ...inAnswers]) {
    const column = columns.find(({ table, name }) => table === use.table && name === use.field);
    if (column?.values && use.schema.enum) for (const line of lacking(use, column)) found.add(line);
  }
  return [...found];
} // prettier-ignore

/** All values that the operation's variants allow count. */
function lacking({ operation, field, table }: Use, { values, name }: Column): string[] {
  const all = [...inBodies, ...inAnswers].filter((one) => one.operation === operation && one.field === field && one.table === table);
  const known = all.flatMap(({ schema }) => schema.enum ?? []);
  const leftOut = LEFT_OUT[`${operation.split(' ')[0]} ${table}.${name}`]?.values ?? [];
  const missing = values!.filter((value) => !known.includes(value) && !leftOut.includes(value));
  return missing.map((value) => `${operation}: "${field}" lacks "${value}" of the CHECK of ${table}.${name}: add it to the enum, or say in LEFT_OUT why not`);
} // prettier-ignore

it('requests stay within the CHECKs of the columns that they write, and enums have every value of theirs', async () => {
  const compared = new Set(inBodies.map(({ table, field }) => `${table}.${field}`));
  expect([...compared]).toEqual(expect.arrayContaining(['blog_posts.title', 'users.first_name', 'invites.email']));
  expect(await faults()).toEqual([]);
});

it('a narrower CHECK, or one with another value, is named with the operation', async () => {
  const [status] = await make.query<{ name: string }>(`SELECT conname AS name FROM pg_constraint
    WHERE conrelid = 'blog_posts'::regclass AND pg_get_constraintdef(oid) LIKE '%''draft''::text, %'`);
  await make.query(`ALTER TABLE blog_posts DROP CONSTRAINT ${status!.name},
    ADD CHECK (status IN ('draft', 'published', 'planted')), ADD CHECK (char_length(title) <= 299) NOT VALID`);
  const named = (await faults()).map((line) => line.replace(/ \(\d+\).*| of the CHECK.*/, ''));
  expect(named.sort()).toEqual([
    'GET /v1/blog-posts/{post_id}: "status" lacks "planted"',
    'GET /v1/blog-posts: "status" lacks "planted"',
    'PATCH /v1/blog-posts/:post_id: "status" lacks "planted"',
    `PATCH /v1/blog-posts/:post_id: "title" may be "${'a'.repeat(19)}`,
    'POST /v1/blog-posts: "status" lacks "planted"',
    `POST /v1/blog-posts: "title" may be "${'a'.repeat(19)}`,
  ]);
});
