import type { Type } from '@nestjs/common';
import { queryFieldsOf } from '../validation/fields.js';
import type { Schema } from '../views/schemas.js';

/** A parameter of an operation. */
export interface Parameter {
  name: string;
  in: string;
  required: boolean;
  schema: Schema;
}

const ID: Schema = { type: 'string', examples: ['0190a6f2-5c1e-7d3a-9b4f-2e8c6d1a7f30'] };

const header = (name: string, description: string, more: Schema = {}) => {
  return { name, in: 'header', required: false, description, schema: { type: 'string', ...more } };
};

const IDEMPOTENCY_KEY = header(
  'Idempotency-Key',
  'A retry with the same key and body returns the first response and has no further effect. Each new request needs a new key.',
  { minLength: 1, maxLength: 255, examples: ['3f0f6b0e-import-2026-05-01'] },
);
const IF_MATCH = header(
  'If-Match',
  'The `ETag` of the version to change. If the record has a different version, nothing is changed (412).',
);
const IF_NONE_MATCH = header(
  'If-None-Match',
  'The `ETag` of the version that the client has. The response is 304 as long as it is current.',
);

/**
 * The parameters of an operation, and the headers of its kind. Ids in paths are plain strings: one that is not a UUID is a 404, not a 422.
 * Examples belong to the schema, because each example of a parameter itself would need a name.
 */
export function parametersOf(
  path: string,
  query: Type<object> | undefined,
  { write, read, changed }: { write: boolean; read: boolean; changed: boolean | 'required' | 'compared' },
): Parameter[] {
  return [
    ...[...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => ({ name, in: 'path', required: true, schema: ID })),
    ...(query ? queryFieldsOf(query) : []).map(({ name, required, description, schema }) => {
      return { name: String(name), in: 'query', required, description, schema };
    }),
    ...(write ? [IDEMPOTENCY_KEY] : []),
    ...(read ? [IF_NONE_MATCH] : []),
    ...(changed ? [{ ...IF_MATCH, required: changed === 'required' }] : []),
  ];
}

/** The part of an OpenAPI operation that this file needs. */
interface Operation {
  parameters?: (Parameter | { $ref: string })[];
}

/** Replaces parameters that operations have in common with references to one description. Of two that differ, only the first is shared. */
export function shareParameters(paths: Record<string, Record<string, Operation>>): Record<string, Parameter> {
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods));
  const all = operations.flatMap(({ parameters = [] }) => parameters as Parameter[]);
  const seen = new Set<string>();
  const shared = new Map<string, { parameter: Parameter; text: string }>();
  for (const parameter of all) {
    const text = JSON.stringify(parameter);
    if (seen.has(text) && !shared.has(parameter.name)) shared.set(parameter.name, { parameter, text });
    seen.add(text);
  }
  for (const operation of operations) {
    operation.parameters = (operation.parameters as Parameter[] | undefined)?.map((parameter) =>
      shared.get(parameter.name)?.text === JSON.stringify(parameter)
        ? { $ref: `#/components/parameters/${parameter.name}` }
        : parameter,
    );
  }
  return Object.fromEntries([...shared].map(([name, { parameter }]) => [name, parameter]));
}
