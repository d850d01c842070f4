import { Body as NestBody, Controller, Get, Post, type Type } from '@nestjs/common';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import supertest from 'supertest';
import { orDefault, parameter, queryOf, RequireScopes, required, ValidBody, ValidQuery } from '../../../apps/api/src/http/kit.js';
import * as field from '../../../apps/api/src/http/validation/fields.js';
import { loadEnv } from '@app/config';
import { kinds, listOf } from '@app/fields';
import { namesOf, readObject } from '../../../apps/api/src/http/validation/read-object.js';
import { parseJson } from '../../../apps/api/src/http/validation/parse-json.js';
import { parseQuery } from '../../../apps/api/src/http/validation/query-parser.js';
import { object } from '../../../apps/api/src/http/validation/nested-kinds.js';
import { TestApi } from '../../support/http/api.js';
import { KIND_ROWS as ROWS, type KindRow as Row } from '../../support/fuzz/kind-values.js';
import { send } from '../../support/http/routes.js';
import { fixture } from '../../support/process/fixture.js';

/** Values of each type of JSON, and the fault of a kind that is none of it. */
const TYPES: Record<string, string> = { null: 'null', boolean: 'true', integer: '1', string: '"text"', array: '[]', object: '{}' };
const REFUSALS: Record<string, string> = {
  boolean: 'bool_type',
  integer: 'int_type',
  number: 'float_type',
  string: 'string_type',
  array: 'list_type',
  object: 'dict_type',
};

/** Classes with the kind at every place of a body where a value can be. */
function shapesOf({ kind }: Row) {
  class Item {}
  field.bodyField(kind, { required: true })(Item.prototype, 'value');
  class Whole {}
  const declare = (name: string, decorator: PropertyDecorator) => decorator(Whole.prototype, name);
  declare('required', field.bodyField(kind, { required: true }));
  declare('optional', field.bodyField(kind, {}));
  declare('nullable', field.bodyField(kind, { nullable: true }));
  declare('listed', field.bodyField(listOf(kind, { max: 3 }), {}));
  declare('items', field.Objects(Item, { max: 2 }));
  declare('nested', field.Nested(Item));
  return { Whole, object: object(Whole) };
}

/** Where a value is in a body that has it at every place; in lists, after a good one. */
const PLACES: (string | number)[][] = [
  ['required'], ['optional'], ['nullable'], ['listed', 1], ['items', 1, 'value'], ['nested', 'value'],
]; // prettier-ignore

const everywhere = (value: string, good: string) =>
  `{"required":${value},"optional":${value},"nullable":${value},"listed":[${good},${value}],` +
  `"items":[{"value":${good}},{"value":${value}}],"nested":{"value":${value}}}`;

const SETTINGS = loadEnv({}, {});

const path = (name: string) => `/v1/planted/${name}`;
const names = Object.keys(ROWS);
const shapes = new Map(names.map((name) => [name, shapesOf(ROWS[name]!)]));
const inQuery = names.filter((name) => ROWS[name]!.query !== null);

const queries = new Map(
  names.map((name) => {
    const { kind, query } = ROWS[name]!;
    const one = parameter('value', kind, 'Optional.');
    return [name, queryOf(query === null ? [] : [one, required({ ...one, name: 'required' })])];
  }),
);

/** A POST and a GET for each kind that answer what their handlers get. */
function planted(name: string): Type {
  const Queried = queries.get(name)!;

  @Controller(path(name))
  class Planted {
    @Post()
    @RequireScopes('write')
    post(@ValidBody(shapes.get(name)!.Whole) @NestBody() body: object): object {
      return body;
    }

    @Get()
    @RequireScopes('read')
    get(@ValidQuery(Queried) query: object): object {
      return query;
    }
  }
  return Planted;
}

const api = await fixture(TestApi.start({}, undefined, names.map(planted)));
const key = await api.key((await api.make.organization()).id, { scopes: ['read', 'write'] });

interface Told {
  status: number;
  value: unknown;
  faults: string[];
}

async function told(request: Promise<{ status: number; body: unknown }>): Promise<Told> {
  const { status, body } = await request;
  const { detail = [] } = body as { detail?: { loc: unknown[]; type: string }[] };
  return { status, value: body, faults: detail.map(({ loc, type }) => `${loc.join(' ')} ${type}`) };
}

const post = (name: string, body: string) =>
  told(supertest(api.server).post(path(name)).set('Authorization', `Token token=${key}`).type('json').send(body));
