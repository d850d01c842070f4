/** Headers of answers, each described once. */
export const HEADERS: Record<string, { description: string; schema: Record<string, unknown> }> = {
  'X-Request-Id': {
    description: 'Names the request in the service’s log: the client’s own, when it sent a usable one.',
    schema: { type: 'string', examples: ['0f4b8a52-6c1e-4d3a-9b4f-2e8c6d1a7f30'] },
  },
  'X-RateLimit-Limit': {
    description: 'Requests that the key may send in a minute.',
    schema: { type: 'integer', examples: [600] },
  },
  'X-RateLimit-Remaining': {
    description: 'Requests that are left of them.',
    schema: { type: 'integer', examples: [599] },
  },
  'X-RateLimit-Reset': {
    description: 'Seconds until at least one more is left.',
    schema: { type: 'integer', examples: [60] },
  },
  'RateLimit-Policy': {
    description: 'The same limit, as draft-ietf-httpapi-ratelimit-headers has it.',
    schema: { type: 'string', examples: ['"default";q=600;w=60'] },
  },
  RateLimit: {
    description: 'What is left of it, and for how many seconds.',
    schema: { type: 'string', examples: ['"default";r=599;t=60'] },
  },
  'Retry-After': {
    description: 'Seconds after which to try again.',
    schema: { type: 'integer', minimum: 1, examples: [1] },
  },
  'WWW-Authenticate': {
    description: 'The scheme of the Authorization header.',
    schema: { type: 'string', examples: ['Token'] },
  },
  ETag: {
    description: 'Names this version of the record, for `If-Match` and `If-None-Match`.',
    schema: { type: 'string', examples: ['"0YhZz1kq3oWb5h2cT8vXnR6mJqA"'] },
  },
  'Idempotency-Replayed': {
    description: '`true` on an answer that was given before, to the first request with this `Idempotency-Key`.',
    schema: { type: 'string', enum: ['true'] },
  },
};

/** On every answer. */
export const ANSWER_HEADERS = ['X-Request-Id'];

/** On every answer to a valid key. */
export const RATE_LIMIT_HEADERS = [
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'RateLimit-Policy',
  'RateLimit',
];

/** References to them. */
export function refer(names: string[]): Record<string, object> {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
