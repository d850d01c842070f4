import { MINE, MINE_OR_NOBODYS, onRows, secure } from './rules.js';
import { SESSION } from './states.js';

/** Sessions, who takes part in them, and what was said of them afterwards. */
export const scheduling = /* sql */ `
  CREATE TABLE sessions (
    id uuid PRIMARY KEY,
    organization_id uuid NOT NULL REFERENCES organizations,
    status text NOT NULL DEFAULT 'scheduled' CHECK (${SESSION.check('status')}),
    title text,
    tutor_id uuid,
    student_id uuid,
    subject_id uuid,
    starts_at timestamptz(3) NOT NULL,
    ends_at timestamptz(3) NOT NULL,
    duration_minutes integer NOT NULL CHECK (duration_minutes > 0),
    tutor_pay_rate_cents bigint CHECK (tutor_pay_rate_cents BETWEEN 0 AND 1000000000000),
    student_rate_cents bigint CHECK (student_rate_cents BETWEEN 0 AND 1000000000000),
    amount_owed_cents bigint CHECK (amount_owed_cents BETWEEN 0 AND 1000000000000),
    mode text CHECK (mode IN ('online', 'in_person')),
    created_at timestamptz(3) NOT NULL DEFAULT now(),
    updated_at timestamptz(3) NOT NULL DEFAULT now(),
    completed_at timestamptz(3),
    cancelled_at timestamptz(3),
    CHECK (ends_at > starts_at),
    UNIQUE (organization_id, id),
    FOREIGN KEY (organization_id, tutor_id) REFERENCES members (organization_id, user_id),
    FOREIGN KEY (organization_id, student_id) REFERENCES members (organization_id, user_id),
    FOREIGN KEY (organization_id, subject_id) REFERENCES subjects (organization_id, id)
  );
  CREATE INDEX sessions_keyset ON sessions (organization_id, created_at, id);
  CREATE INDEX sessions_start ON sessions (organization_id, starts_at);
  CREATE INDEX sessions_tutor ON sessions (organization_id, tutor_id, created_at, id);
  CREATE INDEX sessions_student ON sessions (organization_id, student_id, created_at, id);
  ${onRows('sessions', 'count_session_students', ['INSERT', 'UPDATE', 'DELETE'])}
  ${secure('sessions')}

  CREATE TABLE lesson_participants (
    id uuid PRIMARY KEY,
    organization_id uuid NOT NULL,
    session_id uuid NOT NULL,
    student_id uuid NOT NULL,
    status text NOT NULL DEFAULT 'pending'
      CHECK (status IN ('pending', 'accepted', 'declined', 'cancelled', 'removed')),
    attendance text CHECK (attendance IN ('attended', 'no_show', 'excused')),
    invited_at timestamptz(3),
    responded_at timestamptz(3),
    cancelled_at timestamptz(3),
    created_at timestamptz(3) NOT NULL DEFAULT now(),
    UNIQUE (session_id, student_id),
    FOREIGN KEY (organization_id, session_id) REFERENCES sessions (organization_id, id),
    FOREIGN KEY (organization_id, student_id) REFERENCES members (organization_id, user_id)
  );
  CREATE INDEX lesson_participants_keyset ON lesson_participants (organization_id, created_at, id);
  CREATE INDEX lesson_participants_student ON lesson_participants (organization_id, student_id, created_at, id);
  ${onRows('lesson_participants', 'count_session_students', ['INSERT', 'UPDATE', 'DELETE'])}
  ${secure('lesson_participants')}

  -- In how many of an organization's sessions a student is, as their student or as a participant. Derived.
  CREATE TABLE session_students (
    organization_id uuid NOT NULL REFERENCES organizations,
    student_id uuid NOT NULL REFERENCES users,
    occurrences integer NOT NULL CHECK (occurrences >= 0),
    PRIMARY KEY (organization_id, student_id)
  );
  CREATE INDEX session_students_student ON session_students (student_id);
  ${onRows('session_students', 'show_results_of_students', ['INSERT', 'DELETE'])}
  ${secure('session_students')}

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
    CHECK (start_time COLLATE "C" < end_time COLLATE "C"),
    FOREIGN KEY (organization_id, tutor_id) REFERENCES members (organization_id, user_id)
  );
  CREATE INDEX availabilities_keyset ON availabilities (organization_id, created_at, id);
  CREATE INDEX availabilities_tutor_keyset ON availabilities (organization_id, tutor_id, created_at, id)
    INCLUDE (day_of_week);
  CREATE INDEX availabilities_day_keyset ON availabilities (organization_id, day_of_week, created_at, id);
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
    CHECK (starts_on <= ends_on),
    FOREIGN KEY (organization_id, tutor_id) REFERENCES members (organization_id, user_id)
  );
  CREATE INDEX time_off_tutor ON time_off (organization_id, tutor_id, starts_on);
  ${secure('time_off')}

  -- organization_id is stamped at submission; a legacy row has none and is seen by nobody.
  CREATE TABLE session_feedback (
    id uuid PRIMARY KEY,
    organization_id uuid REFERENCES organizations,
    legacy boolean NOT NULL DEFAULT false,
    session_id uuid REFERENCES sessions,
    tutor_id uuid NOT NULL REFERENCES users,
    reviewer_id uuid REFERENCES users,
    reviewer_role text CHECK (reviewer_role IN ('student', 'parent', 'tutor')),
    rating integer NOT NULL CHECK (rating BETWEEN 1 AND 5),
    recommend boolean,
    prepared boolean,
    positive_tags text[] NOT NULL DEFAULT '{}',
    improve_tags text[] NOT NULL DEFAULT '{}',
    comment text,
    has_comment boolean NOT NULL GENERATED ALWAYS AS (comment IS NOT NULL AND comment ~ '\\S') STORED,
    is_public boolean NOT NULL DEFAULT false,
    created_at timestamptz(3) NOT NULL DEFAULT now(),
    CHECK (legacy = (organization_id IS NULL))
  );
  CREATE INDEX session_feedback_keyset ON session_feedback (organization_id, created_at, id);
  CREATE INDEX session_feedback_public_keyset ON session_feedback (organization_id, created_at, id) WHERE is_public;
  CREATE INDEX session_feedback_tutor_keyset ON session_feedback (organization_id, tutor_id, created_at, id)
    INCLUDE (is_public);
  CREATE INDEX session_feedback_reviewer ON session_feedback (reviewer_id);
  CREATE INDEX session_feedback_reviews_keyset ON session_feedback (organization_id, tutor_id, created_at, id)
    WHERE is_public AND has_comment;
  CREATE TRIGGER stamp_organization BEFORE INSERT ON session_feedback
    FOR EACH ROW EXECUTE FUNCTION stamp_feedback_organization();
  CREATE TRIGGER keep_organization BEFORE UPDATE ON session_feedback FOR EACH ROW EXECUTE FUNCTION keep_organization();
  ${secure('session_feedback', MINE, MINE_OR_NOBODYS)}
`;
