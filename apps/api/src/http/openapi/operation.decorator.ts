import { applyDecorators, SetMetadata } from '@nestjs/common';
import type { ConflictCode } from '../errors/api-error.js';
import { type Answer, Answers } from '../lists/answer.js';
import type { List } from '../lists/list.js';
import { objectOf, type Schema, type Shape } from '../views/schemas.js';

const OPERATION = 'operation';

export interface Operation {
  /** The catalogue's verb, in snake_case. */
  id: string;
  summary: string;
  /** Order, visibility and anything else a caller must know, in Markdown. */
  description?: string;
  /** Set for lists. */
  list?: List;
  /** The body of a success; null for none (204). */
  answer: Answer | null;
  /** When a POST answers 200, because it created nothing. */
  repeated?: string;
  /** Its cursors expire: 410. */
  expires?: boolean;
  /** An example of the request's body. */
  example?: object;
  /** What its rule may refuse with 409, besides a running request with the same idempotency key. */
  conflicts?: ConflictCode[];
  /**
   * The record has an `ETag`: its GET supports `If-None-Match`, and its changes support `If-Match`, or require it, or only compare it
   * and answer something else.
   */
  versioned?: boolean | 'required' | 'compared';
}

/** Documents a route. Adds the required scope from the route's access. */
export const Documented = (operation: Operation) =>
  applyDecorators(SetMetadata(OPERATION, operation), Answers(operation.answer));

/** The operation that a handler documents; undefined if it documents none. */
export function operationOf(handler: object): Operation | undefined {
  return Reflect.getMetadata(OPERATION, handler) as Operation | undefined;
}

const ref = (view: Shape): Schema => ({ $ref: `#/components/schemas/${view.name}` });

/** One record. */
export const one = (view: Shape): Answer => ({ shapes: [view], schema: ref(view) });

/** All records of a kind, as `{data}`. */
export const many = (view: Shape): Answer => page(view, false, false);

/** A page with its `meta`, of something that is no list of records. */
export const paged = (view: Shape): Answer => page(view, true, false);

/** A page of a list, bare or in its envelope. */
export const pageOf = ({ view, bare, total }: Pick<List, 'view' | 'bare' | 'total'>): Answer =>
  bare === 'array' ? array(view) : page(view, bare === undefined, total !== undefined);

/** A bare array. */
const array = (view: Shape): Answer => ({ shapes: [view], schema: { type: 'array', items: ref(view) } });

/** One schema for all lists, so that generated clients have one type for paging. */
const pageMeta: Shape = {
  name: 'PageMeta',
  schema: {
    type: 'object',
    properties: {
      limit: { type: 'integer', description: 'The page size that was applied.' },
      offset: { type: 'integer', description: 'The offset that was applied; absent in cursor mode.' },
      count: { type: 'integer', description: 'Number of records on this page.' },
      total: {
        type: 'integer',
        description: 'Number of records in the whole list, for lists that report it; absent in cursor mode.',
      },
      next_cursor: {
        type: ['string', 'null'],
        description: 'Only in cursor mode: the cursor of the next page; null on the last page.',
      },
    },
    required: ['limit', 'count'],
    additionalProperties: false,
    examples: [{ limit: 20, offset: 0, count: 1 }],
  },
};

/** A page in its envelope, which has its own name for generated clients. With `meta`, and a total in it if the list has one. */
function page(view: Shape, meta: boolean, total: boolean): Answer {
  const envelope: Shape = {
    name: meta ? `${view.name}Page` : `${view.name}List`,
    schema: objectOf({ data: { type: 'array', items: ref(view) }, ...(meta && { meta: ref(pageMeta) }) }),
  };
  return {
    shapes: [view, ...(meta ? [pageMeta] : []), envelope],
    schema: ref(envelope),
    ...(total && { meta: { total: 1 } }),
  };
}
