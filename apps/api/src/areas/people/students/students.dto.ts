import { FIELDS } from '@app/fields';
import { field } from '../../../http/kit.js';
import { StudentFields } from '../people.dto.js';

export class CreateStudent extends StudentFields {}

/** Omitted fields stay unchanged. */
export class UpdateStudent {
  @field.bodyField(FIELDS.users.first_name)
  first_name?: string;

  @field.bodyField(FIELDS.users.last_name)
  last_name?: string;

  @field.bodyField(FIELDS.users.email, {
    nullable: true,
    description: 'Null removes the address: no email can reach the account after that.',
  })
  email?: string | null;

  @field.bodyField(FIELDS.users.phone, { nullable: true })
  phone?: string | null;

  @field.Uuid({ nullable: true, description: 'By which prices differ.' })
  rate_band_id?: string | null;
}
