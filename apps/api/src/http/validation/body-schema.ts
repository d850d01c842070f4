const FIELDS = 'body:fields';

interface Documented {
  name: string;
  schema: Record<string, unknown>;
  required: boolean;
}

/** Leaves a field's JSON Schema on its class. */
export const BodySchema =
  (schema: Record<string, unknown>, required: boolean): PropertyDecorator =>
  (target, name) => {
    const inherited = (Reflect.getMetadata(FIELDS, target) ?? []) as Documented[];
    Reflect.defineMetadata(FIELDS, [...inherited, { name: String(name), schema, required }], target);
  };

/** The JSON Schema of a request class, from its fields: what it does not name is refused. */
export function schemaOf(shape: new () => object): Record<string, unknown> {
  const fields = (Reflect.getMetadata(FIELDS, shape.prototype as object) ?? []) as Documented[];
  const required = fields.filter((field) => field.required).map(({ name }) => name);
  return {
    type: 'object',
    properties: Object.fromEntries(fields.map(({ name, schema }) => [name, schema])),
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  };
}
