import { v7 as uuidv7 } from 'uuid';
import { type Scope, SCOPES } from '@app/access';
import { loadEnv } from '@app/config';
import { ValidationFailed } from '../../../apps/api/src/http/errors/api-error.js';
import { bodyClassOf, queryClassOf } from '../../../apps/api/src/http/validation/declared.js';
import { parseJson } from '../../../apps/api/src/http/validation/parse-json.js';
import { parseQuery } from '../../../apps/api/src/http/validation/query-parser.js';
import { namesOf, readObject } from '../../../apps/api/src/http/validation/read-object.js';
import { AnswerCheck } from '../../support/http/answer-check.js';
import { TestApi } from '../../support/http/api.js';
import { inLots } from '../../support/fuzz/hostile-client.js';
import { type Place, placesOf } from '../../support/fuzz/long-bodies.js';
import { badValues, FAULTS, goodValues, type Parameter, parametersOfReads } from '../../support/fuzz/query-values.js';
import { keyedRoutes, nameOf, type Route } from '../../support/http/routes.js';

/**
 * Every value at every place of every request, as the parsers read it before a handler runs: that needs no HTTP. Over HTTP, one at each place
 * shows that the route reads its requests so.
 */
const api = await TestApi.shared();
const SETTINGS = loadEnv({}, {});
const check = new AnswerCheck();
const key = await api.key((await api.make.organization()).id, { scopes: Object.keys(SCOPES) as Scope[], platformBlog: true });

/** Without the body itself, and without what tells the members of a union apart. */
const isField = ({ name, schema }: Place) => name !== 'body' && schema.enum?.length !== 1;

const places = keyedRoutes(api).flatMap((route) => {
  const shape = route.method === 'GET' ? undefined : bodyClassOf(route.handler);
  return shape
    ? placesOf(route)
        .filter(isField)
        .map((place) => ({ ...place, route, shape: shape }))
    : [];
});
const parameters = await parametersOfReads(api);

type At = Place & { route: Route; shape: new () => object };
type Told = { at: readonly (string | number)[]; type: string; msg: string };

/** Where the place is: `body.users.0 (…).email` is at users, 0, email. */
const locOf = ({ name }: Place) => name.replaceAll(/ \(.*?\)/g, '').split('.').slice(1); // prettier-ignore

async function faultsOf({ shape, around }: At, json: string): Promise<readonly Told[]> {
  try {
    const { faults } = readObject(shape, (await parseJson(Buffer.from(around(json)), namesOf(shape))) as object, SETTINGS);
    return faults.list;
  } catch (error) {
    if (!(error instanceof ValidationFailed)) throw error;
    return [{ at: [], type: 'json_invalid', msg: '' }];
  }
}

const within = (place: Place) => {
  const loc = locOf(place).join();
  return ({ at }: Told) => at.join().startsWith(loc);
};
const inQuery = ({ route }: Parameter, query: string): readonly Told[] =>
  readObject((queryClassOf(route.handler) ?? Object) as new () => object, parseQuery(query), SETTINGS, 'UTC', 'parameter').faults.list;
const told = ({ route, name }: Pick<At | Parameter, 'route' | 'name'>, value: string) => `${nameOf(route)} ${name} ${value.slice(0, 60)}`;

async function answer(method: string, path: string, body?: string) {
  const { port } = api.server.address() as { port: number };
  const headers = { Authorization: `Token token=${key}`, 'Content-Type': 'application/json' };
  const response = await fetch(`http://127.0.0.1:${port}${path.replaceAll(/:[^/?]+/g, () => uuidv7())}`, { method, headers, ...(body && { body }) });
  const sent = { status: response.status, headers: Object.fromEntries(response.headers), body: await response.text() };
  expect(check.faults(sent), `${method} ${path} ${sent.body.slice(0, 200)}`).toEqual([]);
  return { status: sent.status, detail: (JSON.parse(sent.body) as { detail?: { loc: unknown[]; type: string }[] }).detail ?? [] };
}

