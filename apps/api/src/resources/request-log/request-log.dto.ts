import { rangeQuery } from '../../http/lists/list-query.dto.js';
import { QueryEnum, QueryToken, QueryUuid } from '../../http/validation/fields.js';

const Between = rangeQuery({
  from: 'Received at or after this ISO 8601 date or date-time.',
  to: 'Received at or before this ISO 8601 date or date-time; a date counts whole.',
});

/** That anything answers. */
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

export class ListRequestLog extends Between {
  @QueryUuid({ description: 'Only requests with this API key.' })
  api_key_id?: string;

  @QueryToken(/^\/[A-Za-z0-9_.{}/-]{0,127}$/, 'Give a route as the log shows it, such as /v1/students/{student_id}.', {
    description: 'Only requests to this route, written as in the log: `/v1/students/{student_id}`.',
  })
  route?: string;

  @QueryEnum(METHODS, { description: 'Only requests with this method.' })
  method?: string;

  @QueryToken(/^[1-5](xx|\d\d)$/, 'Give a status such as 404, or a class of them such as 4xx.', {
    description: 'Only requests answered with this status (`404`), or with one of this class (`4xx`).',
  })
  status?: string;
}
