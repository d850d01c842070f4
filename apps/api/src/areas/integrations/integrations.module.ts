import { Area, HttpModule } from '../../http/kit.js';
import { EVENT_TYPES_CONTROLLERS } from './event-types.controller.js';
import { EventFeed } from './event-feed.js';
import { EVENTS_CONTROLLERS } from './events/events.controller.js';
import { EventsService } from './events/events.service.js';
import { WaitingReaders } from './waiting-readers.js';

/** What other programs are told. */
@Area({
  imports: [HttpModule],
  controllers: [...EVENTS_CONTROLLERS, ...EVENT_TYPES_CONTROLLERS],
  providers: [EventFeed, EventsService, WaitingReaders],
  tags: {
    events: ['Events', 'What has changed, in order, for 30 days.'],
    'event-types': ['Event types', 'What can happen to a record.'],
  },
})
export class IntegrationsModule {}
