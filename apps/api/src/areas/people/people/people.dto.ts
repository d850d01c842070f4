import { BOOLEAN, field, INSTANT, objectOf, orNull, type Shape, UUID } from '../../../http/kit.js';

export class ErasePerson {
  @field.Flag({
    default: false,
    description: 'Whether results stay, without a name. The owner who confirms can decide otherwise.',
  })
  keep_results?: boolean;
}

/** What is to become of somebody's data. */
export const erasureShape: Shape = {
  name: 'Erasure',
  schema: objectOf({ person_id: UUID, asked_at: INSTANT, due_at: orNull(INSTANT), keep_results: BOOLEAN }),
};
