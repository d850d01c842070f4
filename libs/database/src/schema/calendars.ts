import { emits } from './emits.js';
import { rule, secure } from './rules.js';

/** When tutors teach, and the calendars in which people follow their lessons. */
export const calendars = /* sql */ `
  -- When a tutor teaches every week, on the clock on the wall of a time zone. An end of 24:00 is the end of the day.
  CREATE TABLE availabilities (
    id uuid PRIMARY KEY,
    organization_id uuid NOT NULL REFERENCES organizations,
    tutor_id uuid NOT NULL,
    day_of_week integer NOT NULL CHECK (day_of_week BETWEEN 0 AND 6),
    start_time text NOT NULL CHECK (start_time ~ '^([01][0-9]|2[0-3]):[0-5][0-9]$'),
    end_time text NOT NULL CHECK (end_time ~ '^(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)$'),
    timezone text NOT NULL CHECK (timezone ~ '^[A-Za-z][A-Za-z0-9_+/-]{0,63}$'),
    created_at timestamptz(3) NOT NULL DEFAULT now(),
    FOREIGN KEY (organization_id, tutor_id) REFERENCES members (organization_id, user_id)
  );
  ${rule('availabilities', 'order', 'start_time COLLATE "C" < end_time COLLATE "C"', 'end_time', 'must be after start_time')}
  CREATE INDEX availabilities_keyset ON availabilities (organization_id, created_at, id);
  CREATE INDEX availabilities_tutor_keyset ON availabilities (organization_id, tutor_id, created_at, id)
    INCLUDE (day_of_week);
  CREATE INDEX availabilities_day_keyset ON availabilities (organization_id, day_of_week, created_at, id);
  ${emits('availabilities', { resource: 'availability', noun: 'a weekly hour of a tutor', list: '/v1/availabilities' })}
  ${secure('availabilities')}

  -- Days of the organization's time zone on which a tutor does not teach, both included.
  CREATE TABLE time_off (
    id uuid PRIMARY KEY,
    organization_id uuid NOT NULL REFERENCES organizations,
    tutor_id uuid NOT NULL,
    starts_on date NOT NULL,
    ends_on date NOT NULL,
    note text CHECK (char_length(note) BETWEEN 1 AND 500),
    created_at timestamptz(3) NOT NULL DEFAULT now(),
    FOREIGN KEY (organization_id, tutor_id) REFERENCES members (organization_id, user_id)
  );
  ${rule('time_off', 'order', 'starts_on <= ends_on', 'ends_on', 'must not be before starts_on')}
  CREATE INDEX time_off_tutor ON time_off (organization_id, tutor_id, starts_on);
  ${emits('time_off', { resource: 'time_off', noun: 'time off of a tutor', list: '/v1/tutors/{tutor_id}/time-off', path: null })}
  ${secure('time_off')}

  -- The sessions that were deleted, for each who taught or took part: calendars show them as cancelled for some days.
  CREATE TABLE removed_sessions (
    organization_id uuid NOT NULL REFERENCES organizations,
    session_id uuid NOT NULL,
    user_id uuid NOT NULL,
    starts_at timestamptz(3) NOT NULL,
    ends_at timestamptz(3) NOT NULL,
    feed_sequence integer NOT NULL,
    removed_at timestamptz(3) NOT NULL DEFAULT now(),
    PRIMARY KEY (organization_id, user_id, session_id),
    FOREIGN KEY (organization_id, user_id) REFERENCES members (organization_id, user_id)
  );
  CREATE INDEX removed_sessions_old ON removed_sessions (removed_at);
  ${secure('removed_sessions')}

  -- The secret addresses of calendars, of which the hash is kept.
  CREATE TABLE calendar_feeds (
    organization_id uuid NOT NULL REFERENCES organizations,
    user_id uuid NOT NULL REFERENCES users,
    token_hash bytea NOT NULL UNIQUE CHECK (octet_length(token_hash) = 32),
    created_at timestamptz(3) NOT NULL DEFAULT now(),
    PRIMARY KEY (organization_id, user_id)
  );
  CREATE INDEX calendar_feeds_user ON calendar_feeds (user_id);
  ${secure('calendar_feeds')}
  ${['members', 'parents']
    .map(
      (table) => `CREATE TRIGGER end_calendar_feeds AFTER UPDATE OF status ON ${table} FOR EACH ROW
    WHEN (OLD.status = 'accepted' AND NEW.status <> 'accepted') EXECUTE FUNCTION end_calendar_feeds();`,
    )
    .join('\n  ')}
  CREATE TRIGGER end_calendar_feeds AFTER DELETE ON parent_students FOR EACH ROW EXECUTE FUNCTION end_calendar_feeds();
`;