const ODD = [
  ...[7, true, [], [[{}]], {}, '', '\0', 'x'.repeat(6_000), `${'x'.repeat(6_000)}@example.org`, '1e400', '\u202e'].map((one) => JSON.stringify(one)),
  '"\\ud800"', '1e400', '-1e400', '1e-400', '9007199254740993', '[null]', '"null"', '"[object Object]"',
]; // prettier-ignore
/** Of objects; those with free fields keep them. */
const INSIDE = [
  '"constructor":"javascript:alert(1)"', '"constructor":null', '"constructor":{"name":"Array"}', '"constructor":[]', '"__proto__":[]',
  '"__proto__":null', '"then":"x"', '"length":4294967295', '"toString":null', '"toJSON":1',
].flatMap((member) => [0, 1, 2].map((depth) => `${'['.repeat(depth)}{${member}}${']'.repeat(depth)}`)); // prettier-ignore
const BLANKS = [' ', '\t\r\n', '\u00a0\u3000', '\u200b\u2060', '\u3164', '\u2800'].map((blanks) => JSON.stringify(blanks));
const CONTROLS = Array.from({ length: 32 }, (_, code) => code).filter((code) => ![0x09, 0x0a, 0x0d].includes(code));

describe('every place of every body', () => {
  const texts = places.filter(({ schema }) => schema.maxLength !== undefined);

  it('reads odd values as a value or a fault, and refuses names of objects inside it unless it keeps free values', async () => {
    const wrong: string[] = [];
    for (const place of places) {
      const closed = !JSON.stringify(place.schema).includes('"object"') || place.schema.properties;
      for (const value of ODD) await faultsOf(place, value);
      for (const value of INSIDE) if (!(await faultsOf(place, value)).some(within(place)) && closed) wrong.push(told(place, value));
    }
    expect([places.length > 300, wrong]).toEqual([true, []]);
    expect([({} as { polluted?: unknown }).polluted, Object.keys(Object.prototype)]).toEqual([undefined, []]);
  });

  it('refuses control characters, except tab, line feed and carriage return', async () => {
    const said = async (place: At, text: string) => (await faultsOf(place, `"a${text}b"`)).filter(({ msg }) => msg.includes('control characters'));
    const wrong: string[] = [];
    for (const place of texts) {
      for (const code of CONTROLS) {
        const [fault] = await said(place, `\\u${code.toString(16).padStart(4, '0')}`);
        if (fault?.type !== 'value_error' || !within(place)(fault)) wrong.push(told(place, String(code)));
      }
      for (const text of ['\\t', '\\n', '\\r', '\\u007f', '\\u0080', '\\u2028', '\u007f']) {
        if ((await said(place, text)).length > 0) wrong.push(told(place, text));
      }
    }
    expect([texts.length > 100, wrong]).toEqual([true, []]);
  });

  it('that needs a text takes no blanks for it', async () => {
    // Those of a bulk invite's rows are errors of their row.
    const needed = texts.filter(({ schema, route }) => (schema as { minLength?: number }).minLength && !route.path.endsWith('/bulk-invite'));
    const wrong: string[] = [];
    for (const place of needed) {
      for (const blanks of BLANKS) {
        const [fault] = (await faultsOf(place, blanks)).filter(within(place));
        if (fault?.type !== 'string_too_short') wrong.push(`${told(place, blanks)} ${fault?.type}`);
      }
    }
    expect([needed.length > 30, wrong]).toEqual([true, []]);
  });

  it('over HTTP answers an odd value with a documented refusal', async () => {
    const wrong: string[] = [];
    await inLots([...places.entries()], async ([number, place]) => {
      const value = ODD[number % ODD.length]!;
      const expected = await faultsOf(place, value);
      const { status, detail } = await answer(place.route.method, place.route.path, place.around(value));
      const same =
        detail.length >= Math.min(expected.length, 100) && expected.every(({ type }, at) => at > 90 || detail.some((one) => one.type === type));
      if (expected.length > 0 ? status !== 422 || !same : status >= 500)
        wrong.push(`${told(place, value)} ${status} ${JSON.stringify(detail.slice(0, 2))}`);
    });
    expect(wrong).toEqual([]);
  });
});

