import { createHash } from 'node:crypto';
import type { Schema } from '../views/schemas.js';

/** An example of a schema, from the examples of its parts. Deterministic, to keep the committed document stable. */
export function exampleOf(schema: Schema, components: Record<string, Schema>): unknown {
  if (typeof schema.$ref === 'string') return exampleOf(components[schema.$ref.split('/').at(-1)!]!, components);
  if (Array.isArray(schema.examples)) return schema.examples[0];
  if (Array.isArray(schema.enum)) return schema.enum[0];
  if (Array.isArray(schema.oneOf)) return exampleOf(schema.oneOf[0] as Schema, components);
  const type = Array.isArray(schema.type) ? (schema.type as string[])[0] : schema.type;
  if (type === 'object') {
    const properties = Object.entries((schema.properties ?? {}) as Record<string, Schema>);
    return Object.fromEntries(properties.map(([name, property]) => [name, fieldOf(name, property, components)]));
  }
  if (type === 'array') {
    const item = exampleOf(schema.items as Schema, components);
    return item === undefined ? [] : [item];
  }
  if (type === 'integer' || type === 'number') return schema.minimum ?? 1;
  if (type === 'boolean') return true;
  return type === 'string' ? 'text' : undefined;
}

/** The example of a field. Ids in different fields differ. */
function fieldOf(name: string, schema: Schema, components: Record<string, Schema>): unknown {
  const example = exampleOf(schema, components);
  if (schema.format !== 'uuid' || typeof example !== 'string' || name === 'id') return example;
  return example.slice(0, -12) + createHash('sha256').update(name).digest('hex').slice(0, 12);
}
