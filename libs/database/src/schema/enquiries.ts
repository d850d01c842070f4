import { emits } from './emits.js';
import { rule, secure } from './rules.js';
import { BOOKING_REQUEST, LEAD } from './states.js';

/** Who asks for lessons, where people live, and where the postcodes are. */
export const enquiries = /* sql */ `
  -- Somebody who has asked, and is nobody's login yet. subject, notes: in their own words. source_*: the form that they sent.
  -- staff_notes: what the organization says of them.
  CREATE TABLE leads (
    id uuid PRIMARY KEY,
    organization_id uuid NOT NULL REFERENCES organizations,
    form_id uuid,
    source_form_name text CHECK (char_length(source_form_name) BETWEEN 1 AND 200),
    name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 200),
    email text CHECK (char_length(email) <= 254),
    email_normalized text CHECK (char_length(email_normalized) <= 254),
    phone text CHECK (char_length(phone) <= 50),
    subject text CHECK (char_length(subject) BETWEEN 1 AND 200),
    status text NOT NULL DEFAULT 'new' CHECK (${LEAD.check('status')}),
    assigned_tutor_id uuid,
    source_url text CHECK (char_length(source_url) <= 2000),
    notes text CHECK (char_length(notes) BETWEEN 1 AND 5000),
    staff_notes text CHECK (char_length(staff_notes) BETWEEN 1 AND 5000),
    converted_at timestamptz(3),
    created_at timestamptz(3) NOT NULL DEFAULT now(),
    updated_at timestamptz(3) NOT NULL DEFAULT now(),
    FOREIGN KEY (organization_id, assigned_tutor_id) REFERENCES members (organization_id, user_id)
  );
  CREATE INDEX leads_keyset ON leads (organization_id, created_at, id);
  CREATE INDEX leads_status_keyset ON leads (organization_id, status, created_at, id) INCLUDE (assigned_tutor_id);
  CREATE INDEX leads_tutor_keyset ON leads (organization_id, assigned_tutor_id, created_at, id)
    WHERE assigned_tutor_id IS NOT NULL;
  CREATE INDEX leads_email ON leads (organization_id, email_normalized, created_at) WHERE email_normalized IS NOT NULL;
  ${emits('leads', {
    ...{ resource: 'lead', noun: 'a lead', list: '/v1/leads', never: ['email_normalized'] },
    verbs: {
      converted: {
        says: 'A lead became a student or parent.',
        updated: `o.status <> 'converted' AND n.status = 'converted'`,
      },
    },
  })}
  ${secure('leads')}

  -- A lesson that somebody wants: a student, or somebody who is known by a name alone. preferred_times: by day of the week,
  -- lists of hours such as 16:00-18:00, by the organization's clock. matched_session_id: the session that was booked for it.
  CREATE TABLE booking_requests (
    id uuid PRIMARY KEY,
    organization_id uuid NOT NULL REFERENCES organizations,
    status text NOT NULL DEFAULT 'pending' CHECK (${BOOKING_REQUEST.check('status')}),
    subject_id uuid,
    student_id uuid,
    student_display_name text CHECK (char_length(student_display_name) BETWEEN 1 AND 200),
    preferred_mode text CHECK (preferred_mode IN ('online', 'in_person', 'either')),
    preferred_days text[] NOT NULL DEFAULT '{}' CHECK (preferred_days <@ ARRAY['monday', 'tuesday', 'wednesday',
      'thursday', 'friday', 'saturday', 'sunday']),
    preferred_times jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(preferred_times) = 'object'),
    duration_minutes integer CHECK (duration_minutes BETWEEN 5 AND 720),
    message text CHECK (char_length(message) BETWEEN 1 AND 5000),
    matched_session_id uuid,
    created_at timestamptz(3) NOT NULL DEFAULT now(),
    updated_at timestamptz(3) NOT NULL DEFAULT now(),
    FOREIGN KEY (organization_id, subject_id) REFERENCES subjects (organization_id, id),
    FOREIGN KEY (organization_id, student_id) REFERENCES members (organization_id, user_id),
    FOREIGN KEY (organization_id, matched_session_id) REFERENCES sessions (organization_id, id)
  );
  ${rule('booking_requests', 'matched', `matched_session_id IS NULL OR status = 'matched'`, 'matched_session_id', 'must be null unless status is matched')}
  CREATE INDEX booking_requests_keyset ON booking_requests (organization_id, created_at, id);
  CREATE INDEX booking_requests_status_keyset ON booking_requests (organization_id, status, created_at, id)
    INCLUDE (subject_id);
  CREATE INDEX booking_requests_subject_keyset ON booking_requests (organization_id, subject_id, created_at, id)
    WHERE subject_id IS NOT NULL;
  CREATE INDEX booking_requests_pending ON booking_requests (updated_at) WHERE status = 'pending';
  CREATE INDEX booking_requests_session ON booking_requests (organization_id, matched_session_id)
    WHERE matched_session_id IS NOT NULL;
  ${emits('booking_requests', {
    ...{
      resource: 'booking_request',
      noun: 'a booking request',
      list: '/v1/booking-requests',
    },
    verbs: {
      matched: {
        says: 'A session was booked for a request.',
        updated: `o.status = 'pending' AND n.status = 'matched'`,
      },
      declined: { says: 'A request was declined.', updated: `o.status = 'pending' AND n.status = 'declined'` },
      expired: {
        says: 'A request waited too long, or its student left.',
        updated: `o.status = 'pending' AND n.status = 'expired'`,
      },
      reopened: {
        says: 'A request waits for a session again.',
        updated: `o.status <> 'pending' AND n.status = 'pending'`,
      },
    },
  })}
  ${secure('booking_requests')}

  -- Where the organization teaches, and where its tutors and students are taught. The column that owner_type names holds
  -- the owner; neither does for the organization itself.
  CREATE TABLE locations (
    id uuid PRIMARY KEY,
    organization_id uuid NOT NULL REFERENCES organizations,
    owner_type text NOT NULL DEFAULT 'org' CHECK (owner_type IN ('org', 'tutor', 'student')),
    tutor_id uuid,
    student_id uuid,
    label text CHECK (char_length(label) BETWEEN 1 AND 200),
    suburb text CHECK (char_length(suburb) BETWEEN 1 AND 200),
    state text CHECK (char_length(state) BETWEEN 1 AND 100),
    postcode text CHECK (char_length(postcode) BETWEEN 1 AND 20),
    is_default boolean NOT NULL DEFAULT false,
    created_at timestamptz(3) NOT NULL DEFAULT now(),
    UNIQUE (organization_id, id),
    FOREIGN KEY (organization_id, tutor_id) REFERENCES members (organization_id, user_id),
    FOREIGN KEY (organization_id, student_id) REFERENCES members (organization_id, user_id)
  );
  ALTER TABLE sessions ADD FOREIGN KEY (organization_id, location_id) REFERENCES locations (organization_id, id)
    ON DELETE SET NULL (location_id);
  ALTER TABLE session_series ADD FOREIGN KEY (organization_id, location_id) REFERENCES locations (organization_id, id)
    ON DELETE SET NULL (location_id);
  ${['tutor', 'student']
    .map((owner) =>
      rule(
        'locations',
        owner,
        `(owner_type = '${owner}') = (${owner}_id IS NOT NULL)`,
        `${owner}_id`,
        `must be given with the owner_type ${owner}, and only then`,
      ),
    )
    .join('\n  ')}
  ${rule('locations', 'place', 'coalesce(label, suburb, state, postcode) IS NOT NULL', 'label', 'must be given, or one of suburb, state and postcode')}
  CREATE INDEX locations_keyset ON locations (organization_id, created_at, id);
  CREATE INDEX locations_owner_keyset ON locations (organization_id, owner_type, created_at, id);
  CREATE INDEX locations_tutor_keyset ON locations (organization_id, tutor_id, created_at, id)
    INCLUDE (owner_type, student_id) WHERE tutor_id IS NOT NULL;
  CREATE INDEX locations_student_keyset ON locations (organization_id, student_id, created_at, id)
    INCLUDE (owner_type) WHERE student_id IS NOT NULL;
  CREATE UNIQUE INDEX locations_default ON locations (organization_id, owner_type, tutor_id, student_id)
    NULLS NOT DISTINCT WHERE is_default;
  ${emits('locations', { resource: 'location', noun: 'a location', list: '/v1/locations', as: { tutor_id: 'owner_id', student_id: 'owner_id' } })}
  ${secure('locations')}

  -- The operator's: where a postcode is, about. It says nothing about any organization. compact: the postcode as it is compared.
  CREATE TABLE places (
    postcode text PRIMARY KEY CHECK (char_length(postcode) BETWEEN 1 AND 20),
    compact text NOT NULL GENERATED ALWAYS AS (upper(replace(postcode, ' ', ''))) STORED UNIQUE,
    suburb text CHECK (char_length(suburb) BETWEEN 1 AND 200),
    lat double precision NOT NULL CHECK (lat BETWEEN -90 AND 90),
    lng double precision NOT NULL CHECK (lng BETWEEN -180 AND 180)
  );

  -- How far one can drive from the postcode of a tutor. reached: by postcode, kilometers and minutes, up to so many minutes.
  CREATE TABLE isochrones (
    organization_id uuid NOT NULL REFERENCES organizations,
    postcode text CHECK (char_length(postcode) BETWEEN 1 AND 20),
    minutes integer NOT NULL CHECK (minutes BETWEEN 1 AND 240),
    reached jsonb NOT NULL CHECK (jsonb_typeof(reached) = 'object'),
    computed_at timestamptz(3) NOT NULL DEFAULT now(),
    PRIMARY KEY (organization_id, postcode)
  );
  ${secure('isochrones')}
`;
