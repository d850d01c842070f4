import { field } from '../../../http/kit.js';
import { NAME, PHONE, StudentFields } from '../people.dto.js';

export class CreateStudent extends StudentFields {}

/** Omitted fields stay unchanged. */
export class UpdateStudent {
  @field.Text(NAME)
  first_name?: string;

  @field.Text(NAME)
  last_name?: string;

  @field.Email({ nullable: true, description: 'Null removes the address: no email can reach the account after that.' })
  email?: string | null;

  @field.Text(PHONE, { nullable: true })
  phone?: string | null;

  @field.Uuid({ nullable: true, description: 'By which prices differ.' })
  rate_band_id?: string | null;
}
