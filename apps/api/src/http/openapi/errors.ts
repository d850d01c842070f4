import { MOST_FAULTS } from '@app/fields';
import { ApiError, type ErrorCode, STATUS, ValidationFailed } from '../errors/api-error.js';
import { errorBody } from '../errors/error-formats.js';
import type { Schema } from '../views/schemas.js';
import { ANSWER_HEADERS, RATE_LIMIT_HEADERS, refer } from './headers.js';

/** Codes of the standard body. The other two shapes have their own. */
const CODES = (Object.keys(STATUS) as ErrorCode[]).filter(
  (code) => code !== 'expired_api_key' && code !== 'validation_failed',
);

/** The three error bodies, under names that do not clash with those of generated clients. */
export const errorSchemas: Record<string, Schema> = {
  ErrorResponse: {
    type: 'object',
    properties: {
      error: {
        type: 'object',
        properties: {
          code: { type: 'string', enum: CODES, description: 'Stable; for programs.' },
          message: { type: 'string', description: 'For people; its wording may change.' },
          status: { type: 'integer', description: 'The HTTP status.' },
          details: { type: 'object', description: 'Details that depend on the code; `{}` if there are none.' },
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
    properties: { code: { type: 'integer', const: 401 }, message: { type: 'string' }, data: { type: 'object' } },
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
            loc: { type: 'array', items: { type: ['string', 'integer'] } },
            msg: { type: 'string' },
            type: { type: 'string' },
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

const STANDARD = { $ref: '#/components/schemas/ErrorResponse' };

/** A failure in `components.responses`. */
interface Failure {
  status: number;
  description: string;
  schema?: Schema;
  /** One example of each kind of response. */
  examples: ApiError[];
  headers?: string[];
}

const failure = (
  status: number,
  description: string,
  examples: ApiError[],
  more: Pick<Failure, 'schema' | 'headers'> = {},
): Failure => ({ status, description, examples, ...more });

const REQUEST_ID = '0f4b8a52-6c1e-4d3a-9b4f-2e8c6d1a7f30';
const RETRY = { headers: ['Retry-After'] };

export const FAILURES = {
  BadRequest: failure(400, 'A header is malformed.', [
    new ApiError('bad_request', 'Idempotency-Key must be one value of 1 to 255 visible ASCII characters.'),
  ]),
  Unauthorized: failure(
    401,
    'The API key is missing, unknown, revoked or expired.',
    [
      new ApiError('missing_api_key', 'Send your API key: "Authorization: Token token=<API_KEY>".'),
      new ApiError('invalid_api_key', 'Unknown API key. Check that you copied it completely.'),
      new ApiError('revoked_api_key', 'This API key was revoked. Use another key of your organization.'),
      new ApiError('expired_api_key', 'API key has expired. Create a new key in your org settings.'),
    ],
    { schema: { oneOf: [STANDARD, { $ref: '#/components/schemas/ExpiredKeyError' }] }, headers: ['WWW-Authenticate'] },
  ),
  Forbidden: failure(403, 'The key lacks a scope; `details` lists what the request requires and what the key has.', [
    ApiError.insufficientScope(['accounts:write'], ['read']),
  ]),
  ForbiddenPlatform: failure(403, 'The key lacks a scope, or the platform-blog capability.', [
    ApiError.insufficientScope(['blog:write'], ['read']),
    ApiError.platformBlogRequired(),
  ]),
  NotFound: failure(404, 'The record does not exist, or belongs to another organization.', [ApiError.notFound()]),
  Conflict: failure(
    409,
    'The first request with this `Idempotency-Key` is still running, the record’s state does not allow it, or another ' +
      'record is in the way.',
    [
      new ApiError(
        'idempotency_key_in_use',
        'The first request with this Idempotency-Key is still running. Try again in a moment.',
      ),
    ],
    RETRY,
  ),
  CursorExpired: failure(410, 'Events after this cursor are gone: read all lists again.', [ApiError.cursorExpired()]),
  PreconditionFailed: failure(
    412,
    'The record has a different version from the one in `If-Match`, or the header is missing where it is required.',
    [ApiError.preconditionFailed()],
  ),
  PayloadTooLarge: failure(413, 'The body is too large.', [
    new ApiError('payload_too_large', 'The body is larger than 1048576 bytes.', { limit: 1_048_576 }),
  ]),
  UnsupportedMediaType: failure(415, 'This content type is not accepted here.', [
    new ApiError('unsupported_media_type', 'Send the body as "Content-Type: application/json", in UTF-8, unencoded.'),
  ]),
  ValidationFailed: failure(
    422,
    'The request is invalid. The first 100 errors are listed; the last message says how many more there are.',
    [
      new ValidationFailed([
        { loc: ['query', 'limit'], msg: 'Must be at most 100.', type: 'less_than_equal' },
        {
          loc: ['query', 'sort'],
          msg: 'Unknown parameter. This list takes limit, offset, cursor, status.',
          type: 'extra_forbidden',
        },
      ]),
    ],
    { schema: { $ref: '#/components/schemas/ValidationError' } },
  ),
  TooManyRequests: failure(
    429,
    'Too many requests; retry after `Retry-After` seconds.',
    [
      new ApiError('rate_limit_exceeded', 'This API key can send at most 600 requests a minute. Try again in 12 s.', {
        limit: 600,
        retry_after: 12,
      }),
    ],
    RETRY,
  ),
  InternalError: failure(500, 'An error in the service; report the request id.', [
    new ApiError('internal_error', `Something went wrong on our side. Request id: ${REQUEST_ID}.`),
  ]),
  Unavailable: failure(
    503,
    'The service is temporarily unavailable; retry after `Retry-After` seconds.',
    [ApiError.unavailable()],
    RETRY,
  ),
};

export type FailureName = keyof typeof FAILURES;

/** Every failure, described once; operations refer to it. */
export function failureResponses(): Record<string, object> {
  const entries = Object.entries(FAILURES);
  return Object.fromEntries(entries.map(([name, failure]) => [name, responseOf(failure)]));
}

function responseOf({ status, description, schema = STANDARD, examples, headers = [] }: Failure): object {
  const named = examples.map((error) => [error.code, { value: errorBody(error) }]);
  const limits = status === 401 ? [] : RATE_LIMIT_HEADERS;
  return {
    description,
    headers: refer([...ANSWER_HEADERS, ...limits, ...headers]),
    content: { 'application/json': { schema, examples: Object.fromEntries(named) as object } },
  };
}
