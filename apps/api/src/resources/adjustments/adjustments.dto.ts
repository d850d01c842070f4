import { rangeQuery } from '../../http/lists/list-query.dto.js';
import { QueryBoolean, QueryUuid } from '../../http/validation/fields.js';

const Between = rangeQuery({
  from: 'The period starts on or after this ISO 8601 date.',
  to: 'The period starts on or before this ISO 8601 date.',
});

export class ListAdjustments extends Between {
  @QueryUuid({ description: 'Only adjustments for this tutor (user id).' })
  tutor_id?: string;

  @QueryBoolean({ description: 'Voided adjustments too.', default: false })
  include_voided: boolean = false;
}
