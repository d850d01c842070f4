import type { Schema } from '@app/fields';

export type { Schema };

/** A named schema in the OpenAPI document: of an object that a service builds, or of a View. */
export interface Shape {
  name: string;
  schema: Schema;
}

export const UUID: Schema = { type: 'string', format: 'uuid', examples: ['0190a6f2-5c1e-7d3a-9b4f-2e8c6d1a7f30'] };

/** UTC with milliseconds and Z. */
export const INSTANT: Schema = { type: 'string', format: 'date-time', examples: ['2026-05-01T09:30:00.000Z'] };

export const BOOLEAN: Schema = { type: 'boolean' };

export const textLike = (example?: string): Schema => ({ type: 'string', ...(example && { examples: [example] }) });

export const enumOf = (values: readonly string[]): Schema => ({ type: 'string', enum: [...values] });

export const withExample = (schema: Schema, example: unknown): Schema => ({ ...schema, examples: [example] });

/** The same, or null. */
export function orNull(schema: Schema): Schema {
  const { type, enum: values, ...rest } = schema;
  if (type === 'object') return { oneOf: [schema, { type: 'null' }] };
  const orNone = { ...rest, type: [type as string, 'null'] };
  return Array.isArray(values) ? { ...orNone, enum: [...(values as unknown[]), null] } : orNone;
}

/** The same without null: the opposite of {@link orNull}. */
export function withoutNull(schema: Schema): Schema {
  const { type, enum: values, oneOf } = schema;
  if (Array.isArray(oneOf)) return oneOf[0] as Schema;
  const some = { ...schema, ...(Array.isArray(type) && { type: (type as string[])[0] }) };
  return Array.isArray(values) ? { ...some, enum: (values as unknown[]).filter((value) => value !== null) } : some;
}

const KEPT = Symbol('of a record that was there before');

/** A property of an object that a service builds which shows what was stored before: {@link isKept}. */
export const kept = (schema: Schema): Schema => ({ ...schema, [KEPT]: true });

/** Whether a write shows it only to keys with `read`. */
export const isKept = (schema: Schema): boolean => KEPT in schema;

const CODE = Symbol('lets people in');

/** A property with which people can join: {@link isCode}. */
export const code = (schema: Schema): Schema => ({ ...schema, [CODE]: true });

/** Whether only those see it who may let people in, and in the answer to its making whoever made it. */
export const isCode = (schema: Schema): boolean => CODE in schema;

/** An object with exactly these properties. */
export const objectOf = (properties: Record<string, Schema>): Schema => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
});
