import type { Schema } from '../views/schemas.js';

const FIELDS = 'body:fields';
const VARIANTS = 'body:variants';

interface Documented {
  name: string;
  schema: Schema;
  required: boolean;
}

/** Stores a field's JSON Schema on its class. */
export const BodySchema =
  (schema: Schema, required: boolean): PropertyDecorator =>
  (target, name) => {
    const inherited = (Reflect.getMetadata(FIELDS, target) ?? []) as Documented[];
    Reflect.defineMetadata(FIELDS, [...inherited, { name: String(name), schema, required }], target);
  };

/** A variant of a request class: the fields it lacks and those it requires. */
export interface Variant {
  name: string;
  without: string[];
  required: string[];
}

interface Variants {
  tag: string;
  byTag: Record<string, Variant>;
}

/** The class has several variants, distinguished by the field `tag`; the OpenAPI document shows each of them. */
export const VariantsBy =
  (tag: string, byTag: Record<string, Variant>): ClassDecorator =>
  (target) => {
    Reflect.defineMetadata(VARIANTS, { tag, byTag }, target);
  };

/** The class of a schema: in the OpenAPI document it has that class's name. */
const names = new WeakMap<Schema, string>();

/** The JSON Schema of a request class, from its fields. Unknown fields are rejected. */
export function schemaOf(shape: new () => object): Schema {
  const fields = (Reflect.getMetadata(FIELDS, shape.prototype as object) ?? []) as Documented[];
  const required = fields.filter((field) => field.required).map(({ name }) => name);
  const schema = {
    type: 'object',
    properties: Object.fromEntries(fields.map((field) => [field.name, field.schema])),
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  };
  names.set(schema, shape.name);
  return schema;
}

/** One of several schemas, distinguished by a field whose values are the keys. */
export function oneOfBy(tag: string, schemas: Record<string, Schema>): Schema {
  const mapping = Object.entries(schemas).map(([value, schema]) => [value, reference(names.get(schema)!)]);
  return {
    oneOf: Object.values(schemas),
    discriminator: { propertyName: tag, mapping: Object.fromEntries(mapping) as object },
  };
}

/** The schema of a request class for the OpenAPI document: a reference, whose target is added to `schemas`. */
export function documentedSchema(shape: new () => object, schemas: Record<string, Schema>): Schema {
  const whole = schemaOf(shape);
  const variants = Reflect.getMetadata(VARIANTS, shape) as Variants | undefined;
  const schema = variants ? oneOfBy(variants.tag, variantsOf(whole, variants)) : whole;
  names.set(schema, shape.name);
  return hoist(schema, schemas) as Schema;
}

function variantsOf(whole: Schema, { tag, byTag }: Variants): Record<string, Schema> {
  const kinds = Object.entries(byTag).map(([value, { name, without, required }]) => {
    const fields = Object.entries(whole.properties as Record<string, Schema>).filter(
      ([field]) => !without.includes(field),
    );
    const properties = { ...Object.fromEntries(fields), [tag]: { type: 'string', enum: [value] } };
    const schema = { ...whole, properties, required: [tag, ...required] };
    names.set(schema, name);
    return [value, schema] as const;
  });
  return Object.fromEntries(kinds);
}

const reference = (name: string) => `#/components/schemas/${name}`;

/** Moves the schemas of classes, at any depth, under their names. */
function hoist(part: unknown, schemas: Record<string, Schema>): unknown {
  if (Array.isArray(part)) return part.map((item) => hoist(item, schemas));
  if (typeof part !== 'object' || part === null) return part;
  const entries = Object.entries(part).map(([key, value]) => [key, hoist(value, schemas)]);
  const whole = Object.fromEntries(entries) as Schema;
  const name = names.get(part as Schema);
  if (name === undefined) return whole;
  schemas[name] = whole;
  return { $ref: reference(name) };
}