/** A cursor of the right form is refused by the list that has not signed it: lists-cursors.spec has those. */
const isParsed =
  ({ kind }: Parameter) =>
  (value: string) =>
    kind !== 'cursor' || !/^[\w-]{54}$/.test(value);

describe('every query parameter', () => {
  it.each([...new Set(parameters.map(({ kind }) => kind))])('of type %s is refused with one fault when its value is invalid', (kind) => {
    const cases = parameters
      .filter((one) => one.kind === kind)
      .flatMap((one) =>
        badValues(one)
          .filter(isParsed(one))
          .map((value) => ({ parameter: one, value })),
      );
    expect(cases.length).toBeGreaterThan(10);
    for (const { parameter, value } of cases) {
      const own = inQuery(parameter, `${parameter.name}=${value}`).filter(({ type }) => type !== 'missing');
      const types = own.map(({ at, type }) => [...at, FAULTS[kind].includes(type) ? 'as expected' : type]);
      expect(types, told(parameter, value)).toEqual([[parameter.name, 'as expected']]);
    }
  });

  it.each<[string, (name: string, good: string) => string]>([
    ['twice', (name, good) => `${name}=${good}&${name}=${good}`],
    ['a hundred times', (name, good) => Array(100).fill(`${name}=${good}`).join('&')],
    ['once plain and once encoded', (name, good) => `${name}=${good}&%${name.charCodeAt(0).toString(16)}${name.slice(1)}=${good}`],
  ])('given %s is refused', (_, query) => {
    for (const parameter of parameters) {
      const faults = inQuery(parameter, query(parameter.name, goodValues(parameter)[0]!)).filter(({ type }) => type !== 'missing');
      expect(faults.map(({ at, type }) => [...at, type]), told(parameter, '')).toEqual([[parameter.name, 'value_error']]);
    }
  }); // prettier-ignore

  it.each<[string, (name: string) => string]>([
    ['as an array', (name) => `${name}[]`], ['with an index', (name) => `${name}[0]`], ['with an operator', (name) => `${name}[$gt]`],
    ['with encoded brackets', (name) => `${name}%5B%5D`], ['with a dot', (name) => `${name}.x`], ['in capitals', (name) => name.toUpperCase()],
    ['with an extra letter', (name) => `${name}s`], ['with a leading space', (name) => `+${name}`], ['with a trailing NUL', (name) => `${name}%00`],
    ['with a byte that is not UTF-8', (name) => `${name}%ff`],
  ])('spelt %s is unknown', (_, spell) => {
    for (const parameter of parameters) {
      const faults = inQuery(parameter, `${spell(parameter.name)}=${goodValues(parameter)[0]!}`).filter(({ type }) => type !== 'missing');
      expect(faults.map(({ type }) => type), told(parameter, '')).toEqual(['extra_forbidden']);
    }
  }); // prettier-ignore

  it('over HTTP is refused with what the parser says, for a bad value or a control character', async () => {
    await inLots([...parameters.entries()], async ([number, parameter]) => {
      const bad = badValues(parameter).filter(isParsed(parameter));
      const value = number % 2 ? bad[number % bad.length]! : `a%${CONTROLS[number % CONTROLS.length]!.toString(16).padStart(2, '0')}`;
      const query = `${parameter.name}=${value}`;
      const { status, detail } = await answer('GET', `${parameter.route.path}?${query}`);
      const expected = inQuery(parameter, query).map(({ at, type }) => ['query', ...at, type].join(' '));
      expect([status, detail.map(({ loc, type }) => [...loc, type].join(' '))], told(parameter, value)).toEqual([422, expected]);
      expect(expected.some((one) => one.startsWith(`query ${parameter.name} `))).toBe(true);
    });
  });
});