/** What the API makes of a body or a query before a handler runs: over HTTP, one of each is enough. */
const read = (shape: new () => object, raw: unknown, from: 'body' | 'query') => {
  const { value, faults } = readObject(shape, raw as object, SETTINGS);
  return { value: JSON.parse(JSON.stringify(value)) as unknown, faults: faults.list.map(({ at, type }) => `${[from, ...at].join(' ')} ${type}`) };
};
const readBody = async (name: string, body: string) => {
  const { Whole } = shapes.get(name)!;
  return read(Whole, await parseJson(Buffer.from(body), namesOf(Whole)), 'body');
};
const readQuery = (name: string, query: string) => read(queries.get(name)!, parseQuery(query), 'query');
const get = async (name: string, query: string) => {
  const { status, text } = await send(api, 'GET', `${path(name)}?${query}`, { Authorization: `Token token=${key}` });
  return told(Promise.resolve({ status, body: JSON.parse(text) as unknown }));
};

/** Texts are written plainly in the table. */
const isText = ({ kind }: Row) => kind.schema.type === 'string';
const written = (row: Row, value: string) => (isText(row) ? JSON.stringify(value) : value);
const goodOf = (row: Row): [string, unknown][] => (Array.isArray(row.good) ? row.good.map((value) => [value, value]) : Object.entries(row.good));

const at = (value: unknown, loc: (string | number)[]): unknown =>
  loc.reduce<unknown>((inner, name) => (inner as Record<string, unknown>)[name], value);

describe.each(names)('the kind %s', (name) => {
  const row = ROWS[name]!;
  const good = written(row, goodOf(row)[0]![0]);

  it('takes good values at every place of a body, and documents them', async () => {
    const ajv = formats.default(new Ajv2020({ strict: false, formats: { 'id-or-code': true } }));
    const fits = ajv.compile(shapes.get(name)!.object.schema);
    for (const [text, value] of goodOf(row)) {
      const sent = everywhere(written(row, text), good);
      const answer = await readBody(name, sent);
      expect([sent, answer.faults]).toEqual([sent, []]);
      expect(PLACES.map((loc) => at(answer.value, loc))).toEqual(PLACES.map(() => value));
      if (!row.undocumented?.includes(text)) expect([sent, fits(JSON.parse(sent))]).toEqual([sent, true]);
    }
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  it('refuses bad values and other types at every place of a body, once each', async () => {
    const type = String(row.kind.schema.type);
    const others = Object.entries(TYPES).filter(([other]) => other !== type && !(type === 'number' && other === 'integer'));
    const refusal = row.bad.enum ? 'enum' : REFUSALS[type]!;
    const cases = [
      ...Object.entries(row.bad).flatMap(([fault, values]) => values.map((value) => [written(row, value), fault])),
      ...others.map(([, value]) => [value, refusal]),
    ] as [string, string][];
    for (const [value, fault] of cases) {
      const sent = everywhere(value, good);
      const { faults } = await readBody(name, sent);
      const refused = PLACES.filter(([field]) => value !== 'null' || field !== 'nullable');
      expect([sent, faults]).toEqual([sent, refused.map((loc) => `body ${loc.join(' ')} ${fault}`)]);
    }
    const [value] = cases[0]!;
    const { status, faults } = await post(name, everywhere(value, good));
    expect([status, faults]).toEqual([422, (await readBody(name, everywhere(value, good))).faults]);
  });

  it('may be absent where it is not required', async () => {
    expect((await post(name, `{"required":${good}}`)).status).toBe(201);
    expect((await post(name, '{"nested":{},"items":[{}]}')).faults).toEqual([
      'body nested value missing',
      'body items 0 value missing',
      'body required missing',
    ]);
  });

  if (row.query === null) return;

  it('is read from a query string, where it may be required', async () => {
    const goods = row.query ? Object.entries(row.query.good) : goodOf(row);
    const encoded = (value: string) => encodeURIComponent(value);
    const first = encoded(goods[0]![0]);
    for (const [text, value] of goods) {
      const answer = readQuery(name, `required=${first}&value=${encoded(text)}`);
      expect([text, answer.faults, at(answer.value, ['value'])]).toEqual([text, [], value]);
    }
    for (const [fault, values] of Object.entries(row.query?.bad ?? row.bad)) {
      for (const value of values) {
        const answer = readQuery(name, `value=${encoded(value)}&required=${encoded(value)}`);
        expect([value, answer.faults]).toEqual([value, [`query value ${fault}`, `query required ${fault}`]]);
      }
    }
    expect(await get(name, `required=${first}`)).toMatchObject({ status: 200, faults: [] });
    expect((await get(name, '')).faults).toEqual(['query required missing']);
    expect((await get(name, `required=${first}&required=${first}`)).faults).toEqual(['query required value_error']);
  });
});

it('every kind is in the table', () => {
  expect(names).toEqual(expect.arrayContaining(Object.keys(kinds)));
  expect(inQuery.length).toBeGreaterThan(15);
});

it('a parameter may have a default', () => {
  const Defaulting = queryOf([orDefault(parameter('duration', kinds.integer(5, 720), 'Minutes.'), 60)]);
  expect(new Defaulting()).toEqual({ duration: 60 });
});
