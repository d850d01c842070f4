import { Controller, Get, Req } from '@nestjs/common';
import type { Request } from 'express';
import { eventJson } from '@app/events';
import {
  type Caller, CurrentCaller, Documented, JsonText, one, readController, RequireScopes, tagged, ValidQuery,
} from '../../../http/kit.js'; // prettier-ignore
import { EventFeed } from '../event-feed.js';
import { EventsQuery } from './events.queries.js';
import { EventsService } from './events.service.js';
import { eventPage, eventShape } from './events.view.js';

const EVENT = readController({
  id: 'get_event',
  path: 'v1/events/:event_id',
  summary: 'Returns one event',
  answer: one(eventShape),
  versioned: true,
  rules: [EventFeed],
  run: async ({ caller, ids: { event_id: id } }, feed) => tagged(new JsonText(eventJson(await feed.one(caller, id)))),
});

/** It may wait, and it is oldest first: no declared list. */
@Controller('v1/events')
class EventsController {
  constructor(private readonly events: EventsService) {}

  @Get()
  @RequireScopes('read')
  @Documented({
    id: 'list_events',
    summary: 'Lists what has happened, oldest first',
    description:
      'Every change of a record that the API can show, whoever made it, once and in order. Keep `meta.next_cursor`, also of an empty page, and go on ' +
      'from there. A page may be empty although `has_more` is true: filters look at some thousand events at a time. Guide: [events](docs/events).',
    answer: eventPage,
    expires: true,
  })
  list(@CurrentCaller() caller: Caller, @ValidQuery(EventsQuery) query: EventsQuery, @Req() request: Request) {
    return this.events.page(caller, query, request);
  }
}

export const EVENTS_CONTROLLERS = [EventsController, EVENT];
