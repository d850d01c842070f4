import { operationOf } from '../../../apps/api/src/http/openapi/operation.decorator.js';
import { DECLARED } from '../../../apps/api/src/http/openapi/rows.js';
import { documentedSchema } from '../../../apps/api/src/http/validation/body-schema.js';
import { bodyClassOf } from '../../../apps/api/src/http/validation/declared.js';
import type { Route, Schema } from './routes.js';

export type Ids = Record<string, string>;
export type Body = Record<string, unknown>;

/** Where a value is in a body: names, and for items of lists `0`. */
export type Path = string[];

export type Shape = Schema & { $ref?: string; items?: Shape; oneOf?: Shape[]; required?: string[]; properties?: Record<string, Shape> }; // prettier-ignore

/** Formats of fields that name a record: by its id, or by its id or code. */
export const NAMING = ['uuid', 'id-or-code'];

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The request's schema with the shapes that it refers to; null without a JSON body. */
export function shapeOf({ handler }: Route): Shape | null {
  const shape = bodyClassOf(handler);
  if (!shape) return null;
  const schemas: Record<string, Shape> = {};
  const resolved = (part: unknown): unknown => {
    if (Array.isArray(part)) return part.map(resolved);
    if (typeof part !== 'object' || part === null) return part;
    const { $ref } = part as Shape;
    if ($ref) return resolved(schemas[$ref.split('/').at(-1)!]);
    return Object.fromEntries(Object.entries(part).map(([name, value]) => [name, resolved(value)]));
  };
  return resolved(documentedSchema(shape, schemas)) as Shape;
}

/** Every field of the request that names a record, in any of its variants. */
export function idFieldsOf(route: Route, formats = NAMING): Path[] {
  const within = (shape: Shape, at: Path): Path[] => [
    ...(formats.includes(shape.format ?? '') ? [at] : []),
    ...Object.entries(shape.properties ?? {}).flatMap(([name, field]) => within(field, [...at, name])),
    ...(shape.oneOf ?? []).flatMap((one) => within(one, at)),
    ...(shape.items ? within(shape.items, [...at, '0']) : []),
  ];
  const shape = shapeOf(route);
  const found = shape ? within(shape, []) : [];
  return [...new Map(found.filter(([name]) => !OPAQUE.includes(name!)).map((at) => [at.join('.'), at])).values()];
}

/** Every field of the request at any depth and in any variant, by its name alone. */
export function fieldsOfBody(route: Route): [string, Shape][] {
  const within = (shape: Shape): [string, Shape][] => [
    ...Object.entries(shape.properties ?? {}).flatMap(([name, field]) => [[name, field] as [string, Shape], ...within(field)]),
    ...(shape.oneOf ?? []).flatMap(within),
    ...(shape.items ? within(shape.items) : []),
  ];
  const shape = shapeOf(route);
  return shape ? within(shape) : [];
}

/** The value at this place; undefined if there is none. */
export function valueAt(body: unknown, [name, ...rest]: Path): unknown {
  if (name === undefined || typeof body !== 'object' || body === null) return name === undefined ? body : undefined;
  return valueAt((body as Body)[name], rest);
}

/** The body with another value at this place. */
export function withValueAt(body: unknown, [name, ...rest]: Path, value: unknown): unknown {
  if (name === undefined) return value;
  const inner = withValueAt((body as Body | undefined)?.[name], rest, value);
  return name === '0' ? [inner, ...((body as unknown[] | undefined) ?? []).slice(1)] : { ...(body as Body), [name]: inner };
} // prettier-ignore

/**
 * Valid bodies: the documented example, one for each variant of the request, and one for each field for an id that these
 * lack. Ids are replaced by those given, and texts by canaries: addresses end in `@canary.example`.
 *
 * @param ids by the names of fields
 */
