import { ListQuery } from '../../http/lists/list-query.dto.js';
import { QueryBoolean, QueryUuid } from '../../http/validation/fields.js';

const ANONYMIZE = 'Reviewers as first name and initial ("Mia N.") instead of the full name.';

export class ListFeedback extends ListQuery {
  @QueryUuid({ description: 'Only feedback on this tutor (user id).' })
  tutor_id?: string;

  @QueryBoolean({ description: 'Only feedback that its author made public.', default: false })
  public_only: boolean = false;

  @QueryBoolean({ description: ANONYMIZE, default: false })
  anonymize: boolean = false;
}

export class ListReviews extends ListQuery {
  @QueryBoolean({ description: ANONYMIZE, default: false })
  anonymize: boolean = false;
}
