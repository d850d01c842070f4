import { FIELDS } from '@app/fields';
import { field } from '../../../http/kit.js';

const { url, event_types, description } = FIELDS.webhook_endpoints;

const TYPES = 'Names from `GET /v1/event-types`, or `session.*` for all of a resource. None are all events.';

/** A new endpoint. */
export class CreateWebhookEndpoint {
  @field.bodyField(url, {
    required: true,
    description: 'Called with POST. In production https, with port 443 or 8443, and on the public internet.',
  })
  url: string;

  @field.bodyField(event_types, { default: [], description: TYPES })
  event_types: string[] = [];

  @field.bodyField(description, { nullable: true, description: 'What it is for.' })
  description?: string | null;

  @field.Flag({ default: true })
  enabled = true;
}

/** What can be changed of one. */
export class UpdateWebhookEndpoint {
  @field.bodyField(url)
  url?: string;

  @field.bodyField(event_types, { description: TYPES })
  event_types?: string[];

  @field.bodyField(description, { nullable: true })
  description?: string | null;

  @field.Flag({
    description:
      'A disabled endpoint keeps what waits for it for 30 days. Enabled again, it gets that first, in order.',
  })
  enabled?: boolean;
}
