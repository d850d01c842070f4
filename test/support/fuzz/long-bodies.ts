import { schemaOf } from '../../../apps/api/src/http/validation/body-schema.js';
import { bodyClassOf, bodyKindOf } from '../../../apps/api/src/http/validation/declared.js';
import { JSON_TEXTS, manyOf, textOf } from './long-texts.js';
import { bytesOf } from '../http/raw-http.js';
import { idsFor } from '../http/record-for.js';
import { nameOf, type Route } from '../http/routes.js';
import { bodiesOf } from '../http/valid-bodies.js';
import { pathOf, type OrganizationFixture } from '../data/fixtures.js';

/** A place in a request whose length is the caller's choice. */
export interface Position {
  family: string;
  name: string;
  /** The maximum length, in bytes or items. */
  most: number;
  /** Builds a request in which the place has this length. */
  request: (size: number) => string;
  /** The proxy in front sends such a body in frames of its own, so it may hold the event loop for longer. */
  reframed?: boolean;
}

interface BodySchema {
  type?: string | string[];
  enum?: unknown[];
  maxLength?: number;
  maxItems?: number;
  items?: BodySchema;
  oneOf?: BodySchema[];
  properties?: Record<string, BodySchema>;
}

/** A place in a request body. */
export interface Place {
  name: string;
  schema: BodySchema;
  /** Builds a body with this JSON in the place. */
  around: (json: string) => string;
}

/** Every object and field of the route's body, including nested ones. */
export function placesOf(route: Route): Place[] {
  const shape = bodyClassOf(route.handler);
  const schema = shape ? (schemaOf(shape) as BodySchema) : { type: 'object' };
  return [...placesWithin({ name: 'body', schema, around: (json) => json })];
}

function* placesWithin(place: Place): Generator<Place> {
  const { name, schema, around } = place;
  yield place;
  if (schema.items) yield* placesWithin({ name: `${name}.0`, schema: schema.items, around: (json) => around(`[${json}]`) }); // prettier-ignore
  for (const one of schema.oneOf ?? []) {
    if (one.properties) yield* placesWithin({ name: `${name} (${tagsOf(one)})`, schema: one, around });
  }
  for (const [field, of] of Object.entries(schema.properties ?? {})) {
    const json = (value: string) => around(`{${tagsOf(schema, field)}"${field}":${value}}`);
    yield* placesWithin({ name: `${name}.${field}`, schema: of, around: json });
  }
}

/** The discriminators of a union's member, which are fields with a single allowed value. */
function tagsOf({ properties = {} }: BodySchema, but?: string): string {
  const tags = Object.entries(properties).filter(([name, field]) => field.enum?.length === 1 && name !== but);
  return tags.map(([name, field]) => `"${name}":${JSON.stringify(field.enum![0])},`).join('');
}

type Written = [what: string, json: (size: number) => string];
type Long = [what: string, most: number, json: (size: number) => string];

let made = 0;

export function longBodies(route: Route, school: OrganizationFixture, keyed: [string, string][]): Position[] {
  const kind = bodyKindOf(route.handler);
  if (route.method === 'GET' || kind === 'upload') return [];
  const room = kind.json - 1_000;
  const places = placesOf(route);
  const bodies: Long[] = [
    ...places.flatMap((place) => longValues(place, room)),
    ...places.flatMap((place) => longObjects(place, room)),
    ...legal(route, school),
    ['blanks', room, (size) => `{${' '.repeat(size)}}`],
    ['brackets', room, (size) => '['.repeat(size)],
    ['an open text', room, (size) => `{"${'a'.repeat(size)}`],
    ['colons', room, (size) => `{"${'a'.repeat(size / 2)}"${':,'.repeat(size / 4)}`],
  ];
  const ask = (body: string, headers: [string, string][]) =>
    bytesOf(pathOf(route, school), { method: route.method, headers: [...keyed, ['Content-Type', 'application/json'], ...headers], body });
  const whole = bodies.map(([what, most, json]) => ({
    family: what.startsWith('legal') ? 'legal body' : 'body',
    name: `${nameOf(route)} ${what}`,
    most,
    request: (size: number) => {
      const body = json(size);
      return ask(body, [['Content-Length', String(body.length)]]);
    },
  }));
  const chunked = (size: number) => ask(`1\r\n{\r\n${'1\r\n \r\n'.repeat(size)}1\r\n}\r\n0\r\n\r\n`, [['Transfer-Encoding', 'chunked']]);
  const name = `${nameOf(route)} chunks of a byte`;
  // Each byte of the body takes six on the wire. A quarter of the limit shows the growth in a quarter of the time.
  return [...whole, { family: 'chunks', name, most: room / 4, request: chunked, reframed: true }];
}

