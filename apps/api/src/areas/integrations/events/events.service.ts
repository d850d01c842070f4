import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { eventJson } from '@app/events';
import { ClientLeft, onceClosed } from '@app/serving';
import { Authentication, type Caller, Page, requireScopes } from '../../../http/kit.js';
import { EventFeed } from './event-feed.js';
import type { EventsQuery } from './events.queries.js';
import { WaitingReaders } from './waiting-readers.js';

/** Pages of the feed, and the wait for one that has something to show. */
@Injectable()
export class EventsService {
  constructor(
    private readonly feed: EventFeed,
    private readonly readers: WaitingReaders,
    private readonly authentication: Authentication,
  ) {}

  /** @throws ApiError 410 for a cursor that has expired */
  async page(first: Caller, { wait, ...wanted }: EventsQuery, request: Request): Promise<Page> {
    const until = performance.now() + wait * 1_000;
    let caller = first;
    let page = await this.feed.page(caller, wanted);
    for (;;) {
      const left = until - performance.now();
      if (page.events.length > 0 || page.more || left <= 0) break;
      if (!(await this.waits(caller, page.end, left, request))) break;
      // What was revoked while it waited must not show anything.
      request.caller = caller = await this.authentication.identify(request);
      requireScopes(caller, ['read']);
      page = await this.feed.page(caller, { ...wanted, cursor: page.next });
    }
    const { events, next, more } = page;
    const records = { count: events.length, data: events.map(eventJson).join(',') || null };
    return new Page(records, { limit: wanted.limit, count: events.length, next_cursor: next, has_more: more });
  }

  /** Waits without a turn, which only those need whom events wake. @throws ClientLeft, QueueFull */
  private async waits({ organizationId }: Caller, seen: bigint, milliseconds: number, request: Request): Promise<boolean> {
    const closed = new AbortController();
    onceClosed(request.res!, () => {
      closed.abort();
    });
    const began = performance.now();
    request.turn?.release();
    const woken = await this.readers.wait(organizationId, seen, milliseconds, closed.signal);
    if (closed.signal.aborted) throw new ClientLeft('The reader has left');
    const waited = performance.now() - began;
    request.deadline.extend(waited);
    request.waited = (request.waited ?? 0) + waited;
    if (woken) await request.turn?.enter();
    return woken;
  }
}
