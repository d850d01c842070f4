import { WebhooksModule } from '@app/webhooks';
import { Area, HttpModule } from '../../http/kit.js';
import { EVENT_TYPES_CONTROLLERS } from './event-types.controller.js';
import { EventFeed } from './event-feed.js';
import { EVENTS_CONTROLLERS } from './events/events.controller.js';
import { EventsService } from './events/events.service.js';
import { WaitingReaders } from './waiting-readers.js';
import { WEBHOOK_DELIVERIES_CONTROLLERS } from './webhook-deliveries.controller.js';
import { WEBHOOK_ENDPOINTS_CONTROLLERS } from './webhook-endpoints/webhook-endpoints.controller.js';

/** What other programs are told. */
@Area({
  imports: [HttpModule, WebhooksModule],
  controllers: [
    ...EVENTS_CONTROLLERS,
    ...EVENT_TYPES_CONTROLLERS,
    ...WEBHOOK_ENDPOINTS_CONTROLLERS,
    ...WEBHOOK_DELIVERIES_CONTROLLERS,
  ],
  providers: [EventFeed, EventsService, WaitingReaders],
  tags: {
    events: ['Events', 'What has changed, in order, for 30 days.'],
    'event-types': ['Event types', 'What can happen to a record.'],
    'webhook-endpoints': ['Webhook endpoints', 'Where events are sent to.'],
    'webhook-deliveries': ['Webhook deliveries', 'What was sent, and what was answered, for 30 days.'],
  },
})
export class IntegrationsModule {}
