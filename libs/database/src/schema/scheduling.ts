import { raw } from 'sql-template-tag';
import { emits } from './emits.js';
import { amount, inRange, meetingUrl, ofSeenGroup, onRows, rule, secure } from './rules.js';
import { SESSION } from './states.js';

/** The statuses of a place in a session whose student takes part: who has neither declined nor been taken out. */
const TAKING_PART: readonly string[] = ['pending', 'accepted'];

export const takesPart = ({ status }: { status: string }): boolean => TAKING_PART.includes(status);

/** The same in SQL, of rows of `lesson_participants`. */
export const TAKES_PART = raw(`status IN ('${TAKING_PART.join("', '")}')`);

/** An hour's pay of a session, as SQL: what was agreed, or what a share of the bill came to once it was completed. */
export const payRate = (session: string) =>
  `coalesce(${session}.tutor_pay_rate_cents, round(${session}.tutor_pay_cents * 60.0 / ${session}.duration_minutes)::bigint)`;

/** Sessions, who takes part in them, and what was said of them afterwards. */
export const scheduling = /* sql */ `
  -- What a student pays an hour, and what the tutor gets of it. A key that is null fits everything.
  CREATE TABLE rate_cells (
    id uuid PRIMARY KEY,
    organization_id uuid NOT NULL REFERENCES organizations,
    band_id uuid,
    tutor_tier_id uuid,
    subject_id uuid,
    session_kind text CHECK (session_kind IN ('1on1_online', '1on1_inperson', 'group', 'classroom')),
    student_rate_cents bigint ${amount('student_rate_cents')},
    inperson_surcharge_cents bigint ${amount('inperson_surcharge_cents')},
    tutor_pay_mode text CHECK (tutor_pay_mode IN ('percentage', 'flat')),
    tutor_pay_pct numeric(5, 2) CHECK (tutor_pay_pct BETWEEN 0 AND 100),
    tutor_flat_rate_cents bigint ${amount('tutor_flat_rate_cents')},
    created_at timestamptz(3) NOT NULL DEFAULT now(),
    updated_at timestamptz(3) NOT NULL DEFAULT now(),
    CONSTRAINT rate_cells_combination UNIQUE NULLS NOT DISTINCT (organization_id, band_id, tutor_tier_id, subject_id, session_kind),
    FOREIGN KEY (organization_id, band_id) REFERENCES rate_bands (organization_id, id),
    FOREIGN KEY (organization_id, tutor_tier_id) REFERENCES tutor_tiers (organization_id, id),
    FOREIGN KEY (organization_id, subject_id) REFERENCES subjects (organization_id, id)
  );
  ${rule('rate_cells', 'percentage', `tutor_pay_mode IS DISTINCT FROM 'percentage' OR tutor_pay_pct IS NOT NULL`, 'tutor_pay_pct', 'must be given if tutor_pay_mode is percentage')}
  ${rule('rate_cells', 'flat', `tutor_pay_mode IS DISTINCT FROM 'flat' OR tutor_flat_rate_cents IS NOT NULL`, 'tutor_flat_rate_cents', 'must be given if tutor_pay_mode is flat')}
  ${rule('rate_cells', 'mode', 'tutor_pay_mode IS NOT NULL OR coalesce(tutor_pay_pct, tutor_flat_rate_cents) IS NULL', 'tutor_pay_mode', 'must be given with tutor_pay_pct or tutor_flat_rate_cents')}
  CREATE INDEX rate_cells_keyset ON rate_cells (organization_id, created_at, id)
    INCLUDE (band_id, tutor_tier_id, subject_id, session_kind);
  ${emits('rate_cells', { resource: 'rate_cell', noun: 'a rate cell', list: '/v1/rate-cells' })}
  ${secure('rate_cells')}

  -- What a series of sessions repeats, from starts_at on: what booking more of them takes. last_starts_at: the last of its times.
  -- A rate is null if it follows the table of rates, and meeting_url if it is the tutor's.
  CREATE TABLE session_series (
    id uuid PRIMARY KEY,
    organization_id uuid NOT NULL REFERENCES organizations,
    tutor_id uuid,
    subject_id uuid,
    group_id uuid REFERENCES student_groups,
    classroom_id uuid,
    mode text CHECK (mode IN ('online', 'in_person')),
    meeting_url text,
    location_id uuid,
    starts_at timestamptz(3) NOT NULL,
    last_starts_at timestamptz(3) NOT NULL,
    duration_minutes integer NOT NULL CHECK (duration_minutes > 0),
    every_weeks integer NOT NULL CHECK (every_weeks BETWEEN 1 AND 4),
    student_rate_cents bigint ${amount('student_rate_cents')},
    tutor_pay_rate_cents bigint ${amount('tutor_pay_rate_cents')},
    created_at timestamptz(3) NOT NULL DEFAULT now(),
    updated_at timestamptz(3) NOT NULL DEFAULT now(),
    UNIQUE (organization_id, id),
    FOREIGN KEY (organization_id, classroom_id) REFERENCES classrooms (organization_id, id),
    FOREIGN KEY (organization_id, tutor_id) REFERENCES members (organization_id, user_id),
    FOREIGN KEY (organization_id, subject_id) REFERENCES subjects (organization_id, id)
  );
  ${meetingUrl('session_series')}
  ${rule('session_series', 'order', 'last_starts_at >= starts_at', 'last_starts_at', 'must not be before starts_at')}
  ${ofSeenGroup('session_series')}
  CREATE INDEX session_series_keyset ON session_series (organization_id, created_at, id);
  CREATE INDEX session_series_tutor_keyset ON session_series (organization_id, tutor_id, created_at, id);
  CREATE INDEX session_series_location ON session_series (organization_id, location_id) WHERE location_id IS NOT NULL;
  ${emits('session_series', { plain: ['created', 'updated'], resource: 'session_series', noun: 'a series of sessions', list: '/v1/session-series' })}
  ${secure('session_series')}

  -- series_id: the sessions that one request repeated; series_detached: somebody has changed it apart from the others. overlap_allowed: at the same time as another session of the tutor, because
  -- somebody wanted that; such rows are exempt from the constraint. *_given: a request set the price, or the pay, so that
  -- settling leaves it alone. meeting_url: that of the tutor's profile, until somebody sets another. tutor_pay_pct: what the tutor gets of what is billed, if it is no flat rate. tutor_pay_cents: what
  -- the tutor gets for the session, once it is completed. charged_pct: how much of the price was charged for cancelling. feed_sequence: how often
  -- it has changed, for calendars.
  CREATE TABLE sessions (
    id uuid PRIMARY KEY,
    organization_id uuid NOT NULL REFERENCES organizations,
    status text NOT NULL DEFAULT 'scheduled' CHECK (${SESSION.check('status')}),
    title text,
    tutor_id uuid,
    student_id uuid,
    subject_id uuid,
    group_id uuid REFERENCES student_groups,
    classroom_id uuid,
    series_id uuid,
    series_detached boolean NOT NULL DEFAULT false,
    starts_at timestamptz(3) NOT NULL,
    ends_at timestamptz(3) NOT NULL,
    duration_minutes integer NOT NULL CHECK (duration_minutes > 0),
    tutor_pay_rate_cents bigint ${amount('tutor_pay_rate_cents')},
    tutor_pay_pct numeric(5, 2) CHECK (tutor_pay_pct BETWEEN 0 AND 100),
    tutor_pay_given boolean NOT NULL DEFAULT true,
    tutor_pay_cents bigint ${amount('tutor_pay_cents')},
    student_rate_cents bigint ${amount('student_rate_cents')},
    student_rate_given boolean NOT NULL DEFAULT true,
    set_rate_cents bigint ${amount('set_rate_cents')},
    amount_owed_cents bigint ${amount('amount_owed_cents')},
    mode text CHECK (mode IN ('online', 'in_person')),
    meeting_url text,
    location_id uuid,
    created_at timestamptz(3) NOT NULL DEFAULT now(),
    updated_at timestamptz(3) NOT NULL DEFAULT now(),
    completed_at timestamptz(3),
    cancelled_at timestamptz(3),
    cancellation_reason text CHECK (char_length(cancellation_reason) BETWEEN 1 AND 500),
    charged_pct integer NOT NULL DEFAULT 0 CHECK (charged_pct BETWEEN 0 AND 100),
    overlap_allowed boolean NOT NULL DEFAULT false,
    feed_sequence integer NOT NULL DEFAULT 0,
    CONSTRAINT sessions_overlap EXCLUDE USING gist (
      organization_id WITH =, tutor_id WITH =, tstzrange(starts_at, ends_at) WITH &&
    ) WHERE (NOT overlap_allowed AND status <> 'cancelled'),
    UNIQUE (organization_id, id),
    FOREIGN KEY (organization_id, series_id) REFERENCES session_series (organization_id, id),
    FOREIGN KEY (organization_id, classroom_id) REFERENCES classrooms (organization_id, id),
    FOREIGN KEY (organization_id, tutor_id) REFERENCES members (organization_id, user_id),
    FOREIGN KEY (organization_id, student_id) REFERENCES members (organization_id, user_id),
    FOREIGN KEY (organization_id, subject_id) REFERENCES subjects (organization_id, id)
  );
  ${rule('sessions', 'order', 'ends_at > starts_at', 'ends_at', 'must be after starts_at')}
  -- What overlaps a time started at most a day before: a look-up reads these alone.
  ${rule('sessions', 'length', `ends_at - starts_at <= interval '24 hours'`, 'ends_at', 'must be at most 24 hours after starts_at')}
  ${rule('sessions', 'minutes', `ends_at <= starts_at OR ends_at - starts_at = duration_minutes * interval '1 minute'`, 'duration_minutes', 'must be the minutes from starts_at to ends_at')}
  ${meetingUrl('sessions')}
  ${ofSeenGroup('sessions')}
  CREATE INDEX sessions_keyset ON sessions (organization_id, created_at, id) INCLUDE (starts_at);
  ${inRange('sessions', 'starts_at', 'id')}
  CREATE INDEX sessions_status_keyset ON sessions (organization_id, status, created_at, id) INCLUDE (starts_at);
  CREATE INDEX sessions_tutor_keyset ON sessions (organization_id, tutor_id, created_at, id) INCLUDE (status, starts_at);
  CREATE INDEX sessions_begin ON sessions (organization_id, starts_at, id) INCLUDE (status) WHERE status <> 'cancelled';
  CREATE INDEX sessions_calendar ON sessions (organization_id, tutor_id, starts_at) INCLUDE (ends_at)
    WHERE status <> 'cancelled';
  CREATE INDEX sessions_earned ON sessions (organization_id, tutor_id, starts_at) INCLUDE (tutor_pay_cents)
    WHERE status = 'completed';
  CREATE INDEX sessions_series ON sessions (organization_id, series_id, starts_at) WHERE series_id IS NOT NULL;
  CREATE INDEX sessions_location ON sessions (organization_id, location_id) WHERE location_id IS NOT NULL;
  CREATE INDEX sessions_student ON sessions (organization_id, student_id) WHERE student_id IS NOT NULL;
  ${onRows('sessions', 'count_session_students', ['INSERT', 'UPDATE', 'DELETE'])}
  ${countedAtCommit('sessions')}
  CREATE TRIGGER count_session_change BEFORE UPDATE ON sessions FOR EACH ROW
    WHEN (NEW.updated_at IS DISTINCT FROM OLD.updated_at) EXECUTE FUNCTION count_session_change();
  ${emits('sessions', {
    ...{
      resource: 'session',
      noun: 'a session',
      list: '/v1/sessions',
      derived: { tutor_pay_rate_cents: (s) => payRate(s) },
    },
    never: [
      'overlap_allowed',
      'feed_sequence',
      'student_rate_given',
      'tutor_pay_given',
      'set_rate_cents',
      'tutor_pay_rate_cents',
      'tutor_pay_pct',
      'charged_pct',
      'cancelled_at',
      'cancellation_reason',
      'updated_at',
    ],
    verbs: {
      scheduled: {
        says: 'A session was booked, or a pending one confirmed.',
        inserted: `n.status = 'scheduled'`,
        updated: `o.status = 'pending' AND n.status = 'scheduled'`,
      },
      completed: { says: 'A session was completed.', updated: `o.status <> 'completed' AND n.status = 'completed'` },
      cancelled: { says: 'A session was cancelled.', updated: `o.status <> 'cancelled' AND n.status = 'cancelled'` },
      reopened: {
        says: 'A completed session is scheduled again.',
        updated: `o.status = 'completed' AND n.status = 'scheduled'`,
      },
      rescheduled: {
        says: 'A session was moved to another time.',
        updated: '(o.starts_at, o.ends_at) IS DISTINCT FROM (n.starts_at, n.ends_at)',
      },
    },
  })}
  ${secure('sessions')}

  -- Every student of a session, also the only one. rate_cents: the price of an hour, settled when the session was made;
  -- surcharge_cents: of the whole session, once. rate_given: see sessions. billed_cents: what was billed when the session was
  -- completed or cancelled; null if that did not happen here.
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
    rate_cents bigint ${amount('rate_cents')},
    rate_given boolean NOT NULL DEFAULT true,
    surcharge_cents bigint ${amount('surcharge_cents')},
    billed_cents bigint ${amount('billed_cents')},
    created_at timestamptz(3) NOT NULL DEFAULT now(),
    UNIQUE (organization_id, session_id, student_id),
    FOREIGN KEY (organization_id, session_id) REFERENCES sessions (organization_id, id),
    FOREIGN KEY (organization_id, student_id) REFERENCES members (organization_id, user_id)
  );
  CREATE INDEX lesson_participants_keyset ON lesson_participants (organization_id, created_at, id);
  CREATE INDEX lesson_participants_status_keyset ON lesson_participants (organization_id, status, created_at, id);
  CREATE INDEX lesson_participants_attendance_keyset ON lesson_participants (organization_id, attendance, created_at, id)
    INCLUDE (status) WHERE attendance IS NOT NULL;
  CREATE INDEX lesson_participants_session_keyset ON lesson_participants (organization_id, session_id, created_at, id)
    INCLUDE (student_id, status, attendance);
  CREATE INDEX lesson_participants_student_keyset ON lesson_participants (organization_id, student_id, created_at, id)
    INCLUDE (session_id, status, attendance);
  ${onRows('lesson_participants', 'count_session_students', ['INSERT', 'UPDATE', 'DELETE'])}
  ${countedAtCommit('lesson_participants')}
  ${emits('lesson_participants', {
    ...{
      resource: 'lesson_participant',
      noun: 'a student of a session',
      list: '/v1/lesson-participants',
      within: 'session_id',
    },
    never: ['rate_given', 'surcharge_cents', 'billed_cents'],
    verbs: {
      'attendance.marked': {
        says: 'It was noted whether a student came.',
        updated: 'o.attendance IS DISTINCT FROM n.attendance',
      },
    },
  })}
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
`;

/** The triggers that settle at the commit what the statements have noted, if who takes part has changed. */
function countedAtCommit(table: string): string {
  const changed = {
    INSERT: 'NEW.student_id IS NOT NULL',
    UPDATE: '(NEW.organization_id, NEW.student_id) IS DISTINCT FROM (OLD.organization_id, OLD.student_id)',
    DELETE: 'OLD.student_id IS NOT NULL',
  };
  const triggers = Object.entries(changed).map(
    ([
      event,
      when,
    ]) => `CREATE CONSTRAINT TRIGGER settle_session_students_on_${event.toLowerCase()} AFTER ${event} ON ${table}
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (${when}) EXECUTE FUNCTION settle_session_students();`,
  );
  return triggers.join('\n  ');
}