export function bodiesOf(route: Route, ids: Ids): Body[] {
  const shape = shapeOf(route);
  if (!shape) return [];
  const operation = `${route.method} ${route.path}`;
  const { example } = operationOf(route.handler) ?? {};
  if (!example) throw new Error(`${operation}: give @Documented an example of its body`);
  const idAt = (at: Path) => {
    const name = at.filter((part) => part !== '0').at(-1)!;
    const id = ids[name] ?? ids[name.replace(/s$/, '')];
    if (!id) throw new Error(`${operation}: give "${name}" an id in OrganizationFixture.query (test/support/data/organization-rows.ts)`);
    return id;
  };
  let addresses = 0;
  const unique = uniqueFieldsOf(route);
  const canary = (value: unknown, schema: Shape | undefined, at: Path): unknown => {
    if (Array.isArray(value)) return value.map((item) => canary(item, schema?.items, [...at, '0']));
    if (typeof value === 'object' && value !== null) {
      const fields = variantOf(schema, value as Body)?.properties ?? {};
      return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, canary(one, fields[name], [...at, name])]));
    }
    if (typeof value !== 'string' || schema?.enum) return value;
    if (UUID.test(value)) return idAt(at);
    if (value.includes('@')) return `${route.path.replaceAll(/[^a-z]+/g, '-')}-${++addresses}@canary.example`;
    if (schema?.format || schema?.examples) return value;
    const text = schema?.pattern === undefined || new RegExp(schema.pattern).test('Canary') ? 'Canary' : 'canary';
    if (unique.includes(at.join('.'))) return `${text}${schema?.pattern === undefined ? ' ' : '_'}${++taken}`;
    return schema?.pattern === undefined || new RegExp(schema.pattern).test(text) ? text : value;
  }; // prettier-ignore
  const variants = (shape.oneOf ?? []).map((variant) => smallest(variant, example as Body));
  const bodies = [example, ...variants].map((body) => canary(body, shape, []) as Body);
  for (const at of idFieldsOf(route)) {
    if (bodies.some((body) => valueAt(body, at) !== undefined)) continue;
    bodies.push(withScopeOf(at[0]!, shape, withValueAt(withoutOthers(bodies[0]!, at[0]!), at, idAt(at)) as Body));
  }
  return bodies;
}

/** How many texts have been made that no other record may have. */
let taken = 0;

/** The fields of declared rows that are like no other row's. */
function uniqueFieldsOf({ method, path }: Route): string[] {
  const declared = DECLARED.find((one) => path === `/v1/${method === 'POST' ? one.path.split('/:')[0] : one.path}`);
  return Object.values(declared?.kind.unique ?? {}).map(({ at }) => at.join('.'));
}

/** Fields of which a body has one. */
const EXCLUSIVE = [
  ['student_id', 'student_ids', 'group_id', 'classroom_id'],
  ['parent_id', 'student_id'],
  ['conversation_id', 'recipient_id'],
  ['upload_id', 'file_url'],
];

/** Ids of records that this service does not have: nobody's, so anybody may name them. */
export const OPAQUE = ['curriculum_level_id', 'curriculum_level_ids', 'folder_id', 'vce_exam_id'];

/** The body without the fields that this one excludes. */
function withoutOthers(body: Body, name: string): Body {
  const others = EXCLUSIVE.find((names) => names.includes(name)) ?? [];
  return Object.fromEntries(Object.entries(body).filter(([field]) => field === name || !others.includes(field)));
}

/** A target goes with its scope, and an owner with their kind: `group_id` with `group`. */
function withScopeOf(name: string, { properties = {} }: Shape, body: Body): Body {
  const scope = name.replace(/_id$/, '');
  const owners = properties.owner_type?.enum ?? [];
  if (owners.includes(scope)) {
    const others = owners.filter((owner) => owner !== scope).map((owner) => `${String(owner)}_id`);
    return { ...Object.fromEntries(Object.entries(body).filter(([field]) => !others.includes(field))), owner_type: scope };
  }
  return properties.scope?.enum?.includes(scope) ? { ...body, scope } : body;
}

/** The variant that the value has. */
function variantOf(schema: Shape | undefined, value: Body): Shape | undefined {
  const kinds = schema?.oneOf ?? (schema ? [schema] : []);
  const tagged = (one: Shape) =>
    Object.entries(one.properties ?? {}).every(([name, field]) => field.enum?.length !== 1 || field.enum[0] === value[name]);
  return kinds.find((one) => one.properties && tagged(one));
}

/** A field of a body at any depth, whether it is there or not. */
export type Place = { at: Path; schema: Shape; required: boolean };

/** Every field that the objects of a body have room for. */
export function placesOf(schema: Shape | undefined, value: unknown, at: Path = []): Place[] {
  if (Array.isArray(value)) return value.flatMap((item, index) => placesOf(schema?.items, item, [...at, String(index)]));
  if (typeof value !== 'object' || value === null) return [];
  const { properties = {}, required = [] } = variantOf(schema, value as Body) ?? {};
  return Object.entries(properties).flatMap(([name, field]) => [
    { at: [...at, name], schema: field, required: required.includes(name) },
    ...placesOf(field, (value as Body)[name], [...at, name]),
  ]);
}

/** What a variant requires, and all its ids. */
function smallest({ properties = {}, required = [] }: Shape, example: Body): Body {
  const names = Object.keys(properties).filter((name) => required.includes(name) || NAMING.includes(properties[name]!.format ?? ''));
  return Object.fromEntries(names.map((name) => {
    const { format, enum: values } = properties[name]!;
    return [name, NAMING.includes(format ?? '') ? '00000000-0000-0000-0000-000000000000' : (values?.[0] ?? example[name] ?? 'Canary')];
  }));
} // prettier-ignore
