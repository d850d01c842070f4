/** Response headers, each described once. */
export const HEADERS: Record<string, { description: string; schema: Record<string, unknown> }> = {
  'X-Request-Id': {
    description: 'Identifies the request in the service’s log. The client’s own id, if it sent a valid one.',
    schema: { type: 'string', examples: ['0f4b8a52-6c1e-4d3a-9b4f-2e8c6d1a7f30'] },
  },
  'X-RateLimit-Limit': {
    description: 'Requests that the key can send per minute.',
    schema: { type: 'integer', examples: [600] },
  },
  'X-RateLimit-Remaining': {
    description: 'Requests left in the current minute.',
    schema: { type: 'integer', examples: [599] },
  },
  'X-RateLimit-Reset': {
    description: 'Seconds until at least one more request is allowed.',
    schema: { type: 'integer', examples: [60] },
  },
  'RateLimit-Policy': {
    description: 'The limit, in the format of draft-ietf-httpapi-ratelimit-headers.',
    schema: { type: 'string', examples: ['"default";q=600;w=60'] },
  },
  RateLimit: {
    description: 'Requests left, and seconds until more are allowed.',
    schema: { type: 'string', examples: ['"default";r=599;t=60'] },
  },
  'Retry-After': {
    description: 'Seconds to wait before retrying.',
    schema: { type: 'integer', minimum: 1, examples: [1] },
  },
  'WWW-Authenticate': {
    description: 'The scheme of the Authorization header.',
    schema: { type: 'string', examples: ['Token'] },
  },
  ETag: {
    description: 'Identifies this version of the record, for `If-Match` and `If-None-Match`.',
    schema: { type: 'string', examples: ['"0YhZz1kq3oWb5h2cT8vXnR6mJqA"'] },
  },
  'Idempotency-Replayed': {
    description: '`true` if this repeats the response to the first request with this `Idempotency-Key`.',
    schema: { type: 'string', enum: ['true'] },
  },
};

/** Headers of every response. */
export const ANSWER_HEADERS = ['X-Request-Id'];

/** Headers of every response to a valid key. */
export const RATE_LIMIT_HEADERS = [
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'RateLimit-Policy',
  'RateLimit',
];

/** References to these headers. */
export function refer(names: string[]): Record<string, object> {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
