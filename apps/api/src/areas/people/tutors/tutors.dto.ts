import { VALUES } from '@app/database';
import type { TutorChange } from '@app/people';
import { field } from '../../../http/kit.js';
import { BIO, NAME, TutorFields } from '../people.dto.js';

export class CreateTutor extends TutorFields {}

const SLUG = {
  shape: /^[a-z0-9]+(-[a-z0-9]+)*$/,
  message: 'Must be lowercase letters and digits, with single hyphens between words.',
};
const LABEL = { min: 1, max: 100, trim: true };
const POSTCODE = { min: 1, max: 20, trim: true };

/** Omitted fields stay unchanged. */
export class UpdateTutor implements TutorChange {
  @field.Text(NAME)
  first_name?: string;

  @field.Text(NAME)
  last_name?: string;

  @field.Text(BIO, { nullable: true })
  bio?: string | null;

  @field.OneOf(VALUES.tutor_profiles.teaching_mode, { nullable: true })
  teaching_mode?: (typeof VALUES.tutor_profiles.teaching_mode)[number] | null;

  @field.Flag({ description: 'Whether the profile is public.' })
  is_published?: boolean;

  @field.Text({ min: 1, max: 100, pattern: SLUG }, { nullable: true, description: 'Unique in the organization.' })
  handle?: string | null;

  @field.Text(NAME, { nullable: true })
  home_suburb?: string | null;

  @field.Text(POSTCODE, { nullable: true })
  home_postcode?: string | null;

  @field.Texts(POSTCODE, { max: 1000 }, { description: 'Where the tutor teaches in person.' })
  service_postcodes?: string[];

  @field.Flag()
  serves_all_areas?: boolean;

  @field.Integer(0, 1_000, { nullable: true, description: 'From the home postcode.' })
  max_travel_km?: number | null;

  @field.Texts(LABEL, { max: 50 }, { description: 'Such as `at_home` or `library`.' })
  in_person_arrangements?: string[];

  @field.IdsOrCodes({ max: 100 }, { description: 'Ids or codes of all subjects that the tutor teaches.' })
  tutor_subjects?: string[];

  @field.Uuid({ nullable: true, description: 'By which prices and pay differ.' })
  tutor_tier_id?: string | null;

  @field.Texts(LABEL, { max: 50 })
  specialisations?: string[];
}