/** Values of every type, whether or not the place accepts them. */
function longValues({ name, schema, around }: Place, room: number): Long[] {
  const type = [schema.type].flat()[0];
  const kinds = type === 'string' ? JSON_TEXTS : JSON_TEXTS.slice(0, 3);
  const values: Written[] = [
    ...kinds.map((kind): Written => [kind.name, (size) => `"${textOf(kind, size)}"`]),
    ['a number', (size) => '7'.repeat(size)],
    ['a small number', (size) => `0.${'0'.repeat(size)}1`],
    ['numbers', (size) => `[${manyOf(String, size)}]`],
    ['empty objects', (size) => `[${manyOf(() => '{}', size)}]`],
    ['empty lists', (size) => `[${manyOf(() => '[]', size)}]`],
    ['texts', (size) => `[${manyOf((n) => `"${n}"`, size)}]`],
    ['an object of unknown names', (size) => `{${manyOf((n) => `"${n.toString(36)}x":0`, size)}}`],
    ['lists in lists', (size) => '['.repeat(size / 2) + ']'.repeat(size / 2)],
  ];
  return values.map(([what, of]) => [`${name}: ${what}`, room, (size) => around(of(size))]);
}

/** Unknown names of every kind, where the place is an object. */
function longObjects({ name: place, schema, around }: Place, room: number): Long[] {
  if (schema.type !== 'object') return [];
  const names: Written[] = [
    ['unknown names', (size) => manyOf((n) => `"${n.toString(36)}x":0`, size)],
    ['longer unknown names', (size) => manyOf((n) => `"${n.toString(36).padStart(200, '_')}":0`, size)],
    ['escaped unknown names', (size) => manyOf((n) => `"\\u0061${n.toString(36)}":0`, size)],
    ['numbers for names', (size) => manyOf((n) => `"${n * 4_099}":0`, size)],
    ['one unknown name, repeated', (size) => manyOf(() => '"x":0', size)],
    ['unknown objects', (size) => manyOf((n) => `"${n.toString(36)}x":{"a":[{}]}`, size)],
    ['an unknown name of letters', (size) => `"${'x'.repeat(size)}":0`],
    ['an unknown name of emoji', (size) => `"${Buffer.from('💩'.repeat(size / 4)).toString('latin1')}":0`],
    ['an unknown text', (size) => `"x":"${'x'.repeat(size)}"`],
  ];
  return names.map(([what, of]) => [`${place}: ${what}`, room, (size) => around(`{${tagsOf(schema)}${of(size)}}`)]);
}

/** The sample body with one top-level field at its maximum length. */
function legal(route: Route, school: OrganizationFixture): Long[] {
  const [body] = bodiesOf(route, idsFor(route, school));
  if (!body) return [];
  const fresh = (value: unknown) => {
    const number = ++made;
    return JSON.stringify(value).replaceAll('@canary', () => `${number}-${++made}@canary`).replace('"slug":"canary"', `"slug":"canary-${number}"`);
  }; // prettier-ignore
  const shape = bodyClassOf(route.handler)!;
  return Object.entries((schemaOf(shape) as BodySchema).properties!).flatMap(([name, { maxLength, maxItems }]): Long[] => {
    if (maxItems !== undefined) {
      const [item] = (body[name] ?? ['a']) as unknown[];
      const items = (size: number) => Array.from({ length: Math.max(1, Math.floor(size)) }, () => item);
      return [[`legal: ${name}`, maxItems, (size) => fresh({ ...body, [name]: items(size) })]];
    }
    if (maxLength === undefined || maxLength < 1_000) return [];
    const texts = ['a', '"', '\\', '\n', '\u007f', 'é', '💩'];
    return texts.map((text) => [
      `legal: ${name} of ${JSON.stringify(text)}`,
      maxLength,
      (size) => Buffer.from(fresh({ ...body, [name]: text.repeat(size) })).toString('latin1'),
    ]);
  }); // prettier-ignore
}
