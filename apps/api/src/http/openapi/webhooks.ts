import { EVENT_TYPES } from '@app/database';
import type { Schema } from '../views/schemas.js';
import { exampleOf } from './examples.js';

const header = (name: string, description: string, schema: Schema) => ({ name, in: 'header', required: true, description, schema }); // prettier-ignore

/** The headers of a call, as Standard Webhooks has them. */
const SIGNATURE = [
  header('webhook-id', 'The event; the same over all tries. Whoever has seen it has nothing to do.', { type: 'string', format: 'uuid' }), // prettier-ignore
  header('webhook-timestamp', 'Seconds since 1970 at this try. Refuse one that is more than five minutes off.', { type: 'string' }), // prettier-ignore
  header('webhook-signature', '`v1,` and the HMAC-SHA256 of `id.timestamp.body` in base64; while a secret is replaced, two with a space between.', { type: 'string' }), // prettier-ignore
];

/** The same, by name, for the parameters that the document shares. */
export const SIGNATURE_PARAMETERS = Object.fromEntries(SIGNATURE.map((one) => [one.name, one]));

/** What endpoints are sent, for each type of event. @param schemas of the document */
export function webhooksOf(schemas: Record<string, Schema>) {
  const schema = { $ref: '#/components/schemas/Event' };
  const example = exampleOf(schema, schemas) as object;
  return Object.fromEntries(
    EVENT_TYPES.map(({ type, says, resource }) => [
      type,
      {
        post: {
          operationId: `on_${type.replace('.', '_')}`,
          summary: says,
          description: 'Answer with a 2xx within 15 seconds. See [webhooks](docs/webhooks).',
          parameters: SIGNATURE.map(({ name }) => ({ $ref: `#/components/parameters/${name}` })),
          requestBody: {
            required: true,
            content: { 'application/json': { schema, example: { ...example, type, resource } } },
          },
          responses: { '2XX': { description: 'Received. Everything else is tried again.' } },
        },
      },
    ]),
  );
}
