import { ListQuery } from '../../http/lists/list-query.dto.js';
import { QueryBoolean, QueryDate, QueryUuid } from '../../http/validation/fields.js';
import type { DateBound } from '../../http/validation/parsers.js';

export class ListAdjustments extends ListQuery {
  @QueryUuid({ description: 'Only adjustments for this tutor (user id).' })
  tutor_id?: string;

  @QueryBoolean({ description: 'Voided adjustments too.', default: false })
  include_voided: boolean = false;

  @QueryDate({ description: 'The period starts on or after this ISO 8601 date.' })
  from?: DateBound;

  @QueryDate({ description: 'The period starts on or before this ISO 8601 date.' })
  to?: DateBound;
}
