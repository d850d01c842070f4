import { Injectable } from '@nestjs/common';
import sql, { type Sql } from 'sql-template-tag';
import type { Caller } from '../../http/auth/caller.js';
import { equals, since, until } from '../../http/lists/filters.js';
import { Lists } from '../../http/lists/lists.js';
import type { Page } from '../../http/lists/page.js';
import { Source } from '../../http/lists/source.js';
import type { ListRequestLog } from './request-log.dto.js';
import { loggedRequestView } from './request-log.view.js';

const REQUEST_LOG = new Source('request_log', 'r');

/** What the organization's own keys asked for lately, and how it was answered. */
@Injectable()
export class RequestLogService {
  constructor(private readonly lists: Lists) {}

  list(caller: Caller, query: ListRequestLog): Promise<Page> {
    return this.lists.page(
      caller,
      {
        view: loggedRequestView,
        source: REQUEST_LOG,
        filters: [
          equals('r.api_key_id', query.api_key_id),
          equals('r.route', query.route),
          equals('r.method', query.method),
          ofStatus(query.status),
          since('r.created_at', query.from),
          until('r.created_at', query.to),
        ],
      },
      query,
    );
  }
}

/** `404`, or `4xx` for the whole class. */
function ofStatus(status: string | undefined): Sql | null {
  if (status === undefined) return null;
  if (!status.endsWith('xx')) return sql`r.status = ${Number(status)}`;
  const first = Number(status[0]) * 100;
  return sql`r.status BETWEEN ${first} AND ${first + 99}`;
}
