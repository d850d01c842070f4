import { field } from '../../../http/kit.js';
import { ChangedPerson, StudentFields } from '../people.dto.js';

export class CreateStudent extends StudentFields {}

/** Omitted fields stay unchanged. */
export class UpdateStudent extends ChangedPerson {
  @field.Uuid({ nullable: true, description: 'By which prices differ.' })
  rate_band_id?: string | null;
}
