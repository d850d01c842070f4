import sql, { type Sql } from 'sql-template-tag';
import { equals, since, until } from '../../http/lists/filters.js';
import type { List } from '../../http/lists/list.js';
import { Source } from '../../http/lists/source.js';
import type { ListRequestLog } from './request-log.dto.js';
import { loggedRequestView } from './request-log.view.js';

export const REQUEST_LOG: List<ListRequestLog> = {
  id: 'list_request_log',
  summary: "Lists the requests of the organization's API keys, newest first",
  description:
    'Requests of the last 7 days, at most about 100,000; each appears about a second after its answer. No bodies, queries or ' +
    'ids of records are kept. `route` is null for a path that does not exist, and for a request refused before its path was ' +
    'looked at. A `status` of 499 means that the client closed the connection before the answer was complete. Requests ' +
    'answered with 401 are not recorded.',
  view: loggedRequestView,
  source: new Source('request_log', 'r'),
  select: ({ api_key_id, route, method, status, from, to }) => ({
    filters: [
      equals('api_key_id', api_key_id),
      equals('route', route),
      equals('method', method),
      ofStatus(status),
      since('created_at', from),
      until('created_at', to),
    ],
  }),
};

/** `404`, or `4xx` for the whole class. */
function ofStatus(status: string | undefined): Sql | null {
  if (status === undefined) return null;
  if (!status.endsWith('xx')) return sql`r.status = ${Number(status)}`;
  const first = Number(status[0]) * 100;
  return sql`r.status BETWEEN ${first} AND ${first + 99}`;
}
