import { MOST_FAULTS } from '../errors/api-error.js';
import type { Schema } from '../views/columns.js';

/** The three error bodies, as the OpenAPI document names them. */
export const errorSchemas: Record<string, Schema> = {
  Error: {
    type: 'object',
    properties: {
      error: {
        type: 'object',
        properties: {
          code: { type: 'string', examples: ['not_found'] },
          message: { type: 'string', examples: ['No such record in this organization.'] },
          status: { type: 'integer', examples: [404] },
          details: { type: 'object' },
        },
        required: ['code', 'message', 'status', 'details'],
        additionalProperties: false,
      },
    },
    required: ['error'],
    additionalProperties: false,
  },
  ExpiredKeyError: {
    type: 'object',
    properties: {
      code: { type: 'integer', const: 401 },
      message: { type: 'string', examples: ['API key has expired. Create a new key in your org settings.'] },
      data: { type: 'object' },
    },
    required: ['code', 'message', 'data'],
    additionalProperties: false,
  },
  ValidationError: {
    type: 'object',
    properties: {
      detail: {
        type: 'array',
        minItems: 1,
        maxItems: MOST_FAULTS,
        items: {
          type: 'object',
          properties: {
            loc: { type: 'array', items: { type: ['string', 'integer'] }, examples: [['query', 'limit']] },
            msg: { type: 'string', examples: ['Give a number of at most 100.'] },
            type: { type: 'string', examples: ['less_than_equal'] },
          },
          required: ['loc', 'msg', 'type'],
          additionalProperties: false,
        },
      },
    },
    required: ['detail'],
    additionalProperties: false,
  },
};

const standard = { $ref: '#/components/schemas/Error' };

/** Which error answers with which body. */
export const errorResponses: Record<number, { description: string; schema: Schema }> = {
  401: {
    description: 'The API key is missing, unknown, revoked or expired.',
    schema: { oneOf: [standard, { $ref: '#/components/schemas/ExpiredKeyError' }] },
  },
  403: { description: 'The key lacks a scope; `details` names those required and granted.', schema: standard },
  400: { description: 'A header is malformed.', schema: standard },
  409: {
    description: 'The first request with this `Idempotency-Key` still runs, or the record’s state forbids it.',
    schema: standard,
  },
  412: { description: 'The record is not the version that `If-Match` names.', schema: standard },
  413: { description: 'The body is too large.', schema: standard },
  415: { description: 'The body is of a type that is not taken here.', schema: standard },
  404: { description: 'No such record, or one of another organization.', schema: standard },
  422: {
    description:
      'The request is not valid. The first 100 faults are listed; the last message tells how many more there are.',
    schema: { $ref: '#/components/schemas/ValidationError' },
  },
  429: { description: 'Too many requests; `Retry-After` tells when to come back.', schema: standard },
  500: { description: 'A fault on our side; the request id finds it in the log.', schema: standard },
  503: { description: 'The service cannot answer right now; try again after `Retry-After`.', schema: standard },
};
