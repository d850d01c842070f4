import sql from 'sql-template-tag';
import {
  between, byId, byValue, instant, integer, kinds, like, list, listController, nullable, number, parameter,
  Source, text, uuid, View,
} from '../../http/kit.js'; // prettier-ignore

/** Every method that the log can contain. */
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

const ROUTE = kinds.token(
  /^\/[A-Za-z0-9_.{}/-]{0,127}$/,
  'Must be a route as shown in the log, such as /v1/students/{student_id}.',
  '/v1/students/{student_id}',
);
const STATUS = kinds.token(/^[1-5](xx|\d\d)$/, 'Must be a status such as 404, or a class such as 4xx.', '404', '4xx');

const REQUEST_LOG = list({
  id: 'list_request_log',
  path: 'v1/request-log',
  summary: "Lists the requests of the organization's API keys, newest first",
  description:
    'Requests of the last 7 days, at most about 100,000; each appears about a second after its response. No bodies, queries or ' +
    'ids of records are kept. `route` is null for a path that does not exist. ' +
    'A `status` of 499 means that the client closed the connection before the response was complete. Requests ' +
    'answered with 401 are not recorded.',
  view: new View('LoggedRequest', {
    id: uuid('r.id'),
    api_key_id: uuid('r.api_key_id'),
    method: text('r.method', 'GET'),
    route: nullable(text('r.route', '/v1/students/{student_id}')),
    status: like(integer('r.status', { minimum: 100, maximum: 599 }), 200),
    duration_ms: like(number('r.duration_ms'), 4.2),
    request_id: text('r.request_id', '7b0f6f0e-2f6c-4c57-9d0c-4f7f0c1f2a55'),
    created_at: instant('r.created_at'),
  }),
  source: new Source('request_log', 'r'),
  parameters: [
    byId('api_key_id', 'Only requests with this API key.'),
    parameter('route', ROUTE, 'Only requests to this route, written as in the log: `/v1/students/{student_id}`.', {
      column: 'route',
      comparison: 'equals',
    }),
    byValue('method', METHODS, 'Only requests with this method.'),
    parameter('status', STATUS, 'Only requests with this status (`404`) or class of status (`4xx`).', {
      where: (status) => {
        if (!status.endsWith('xx')) return sql`r.status = ${Number(status)}`;
        const first = Number(status[0]) * 100;
        return sql`r.status BETWEEN ${first} AND ${first + 99}`;
      },
    }),
    ...between('created_at', {
      from: 'Received at or after this ISO 8601 date or date-time.',
      to: 'Received at or before this ISO 8601 date or date-time; a date includes the whole day.',
    }),
  ],
});

export const REQUEST_LOG_CONTROLLERS = [listController(REQUEST_LOG)];
