import { field } from '../../../http/kit.js';
import { BilledPerson, StudentFields } from '../people.dto.js';

export class CreateStudent extends StudentFields {}

/** Omitted fields stay unchanged. */
export class UpdateStudent extends BilledPerson {
  @field.Uuid({
    nullable: true,
    description:
      'A linked parent, who is billed. Null: nobody was chosen, so that the only parent is, if there is just one.',
  })
  billing_parent_id?: string | null;

  @field.Flag({
    description: 'Whether the student pays, whatever parents are linked. Without one, students pay anyway.',
  })
  bills_self?: boolean;

  @field.Uuid({ nullable: true, description: 'By which prices differ.' })
  rate_band_id?: string | null;
}
