import { applyDecorators, SetMetadata } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import type { Schema } from '../views/columns.js';
import type { View } from '../views/view.js';

const OPERATION = 'operation';

/** A schema with a name in the document: a view, or the shape of what a service builds by itself. */
export type Shape = Pick<View, 'name' | 'schema'>;

/** What an operation answers with. */
export interface Answer {
  view: Shape;
  schema: Schema;
}

export interface Operation {
  /** The catalogue's verb, in snake_case. */
  id: string;
  summary: string;
  /** Order, visibility and whatever else a caller must know. Markdown. */
  description?: string;
  /** What the body of a success is; null for none (204). */
  answer: Answer | null;
  /** An example of the request's body. */
  example?: object;
  /** Whether `If-Match` is honoured. */
  conditional?: boolean;
}

/** Documents a route. The scope it needs is added from its access. */
export const Documented = (operation: Operation) =>
  applyDecorators(
    SetMetadata(OPERATION, operation),
    ApiOperation({ operationId: operation.id, summary: operation.summary }),
  );

/** What a handler documents; undefined when it documents nothing. */
export function operationOf(handler: object): Operation | undefined {
  return Reflect.getMetadata(OPERATION, handler) as Operation | undefined;
}

const ref = (view: Shape): Schema => ({ $ref: `#/components/schemas/${view.name}` });

/** One record. */
export const one = (view: Shape): Answer => ({ view, schema: ref(view) });

/** A bare array. */
export const array = (view: Shape): Answer => ({ view, schema: { type: 'array', items: ref(view) } });

/** A page in its envelope: by offset, by cursor too where the list has cursors, with a total where it tells one. */
export function page(
  view: Shape,
  { cursor = true, total = false }: { cursor?: boolean; total?: boolean } = {},
): Answer {
  const meta = { limit: { type: 'integer' }, count: { type: 'integer' } };
  const byOffset = {
    type: 'object',
    description: 'Offset mode.',
    properties: { ...meta, offset: { type: 'integer' }, ...(total && { total: { type: 'integer' } }) },
    required: ['limit', 'offset', 'count', ...(total ? ['total'] : [])],
    additionalProperties: false,
  };
  const byCursor = {
    type: 'object',
    description: 'Cursor mode.',
    properties: { ...meta, next_cursor: { type: ['string', 'null'] } },
    required: ['limit', 'count', 'next_cursor'],
    additionalProperties: false,
  };
  return {
    view,
    schema: {
      type: 'object',
      properties: {
        data: { type: 'array', items: ref(view) },
        meta: cursor ? { oneOf: [byOffset, byCursor] } : byOffset,
      },
      required: ['data', 'meta'],
      additionalProperties: false,
    },
  };
}
