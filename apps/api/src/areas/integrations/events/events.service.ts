import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { eventJson } from '@app/events';
import { ClientLeft, onceClosed } from '@app/serving';
import { Authentication, type Caller, Page, requireScopes } from '../../../http/kit.js';
import { EventFeed, type EventPage, type Wanted } from '../event-feed.js';
import type { EventsQuery } from './events.queries.js';
import { WaitingReaders } from '../waiting-readers.js';

/** Pages of the feed, and the wait for one that has something to show. */
@Injectable()
export class EventsService {
  constructor(
    private readonly feed: EventFeed,
    private readonly readers: WaitingReaders,
    private readonly authentication: Authentication,
  ) {}

  /** @throws ApiError 410 for a cursor that has expired */
  async page(caller: Caller, { wait, ...wanted }: EventsQuery, request: Request): Promise<Page> {
    const until = performance.now() + wait * 1_000;
    let page = await this.feed.page(caller, wanted);
    for (;;) {
      const left = until - performance.now();
      if (page.events.length > 0 || page.more || left <= 0) break;
      const later = await this.waitFor(caller, { ...wanted, cursor: page.next }, page.end, left, request);
      if (!later) break;
      page = later;
    }
    const { events, next, more } = page;
    const records = { count: events.length, data: events.map(eventJson).join(',') || null };
    return new Page(records, { limit: wanted.limit, count: events.length, next_cursor: next, has_more: more });
  }

  /** The page that others' work makes, or null. Only who is woken takes a turn again. @throws ClientLeft, QueueFull */
  private async waitFor(
    caller: Caller,
    wanted: Wanted,
    seen: bigint,
    milliseconds: number,
    request: Request,
  ): Promise<EventPage | null> {
    const gone = new AbortController();
    onceClosed(request.res!, () => {
      gone.abort();
    });
    const began = performance.now();
    const waited = () => {
      const time = performance.now() - began;
      request.deadline.extend(time);
      request.waited = (request.waited ?? 0) + time;
    };
    request.turn?.release();
    const page = await this.readers.wait(caller.organizationId, seen, milliseconds, gone.signal, async () => {
      waited();
      await request.turn?.enter();
      // What was revoked meanwhile shows nothing any more.
      request.caller = await this.authentication.identify(request);
      requireScopes(request.caller, ['read']);
      return this.feed.page(request.caller, wanted);
    });
    if (gone.signal.aborted) throw new ClientLeft('The reader has left');
    if (!page) waited();
    return page;
  }
}
