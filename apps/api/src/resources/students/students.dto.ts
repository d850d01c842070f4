import { Text } from '../../http/validation/fields.js';
import { Email, NAME, PHONE, StudentFields } from '../../people/people.dto.js';

export class CreateStudent extends StudentFields {}

/** Omitted fields stay unchanged. */
export class UpdateStudent {
  @Text(NAME)
  first_name?: string;

  @Text(NAME)
  last_name?: string;

  @Email({ nullable: true, description: 'Null removes the address: no email can reach the account after that.' })
  email?: string | null;

  @Text(PHONE, { nullable: true })
  phone?: string | null;
}
