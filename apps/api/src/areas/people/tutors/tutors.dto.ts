import { VALUES } from '@app/database';
import { FIELDS } from '@app/fields';
import type { TutorChange } from '@app/people';
import { field } from '../../../http/kit.js';
import { TutorFields } from '../people.dto.js';

export class CreateTutor extends TutorFields {}

/** Omitted fields stay unchanged. */
export class UpdateTutor implements TutorChange {
  @field.bodyField(FIELDS.users.first_name)
  first_name?: string;

  @field.bodyField(FIELDS.users.last_name)
  last_name?: string;

  @field.bodyField(FIELDS.users.email, {
    nullable: true,
    description: 'Needs `accounts:write`. Null removes the address.',
  })
  email?: string | null;

  @field.bodyField(FIELDS.users.phone, { nullable: true })
  phone?: string | null;

  @field.bodyField(FIELDS.tutor_profiles.bio, { nullable: true })
  bio?: string | null;

  @field.OneOf(VALUES.tutor_profiles.teaching_mode, { nullable: true })
  teaching_mode?: (typeof VALUES.tutor_profiles.teaching_mode)[number] | null;

  @field.Flag({ description: 'Whether the profile is public.' })
  is_published?: boolean;

  @field.bodyField(FIELDS.tutor_profiles.handle, { nullable: true, description: 'Unique in the organization.' })
  handle?: string | null;

  @field.bodyField(FIELDS.tutor_profiles.home_suburb, { nullable: true })
  home_suburb?: string | null;

  @field.bodyField(FIELDS.tutor_profiles.home_postcode, { nullable: true })
  home_postcode?: string | null;

  @field.bodyField(FIELDS.tutor_profiles.service_postcodes, { description: 'Where the tutor teaches in person.' })
  service_postcodes?: string[];

  @field.Flag()
  serves_all_areas?: boolean;

  @field.bodyField(FIELDS.tutor_profiles.max_travel_km, { nullable: true, description: 'From the home postcode.' })
  max_travel_km?: number | null;

  @field.bodyField(FIELDS.tutor_profiles.in_person_arrangements, { description: 'Such as `at_home` or `library`.' })
  in_person_arrangements?: string[];

  @field.IdsOrCodes({ max: 100 }, { description: 'Ids or codes of all subjects that the tutor teaches.' })
  tutor_subjects?: string[];

  @field.Uuid({ nullable: true, description: 'By which prices and pay differ.' })
  tutor_tier_id?: string | null;

  @field.bodyField(FIELDS.tutor_profiles.meeting_url, {
    nullable: true,
    description: 'Where online sessions with the tutor take place, unless they say something else: https.',
  })
  meeting_url?: string | null;

  @field.bodyField(FIELDS.tutor_profiles.specialisations)
  specialisations?: string[];
}

export class CreateTutorStudent {
  @field.Uuid({ required: true, description: 'An accepted student.' })
  student_id: string;

  @field.IdOrCode({ nullable: true, description: 'Id or code.' })
  subject_id?: string | null;
}
