import { Body as NestBody, Controller, Get, Post, type Type } from '@nestjs/common';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import supertest from 'supertest';
import { orDefault, parameter, queryOf, RequireScopes, required, ValidBody, ValidQuery } from '../../../apps/api/src/http/kit.js';
import * as field from '../../../apps/api/src/http/validation/fields.js';
import { kinds, listOf } from '@app/fields';
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

const path = (name: string) => `/v1/planted/${name}`;
const names = Object.keys(ROWS);
const shapes = new Map(names.map((name) => [name, shapesOf(ROWS[name]!)]));
const inQuery = names.filter((name) => ROWS[name]!.query !== null);

/** A POST and a GET for each kind that answer what their handlers get. */
function planted(name: string): Type {
  const { kind, query } = ROWS[name]!;
  const one = parameter('value', kind, 'Optional.');
  const Queried = queryOf(query === null ? [] : [one, required({ ...one, name: 'required' })]);

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
      const answer = await post(name, sent);
      expect([sent, answer.status]).toEqual([sent, 201]);
      expect(PLACES.map((loc) => at(answer.value, loc))).toEqual(PLACES.map(() => value));
      if (!row.undocumented?.includes(text)) expect([sent, fits(JSON.parse(sent))]).toEqual([sent, true]);
    }
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  it('refuses bad values and other types at every place of a body, once each', async () => {
    const type = String(row.kind.schema.type);
    const others = Object.entries(TYPES).filter(([other]) => other !== type);
    const refusal = row.bad.enum ? 'enum' : REFUSALS[type]!;
    const cases = [
      ...Object.entries(row.bad).flatMap(([fault, values]) => values.map((value) => [written(row, value), fault])),
      ...others.map(([, value]) => [value, refusal]),
    ] as [string, string][];
    for (const [value, fault] of cases) {
      const sent = everywhere(value, good);
      const { status, faults } = await post(name, sent);
      const refused = PLACES.filter(([field]) => value !== 'null' || field !== 'nullable');
      expect([sent, status, faults]).toEqual([sent, 422, refused.map((loc) => `body ${loc.join(' ')} ${fault}`)]);
    }
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
      const answer = await get(name, `required=${first}&value=${encoded(text)}`);
      expect([text, answer.status, at(answer.value, ['value'])]).toEqual([text, 200, value]);
    }
    for (const [fault, values] of Object.entries(row.query?.bad ?? row.bad)) {
      for (const value of values) {
        const answer = await get(name, `value=${encoded(value)}&required=${encoded(value)}`);
        expect([value, answer.faults]).toEqual([value, [`query value ${fault}`, `query required ${fault}`]]);
      }
    }
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
