interface Header {
  description: string;
  schema: Record<string, unknown>;
}

const text = (description: string, example: string): Header => {
  return { description, schema: { type: 'string', examples: [example] } };
};
const integer = (description: string, example: number, limits: object = {}): Header => {
  return { description, schema: { type: 'integer', ...limits, examples: [example] } };
};

/** Response headers, each described once. */
export const HEADERS: Record<string, Header> = {
  'X-Request-Id': text(
    'Identifies the request in the service’s log. The client’s own id, if it sent a valid one.',
    '0f4b8a52-6c1e-4d3a-9b4f-2e8c6d1a7f30',
  ),
  'X-RateLimit-Limit': integer('Requests that the key can send per minute.', 600),
  'X-RateLimit-Remaining': integer('Requests left in the current minute.', 599),
  'X-RateLimit-Reset': integer('Seconds until at least one more request is allowed.', 60),
  'RateLimit-Policy': text('The limit, in the format of draft-ietf-httpapi-ratelimit-headers.', '"default";q=600;w=60'),
  RateLimit: text('Requests left, and seconds until more are allowed.', '"default";r=599;t=60'),
  'Retry-After': integer('Seconds to wait before retrying.', 1, { minimum: 1 }),
  'WWW-Authenticate': text('The scheme of the Authorization header.', 'Token'),
  ETag: text(
    'Identifies this version of the record, for `If-Match` and `If-None-Match`.',
    '"0YhZz1kq3oWb5h2cT8vXnR6mJqA"',
  ),
  Location: text('Where the content is.', '/files/AZCm8lwefTqbTy6MbRp_MAGQ'),
  'Idempotency-Replayed': {
    description: '`true` if this repeats the response to the first request with this `Idempotency-Key`.',
    schema: { type: 'string', enum: ['true'] },
  },
};

/** Headers of every response. */
export const ANSWER_HEADERS = ['X-Request-Id'];

/** Headers of every response to a valid key. */
export const RATE_LIMIT_HEADERS = Object.keys(HEADERS).filter((name) => name.includes('RateLimit'));

/** References to these headers. */
export function refer(names: string[]): Record<string, object> {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
