import { applyDecorators, type Type } from '@nestjs/common';
import { Transform } from 'class-transformer';
import { IsOptional, ValidateBy, ValidateIf } from 'class-validator';
import {
  boolean, day, Fault, idOrCode, instant, integer, isFault, type Kind, listOf, type ListSize, oneOf, type Parser, text, type TextRule, uuid,
} from '@app/fields'; // prettier-ignore
import { orNull, type Schema } from '../views/schemas.js';
import { BodySchema } from './body-schema.js';
import { object, type Tolerate, union } from './nested-kinds.js';
import { FIELD_CHECK, type ReadOptions } from './read-object.js';

/**
 * The decorators of request classes. Each reads, checks and documents one field by its {@link Kind}. A parser leaves a
 * Fault where a value should be, so that one pass finds all faults of a request.
 */
function readBy<T>(parse: Parser<T>): PropertyDecorator {
  return applyDecorators(
    Transform(({ key, options }) => {
      const { raw, env } = options as unknown as ReadOptions;
      return raw[key] === undefined ? undefined : parse(raw[key], env);
    }),
    ValidateBy({
      name: FIELD_CHECK,
      validator: { validate: (value) => value !== undefined && !isFault(value) },
    }),
  );
}

const GIVEN_TWICE = new Fault('value_error', 'Send this parameter only once.');

/** The property's initializer is the default. It is repeated here for the documentation. */
interface Parameter {
  description: string;
  required?: boolean;
  default?: unknown;
}

/** What the OpenAPI document says about the parameters of query strings, by the prototype of their class. */
const queryFields: {
  target: object;
  name: string | symbol;
  required: boolean;
  description: string;
  kind: Kind;
  schema: Schema;
}[] = [];

/** The parameters of a query class, inherited ones first. */
export function queryFieldsOf({ prototype }: Type<object>) {
  return queryFields.filter(
    ({ target }) => target === prototype || Object.prototype.isPrototypeOf.call(target, prototype),
  );
}

/** A parameter of the query string. */
export function Query(kind: Kind, parameter: Parameter): PropertyDecorator {
  const { schema, parse, parseText = parse } = kind;
  const { description, required = false, default: fallback } = parameter;
  return applyDecorators(
    readBy((raw, env) => (typeof raw === 'string' ? parseText(raw, env) : GIVEN_TWICE)),
    ...(required ? [] : [IsOptional()]),
    // The property's own type is for the handler. The schema describes what goes over the wire.
    (target: object, name: string | symbol) => {
      queryFields.push({ target, name, required, description, kind, schema: { ...schema, ...defaulting(fallback) } });
    },
  );
}

const defaulting = (fallback: unknown) => (fallback === undefined ? {} : { default: fallback });

/**
 * Whether a field of a JSON body may be missing or null. If there is a `default`, null means the default. The
 * property's initializer is the value of a missing field.
 */
export interface Presence {
  description?: string;
  required?: boolean;
  nullable?: boolean;
  default?: unknown;
}

/** A field of a JSON body. */
export function bodyField({ parse, schema }: Kind, presence: Presence = {}): PropertyDecorator {
  const { description, required = false, default: fallback = null } = presence;
  const nullable = presence.nullable === true || fallback !== null;
  const documented = {
    ...(description && { description }),
    ...defaulting(presence.default),
    ...(nullable ? orNull(schema) : schema),
  };
  return applyDecorators(
    readBy(nullable ? (raw, env) => (raw === null ? fallback : parse(raw, env)) : parse),
    // The parser handles null; this skips only a missing field.
    ...(required ? [] : [ValidateIf((_object, value) => value !== undefined)]),
    BodySchema(documented, required),
  );
}

export const Text = (rule: TextRule, presence: Presence = {}) => bodyField(text(rule), presence);
export const Uuid = (presence: Presence = {}) => bodyField(uuid, presence);
/** A record that its id or its code names. */
export const IdOrCode = (presence: Presence = {}) => bodyField(idOrCode, presence);
export const Flag = (presence: Presence = {}) => bodyField(boolean, presence);
export const OneOf = (values: readonly string[], presence: Presence = {}) => bodyField(oneOf(values), presence);
export const Instant = (presence: Presence = {}) => bodyField(instant, presence);
export const Day = (presence: Presence = {}) => bodyField(day, presence);
export const Integer = (min: number, max: number, presence: Presence = {}) => bodyField(integer(min, max), presence);

/** Ids without repeats. */
export const Uuids = (size: ListSize, presence: Presence = {}) =>
  bodyField(listOf(uuid, { ...size, distinct: true }), presence);

/** The ids or codes of records, without repeats. */
export const IdsOrCodes = (size: ListSize, presence: Presence = {}) =>
  bodyField(listOf(idOrCode, { ...size, distinct: true }), presence);

/** A list of objects of another request class. */
export const Objects = (shape: new () => object, size: ListSize, presence: Presence = {}) =>
  bodyField(listOf(object(shape), size), presence);

/** An object of another request class. */
export const Nested = (shape: new () => object, presence: Presence = {}) => bodyField(object(shape), presence);

/** A list of objects of several classes, distinguished by a field. An item may keep its faults: {@link Tolerate}. */
export const ListOf = (
  tag: string,
  shapes: Record<string, new () => object>,
  size: ListSize,
  { tolerate, ...presence }: Presence & { tolerate?: Tolerate<object> } = {},
) => bodyField(listOf(union(tag, shapes, tolerate), size), presence);
