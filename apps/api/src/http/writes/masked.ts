import type { Answer } from '../lists/answer.js';
import { isCode, isKept, type Schema, type Shape } from '../views/schemas.js';
import { View } from '../views/view.js';

export type Fields = Record<string, unknown>;

/** What a caller without `read` knows anyway. */
export interface Known {
  /** When the transaction began: the `created_at` of what it made. */
  now: string;
  /** The record that the path names, as it was. */
  before: Fields | null;
  /** The request's ids and body. */
  sent: Fields;
  /** The request asks for something else than to change the record's fields: its state follows, also where that has happened before. */
  acts: boolean;
}

const MASKED: Schema = {
  type: 'boolean',
  const: true,
  // None: whole records do not have it.
  examples: [],
  description:
    'Only in answers of writes to keys without `read`, of a record that was there before: what the request neither sent nor ' +
    'changed is null, `[]` or `{}`.',
};

/** The schema of what a write answers. */
export function maskable(shape: Shape): Schema {
  const { schema } = shape;
  const properties = Object.values((schema.properties ?? {}) as Record<string, Schema>);
  return shape instanceof View || properties.some(isKept)
    ? { ...schema, properties: { ...(schema.properties as object), masked: MASKED } }
    : schema;
}

/**
 * The answer without what was stored before the request. A record that the request made is shown as it is; of another one its id, its
 * state after an action, what the request sent, and what differs from before. A sum, a full name, or the end of
 * what was moved, tells what it was before, so it stays hidden.
 */
export function masked(
  answer: unknown,
  { schema, shapes, copied }: Answer,
  { now, before, sent, acts }: Known,
): unknown {
  const always = acts ? ['id', 'status'] : ['id'];
  const said = collect(sent);
  const root = answer;

  function visit(value: unknown, of: Schema): unknown {
    const shape = shapes.find(({ name }) => of.$ref === `#/components/schemas/${name}`);
    if (shape instanceof View) return visitRecord(value as Fields, shape.schema);
    if (shape) return visit(value, shape.schema);
    if (Array.isArray(value)) return value.map((one) => visit(one, of.items as Schema));
    if (!isFields(value)) return value;
    const hidden: string[] = [];
    const seen = mapped(value, of, (one, property, name) => {
      if (!isKept(property)) return visit(one, property);
      if (said.has(pair(name, one))) return one;
      if (!same(one, blankOf(property))) hidden.push(name);
      return blankOf(property);
    });
    return hidden.length > 0 ? { ...seen, masked: true } : seen;
  }

  function visitRecord(record: Fields, of: Schema): Fields {
    if (record.created_at === now && !copied) return visitNew(record, of);
    return without(record, before?.id === record.id ? before : null, of);
  }

  /** What a new record shows of others, such as a person's name, was there before. */
  function visitNew(record: Fields, of: Schema): Fields {
    const seen = mapped(record, of, (value, property) => (isKept(property) ? null : value));
    return same(seen, record) ? record : { ...seen, masked: true };
  }

  /** @param was the object as it was; null if that is unknown */
  function without(object: Fields, was: Fields | null, of: Schema): Fields {
    const hidden: string[] = [];
    const seen = mapped(object, of, (value, property, name) => {
      const blank = blankOf(property);
      if (always.includes(name) || blank === undefined || value === now || said.has(pair(name, value))) return value;
      if (Array.isArray(value)) {
        const items = shownOf(value, name, was, property.items as Schema);
        if (items.length === 0 || items.length < value.length) hidden.push(name);
        return items;
      }
      if (isTime(value) && isTime(sent[name]) && Date.parse(value) === Date.parse(sent[name])) return value;
      const free = typeof value === 'string' && property.enum === undefined && property.format === undefined;
      const follows = (typeof value === 'number' || isTime(value) || free) && Boolean(was?.[name]);
      if (was && !same(value, was[name]) && !follows && !isKept(property)) return value;
      // Of a record that the request found by itself, such as a person by their address, the request says what it sent.
      if (!was && object === root && isPlain(sent[name])) return sent[name];
      hidden.push(name);
      return blank;
    });
    return hidden.length > 0 ? { ...seen, masked: true } : seen;
  }

  /** The items that the request sent or added, and of those that were there before, what has changed. */
  function shownOf(items: unknown[], name: string, was: Fields | null, of: Schema): unknown[] {
    const [asked, were] = [listOf(sent[name]), was ? listOf(was[name]) : items];
    return items
      .filter((item) => asked.some((one) => same(one, item)) || isNew(item, were))
      .map((item) => {
        const earlier = isFields(item) ? were.find((one) => isFields(one) && one.id === item.id) : undefined;
        return earlier ? without(item as Fields, earlier as Fields, of) : item;
      });
  }

  return visit(answer, schema);
}

/** Whether it may show what lets people in. */
export const showsCodes = ({ shapes }: Answer): boolean =>
  shapes.some(({ schema }) => Object.values((schema.properties ?? {}) as Record<string, Schema>).some(isCode));

/** The answer without codes. @param made whether those that the request made itself stay, for the key that made them */
export function withoutCodes(
  answer: unknown,
  { schema, shapes }: Answer,
  { now, before }: Known,
  made: boolean,
): unknown {
  function visit(value: unknown, of: Schema): unknown {
    const shape = shapes.find(({ name }) => of.$ref === `#/components/schemas/${name}`);
    if (Array.isArray(value)) return value.map((one) => visit(one, of.items as Schema));
    if (!isFields(value)) return value;
    const isNew = !(shape instanceof View) || value.created_at === now;
    const was = before !== null && before.id === value.id ? before : null;
    return mapped(value, shape?.schema ?? of, (one, property, name) => {
      if (!isCode(property)) return visit(one, property);
      return made && (isNew || (was !== null && !same(one, was[name])))
        ? one
        : blankOf(property) === undefined
          ? ''
          : null;
    });
  }
  return visit(answer, schema);
}

/** What stands for a hidden value; undefined if the schema permits nothing else. */
function blankOf({ type, oneOf }: Schema): unknown {
  if (type === 'array') return [];
  if (type === 'object') return {};
  const none = (Array.isArray(type) && type.includes('null')) || Array.isArray(oneOf);
  return none ? null : undefined;
}

function mapped(
  object: Fields,
  { properties }: Schema,
  value: (one: unknown, property: Schema, name: string) => unknown,
) {
  const schemas = (properties ?? {}) as Record<string, Schema>;
  return Object.fromEntries(Object.entries(object).map(([name, one]) => [name, value(one, schemas[name] ?? {}, name)]));
}

/** The names in the request with their values: its own, and those of the objects in its lists. What is free JSON could hold guesses. */
function collect(sent: Fields): Set<string> {
  const objects = [sent, ...Object.values(sent).flatMap((value) => listOf(value).filter(isFields))];
  return new Set(objects.flatMap((object) => Object.entries(object).map(([name, value]) => pair(name, value))));
}

const pair = (name: string, value: unknown) => `${name} ${JSON.stringify(value)}`;
const same = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);
const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const isTime = (value: unknown): value is string => typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value);
/** An object without an id, such as a share of a sum, may be an earlier one that has changed. */
const isNew = (item: unknown, were: unknown[]) =>
  isFields(item) && !('id' in item) ? were.length === 0 : !were.some((one) => same(one, item));
const isPlain = (value: unknown) => value !== undefined && typeof value !== 'object';
