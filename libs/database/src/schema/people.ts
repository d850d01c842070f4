import { raw } from 'sql-template-tag';
import { emits, partOf } from './emits.js';
import { counted, IS_STAFF, meetingUrl, namedOnce, onChanged, onRows, rule, secure } from './rules.js';
import { ENDS, PERSON, PROFILE, REVIEWER, SAME_PERSON, shownOf, WAITS } from './people-told.js';

/** Whether a member manages the organization, in SQL, unless they have left. */
export const MANAGES = raw(`role IN ('owner', 'admin')`);

/** Who belongs to an organization, and how people join. Foreign keys within an organization include its id. */
export const people = /* sql */ `
  -- Students are in bands, and tutors in tiers, by which prices and pay differ: see rate_cells.
  CREATE TABLE rate_bands (
    id uuid PRIMARY KEY,
    organization_id uuid NOT NULL REFERENCES organizations,
    name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 200),
    sort_order integer NOT NULL DEFAULT 0,
    created_at timestamptz(3) NOT NULL DEFAULT now(),
    UNIQUE (organization_id, id)
  );
  ${namedOnce('rate_bands')}
  CREATE INDEX rate_bands_order ON rate_bands (organization_id, sort_order, name) INCLUDE (id);
  ${emits('rate_bands', { resource: 'rate_band', noun: 'a rate band', list: '/v1/rate-bands' })}
  ${secure('rate_bands')}

  CREATE TABLE tutor_tiers (
    id uuid PRIMARY KEY,
    organization_id uuid NOT NULL REFERENCES organizations,
    name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 200),
    badge_label text,
    description text,
    sort_order integer NOT NULL DEFAULT 0,
    created_at timestamptz(3) NOT NULL DEFAULT now(),
    UNIQUE (organization_id, id)
  );
  ${namedOnce('tutor_tiers')}
  CREATE INDEX tutor_tiers_order ON tutor_tiers (organization_id, sort_order, name) INCLUDE (id);
  ${emits('tutor_tiers', { resource: 'tutor_tier', noun: 'a tutor tier', list: '/v1/tutor-tiers' })}
  ${secure('tutor_tiers')}

  -- supplied_*: what this organization said of a person whose login existed already; it is all that the organization is
  -- shown until that person accepts. accepted_at: since when it sees the login itself; only there with the status
  -- 'accepted'. frozen_at: when somebody who had accepted left, until they accept again; supplied_* then has what was shown
  -- of them at that moment. refused_at: when they left by themselves or declined, until they accept; then they are asked
  -- again at most once in 30 days. invited_at: when the person was last mailed for this
  -- membership; a pending one is not mailed again within a day. approval_requested_at: joined by a reusable code, as a
  -- tutor or as one of many students, and pending until an owner or admin approves; or as an admin by an API key's invite,
  -- until an owner does. profile_published: a copy from tutor_profiles, so that one index
  -- serves each filter of the list of tutors, which includes staff without a profile. teaching copies how they teach: null without
  -- a profile. rate_band_id, staff_notes: of a student.
  -- ahead: what was chosen for the sessions ahead of somebody of the staff when they left last.
  -- bills_self: a student who pays for themselves, whatever parents are linked. billing_name, billing_address: what invoices say in
  -- place of the name, and below it. no_reminders: whoever pays is not reminded of invoices.
  -- readdressed_at: when an API key gave a login that was in use another address, until a manager has approved;
  -- readdressed_from: the address before that, which is told if the new one is corrected.
  CREATE TABLE members (
    id uuid PRIMARY KEY,
    organization_id uuid NOT NULL REFERENCES organizations,
    user_id uuid NOT NULL REFERENCES users,
    role text NOT NULL CHECK (role IN ('owner', 'admin', 'tutor', 'student')),
    status text NOT NULL DEFAULT 'accepted' CHECK (status IN ('accepted', 'pending', 'archived')),
    supplied_first_name text,
    supplied_last_name text,
    supplied_email text,
    supplied_phone text,
    accepted_at timestamptz(3),
    archived_at timestamptz(3),
    frozen_at timestamptz(3),
    refused_at timestamptz(3),
    created_at timestamptz(3) NOT NULL DEFAULT now(),
    invited_at timestamptz(3),
    approval_requested_at timestamptz(3),
    readdressed_at timestamptz(3),
    readdressed_from text,
    ahead text CHECK (ahead ~ '^(unassign|cancel|hand_over [0-9a-f-]{36})$'),
    profile_published boolean NOT NULL DEFAULT false,
    teaching text,
    rate_band_id uuid,
    bills_self boolean NOT NULL DEFAULT false,
    billing_name text CHECK (char_length(billing_name) BETWEEN 1 AND 200),
    billing_address text CHECK (char_length(billing_address) BETWEEN 1 AND 300),
    no_reminders boolean NOT NULL DEFAULT false,
    staff_notes text CHECK (char_length(staff_notes) BETWEEN 1 AND 10000),
    UNIQUE (organization_id, user_id),
    FOREIGN KEY (organization_id, rate_band_id) REFERENCES rate_bands (organization_id, id)
  );
  CREATE INDEX members_user ON members (user_id);
  CREATE INDEX members_students_keyset ON members (organization_id, created_at, user_id) WHERE role = 'student';
  CREATE INDEX members_staff_keyset ON members (organization_id, created_at, user_id) WHERE ${IS_STAFF.sql};
  CREATE INDEX members_staff_published_keyset ON members (organization_id, profile_published, created_at, user_id)
    WHERE ${IS_STAFF.sql};
  CREATE INDEX members_students_status_keyset ON members (organization_id, status, created_at, user_id)
    WHERE role = 'student';
  CREATE INDEX members_staff_status_keyset ON members (organization_id, status, created_at, user_id)
    INCLUDE (profile_published) WHERE ${IS_STAFF.sql};
  CREATE INDEX members_managers ON members (organization_id, user_id) WHERE ${MANAGES.sql};
  CREATE INDEX members_waiting ON members (organization_id, approval_requested_at, user_id)
    WHERE approval_requested_at IS NOT NULL;
  CREATE INDEX members_unaccepted ON members (organization_id) WHERE accepted_at IS NULL;
  ${acceptance('members')}
  ${onRows('members', 'follow_membership', ['INSERT', 'UPDATE', 'DELETE'])}
  CREATE TRIGGER follow_consent AFTER UPDATE ON members
    REFERENCING OLD TABLE AS before NEW TABLE AS after FOR EACH STATEMENT EXECUTE FUNCTION follow_consent();
  ${counted('members')}
  ${emits('members', { ...PERSON, resource: 'student', noun: 'a student', list: '/v1/students', sight: (m) => `${m}.role = 'student'`, shape: (m) => shownOf(m, `${m}.status, ${m}.rate_band_id, ${m}.bills_self, ${m}.billing_name, ${m}.billing_address, ${m}.created_at`) })}
  ${emits('members', { ...PERSON, resource: 'tutor', noun: 'somebody of the staff', list: '/v1/tutors', sight: (m) => `${m}.${IS_STAFF.sql}`, shape: (m) => shownOf(m, `${m}.role, ${m}.status, ${m}.profile_published AS is_published, ${m}.created_at`) })}
  ${partOf('members', { onlyUpdates: true, of: 'session_feedback', resource: 'session_feedback', on: 'p.organization_id = c.organization_id AND p.reviewer_id = c.user_id', fields: REVIEWER, where: WAITS })}
  ${secure('members')}

  -- One row for everybody who teaches in an organization, owners and admins too. Per organization: what one publishes
  -- about a tutor is not another's to read or change.
  CREATE TABLE tutor_profiles (
    organization_id uuid NOT NULL,
    user_id uuid NOT NULL,
    bio text,
    teaching_mode text CHECK (teaching_mode IN ('online', 'in_person', 'both')),
    is_published boolean NOT NULL DEFAULT false,
    avatar_url text,
    handle text,
    home_suburb text,
    home_postcode text,
    home_lat double precision CHECK (home_lat BETWEEN -90 AND 90),
    home_lng double precision CHECK (home_lng BETWEEN -180 AND 180),
    service_postcodes text[] NOT NULL DEFAULT '{}',
    serves_all_areas boolean NOT NULL DEFAULT false,
    max_travel_km integer CHECK (max_travel_km >= 0),
    in_person_arrangements text[] NOT NULL DEFAULT '{}',
    specialisations text[] NOT NULL DEFAULT '{}',
    tutor_tier_id uuid,
    meeting_url text,
    created_at timestamptz(3) NOT NULL DEFAULT now(),
    PRIMARY KEY (organization_id, user_id),
    FOREIGN KEY (organization_id, user_id) REFERENCES members (organization_id, user_id),
    FOREIGN KEY (organization_id, tutor_tier_id) REFERENCES tutor_tiers (organization_id, id),
    UNIQUE (organization_id, handle)
  );
  ${meetingUrl('tutor_profiles')}
  CREATE INDEX tutor_profiles_keyset ON tutor_profiles (organization_id, created_at, user_id);
  ${onRows('tutor_profiles', 'keep_profile', ['INSERT', 'UPDATE', 'DELETE'])}
  ${counted('tutor_profiles')}
  ${partOf('tutor_profiles', { of: 'members', resource: 'tutor', on: SAME_PERSON, fields: PROFILE })}
  ${secure('tutor_profiles')}

  -- A parent that this organization may link. enrolled_at is derived: the time of the first link to a child here, null
  -- while there is none, and then the parent is invisible. Whoever loses the last link has left. frozen_at, refused_at,
  -- readdressed_at, readdressed_from, billing_name, billing_address, no_reminders: as of members.
  CREATE TABLE parents (
    organization_id uuid NOT NULL REFERENCES organizations,
    user_id uuid NOT NULL REFERENCES users,
    status text NOT NULL DEFAULT 'accepted' CHECK (status IN ('accepted', 'pending', 'archived')),
    supplied_first_name text,
    supplied_last_name text,
    supplied_email text,
    supplied_phone text,
    enrolled_at timestamptz(3),
    created_at timestamptz(3) NOT NULL DEFAULT now(),
    accepted_at timestamptz(3),
    frozen_at timestamptz(3),
    refused_at timestamptz(3),
    readdressed_at timestamptz(3),
    readdressed_from text,
    billing_name text CHECK (char_length(billing_name) BETWEEN 1 AND 200),
    billing_address text CHECK (char_length(billing_address) BETWEEN 1 AND 300),
    no_reminders boolean NOT NULL DEFAULT false,
    PRIMARY KEY (organization_id, user_id)
  );
  CREATE INDEX parents_readdressed ON parents (organization_id, user_id) WHERE readdressed_at IS NOT NULL;
  CREATE INDEX parents_user ON parents (user_id);
  CREATE INDEX parents_keyset ON parents (organization_id, created_at, user_id) WHERE enrolled_at IS NOT NULL;
  CREATE INDEX parents_status_keyset ON parents (organization_id, status, created_at, user_id) WHERE enrolled_at IS NOT NULL;
  CREATE INDEX parents_unaccepted ON parents (organization_id) WHERE accepted_at IS NULL;
  ${acceptance('parents')}
  ${onRows('parents', 'follow_membership', ['INSERT', 'UPDATE', 'DELETE'])}
  ${counted('parents')}
  ${emits('parents', { ...PERSON, plain: ['created', 'updated'], resource: 'parent', noun: 'a parent', list: '/v1/parents', sight: (p) => `${p}.enrolled_at IS NOT NULL`, shape: (p) => shownOf(p, `${p}.status, ${p}.billing_name, ${p}.billing_address, ${p}.enrolled_at, ${p}.created_at`), gone: { ...ENDS, unlinked: { says: 'A parent lost the last link to a child, and is not shown any more.', when: 'true' } } })}
  ${partOf('parents', { onlyUpdates: true, of: 'session_feedback', resource: 'session_feedback', on: 'p.organization_id = c.organization_id AND p.reviewer_id = c.user_id', fields: REVIEWER, where: WAITS })}
  ${secure('parents')}

  -- pays: the parent who was chosen to be billed for the student. The only parent is billed without that: see payers.ts.
  CREATE TABLE parent_students (
    organization_id uuid NOT NULL,
    parent_id uuid NOT NULL,
    student_id uuid NOT NULL,
    linked_at timestamptz(3) NOT NULL DEFAULT now(),
    pays boolean NOT NULL DEFAULT false,
    PRIMARY KEY (organization_id, parent_id, student_id),
    FOREIGN KEY (organization_id, parent_id) REFERENCES parents (organization_id, user_id),
    FOREIGN KEY (organization_id, student_id) REFERENCES members (organization_id, user_id)
  );
  ${rule('parent_students', 'two', 'parent_id <> student_id', 'student_id', 'must not be the parent')}
  CREATE INDEX parent_students_student ON parent_students (organization_id, student_id);
  CREATE UNIQUE INDEX parent_students_pays ON parent_students (organization_id, student_id) WHERE pays;
  ${onChanged('parent_students', 'derive_enrolment')}
  ${partOf('parent_students', { of: 'parents', resource: 'parent', on: 'p.organization_id = c.organization_id AND p.user_id = c.parent_id', fields: { student_id: ['student_ids'] } })}
  ${partOf('parent_students', { of: 'members', resource: 'student', on: 'p.organization_id = c.organization_id AND p.user_id = c.student_id', fields: { parent_id: ['parent_ids', 'billing_parent_id'], pays: ['billing_parent_id'] } })}
  ${secure('parent_students')}

  -- A way into an organization. account: the mail that goes with a provisioned account. secret_hash is the SHA-256 of the
  -- token, or the keyed hash of the code; sealed keeps the code itself, encrypted, of the two standing join codes and of
  -- the codes of classrooms.
  -- user_id: the login that had the address, when there was one. proof_hash: of the second secret, which is only ever
  -- mailed and so proves the address. created_by: who made it in the portal. declined_at: a declined invite is revoked too.
  -- Of codes: places is how many people it lets in; flooded_at, when owners were last mailed that many students join by it;
  -- switched_off, that nobody has replaced it since it was revoked, so that the worker makes no new standing one.
  -- held_at: of an invite to an address, since when it waits for an owner, because whoever made it manages no longer.
  CREATE TABLE invites (
    id uuid PRIMARY KEY,
    organization_id uuid NOT NULL REFERENCES organizations,
    scope text NOT NULL CHECK (scope IN ('organization', 'classroom', 'group', 'tutor_student', 'parent', 'account')),
    role text NOT NULL CHECK (role IN ('tutor', 'admin', 'student', 'parent')),
    target_id uuid NOT NULL,
    subject_id uuid,
    email text CHECK (char_length(email) <= 254),
    secret_hash bytea NOT NULL UNIQUE CHECK (octet_length(secret_hash) = 32),
    standing boolean NOT NULL DEFAULT false,
    sealed bytea,
    api_key_id uuid,
    expires_at timestamptz(3),
    revoked_at timestamptz(3),
    accepted_at timestamptz(3),
    created_at timestamptz(3) NOT NULL DEFAULT now(),
    user_id uuid REFERENCES users,
    proof_hash bytea CHECK (octet_length(proof_hash) = 32),
    places integer CHECK (places > 0),
    created_by uuid REFERENCES users,
    declined_at timestamptz(3) CHECK (declined_at IS NULL OR revoked_at IS NOT NULL),
    flooded_at timestamptz(3),
    switched_off boolean NOT NULL DEFAULT false,
    held_at timestamptz(3) CHECK (held_at IS NULL OR email IS NOT NULL),
    UNIQUE (organization_id, id),
    FOREIGN KEY (organization_id, api_key_id) REFERENCES api_keys (organization_id, id),
    CHECK (standing = (expires_at IS NULL)),
    CHECK (sealed IS NOT NULL OR NOT standing),
    CHECK (NOT switched_off OR (email IS NULL AND revoked_at IS NOT NULL))
  );
  CREATE INDEX invites_organization ON invites (organization_id, created_at, id);
  CREATE INDEX invites_open ON invites (organization_id, created_at, id)
    WHERE accepted_at IS NULL AND revoked_at IS NULL AND scope <> 'account';
  CREATE INDEX invites_ending ON invites (organization_id, expires_at)
    WHERE accepted_at IS NULL AND revoked_at IS NULL AND scope <> 'account';
  CREATE INDEX invites_codes ON invites (organization_id, created_at, id) WHERE email IS NULL;
  CREATE INDEX invites_declined ON invites (organization_id) WHERE declined_at IS NOT NULL;
  CREATE UNIQUE INDEX invites_standing ON invites (organization_id, role)
    WHERE standing AND (revoked_at IS NULL OR switched_off);
  CREATE INDEX invites_of_classrooms ON invites (target_id, created_at) WHERE scope = 'classroom' AND sealed IS NOT NULL;
  CREATE INDEX invites_expiry ON invites (expires_at) WHERE NOT standing;
  CREATE INDEX invites_user ON invites (user_id) WHERE revoked_at IS NULL AND accepted_at IS NULL;
  ${emits('invites', {
    resource: 'invite',
    noun: 'an invite',
    list: null,
    path: null,
    never: ['target_id', 'subject_id', 'api_key_id', 'user_id'],
    plain: ['created'],
    verbs: {
      accepted: { says: 'An invite was accepted.', updated: 'o.accepted_at IS NULL AND n.accepted_at IS NOT NULL' },
      declined: { says: 'An invite was declined.', updated: 'o.declined_at IS NULL AND n.declined_at IS NOT NULL' },
      revoked: { says: 'An invite was taken back.', updated: 'o.revoked_at IS NULL AND n.revoked_at IS NOT NULL' },
    },
  })}
  ${partOf('invites', { of: 'classrooms', resource: 'classroom', on: 'p.organization_id = c.organization_id AND p.id = c.target_id', where: `c.scope = 'classroom' AND c.sealed IS NOT NULL`, fields: { sealed: ['join_code'], revoked_at: ['join_code'], expires_at: ['join_code'] } })}
  ${secure('invites')}

  -- Who came by which invite, until the invite is deleted. approval: 'waiting' for somebody whom an owner or admin has yet
  -- to approve; until then the invite has given them nothing.
  CREATE TABLE joins (
    organization_id uuid NOT NULL REFERENCES organizations,
    invite_id uuid NOT NULL,
    user_id uuid NOT NULL REFERENCES users,
    joined_at timestamptz(3) NOT NULL DEFAULT now(),
    approval text CHECK (approval IN ('waiting', 'approved')),
    PRIMARY KEY (organization_id, invite_id, user_id),
    FOREIGN KEY (organization_id, invite_id) REFERENCES invites (organization_id, id) ON DELETE CASCADE
  );
  CREATE INDEX joins_user ON joins (user_id, organization_id);
  CREATE INDEX joins_recent ON joins (organization_id, invite_id, joined_at);
  CREATE INDEX joins_waiting ON joins (organization_id, joined_at, user_id) WHERE approval = 'waiting';
  ${secure('joins')}

  -- The number of rows in each list, or what they add up to, without reading them. Exact in every snapshot, because counters change in the same
  -- transaction as the rows. A counter is the sum of a few rows: a writer updates a row that no other transaction has
  -- locked or inserts a new one, so writers never wait for each other, and there are as many rows as there have been
  -- concurrent writers at most. fillfactor: updates stay on their page, where the next one removes the versions that
  -- nobody sees.
  CREATE TABLE list_counts (
    organization_id uuid NOT NULL REFERENCES organizations,
    list text NOT NULL,
    slot uuid NOT NULL DEFAULT gen_random_uuid(),
    delta bigint NOT NULL,
    PRIMARY KEY (organization_id, list, slot)
  ) WITH (fillfactor = 50);
  ${secure('list_counts')}
`;

/** The triggers of rows that a person accepts: what acceptance means, who may write it, and who then sees the login. */
function acceptance(table: string): string {
  return `CREATE TRIGGER keep_acceptance BEFORE INSERT OR UPDATE OF status, accepted_at ON ${table}
    FOR EACH ROW EXECUTE FUNCTION keep_acceptance();
  ${onRows(table, 'guard_acceptance', ['INSERT', 'UPDATE'])}
  ${onRows(table, 'show_logins', ['INSERT', 'UPDATE', 'DELETE', 'TRUNCATE'])}`;
}
