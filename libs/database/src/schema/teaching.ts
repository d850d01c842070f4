import { emits, partOf } from './emits.js';
import { amount, inRange, MINE, MINE_OR_NOBODYS, namedOnce, ofSeenGroup, onRows, rule, secure } from './rules.js';
import { RESULT } from './states.js';

const STUDENT_IN_SESSION = `EXISTS (SELECT FROM session_students v
    WHERE v.organization_id = current_organization_id() AND v.student_id = results.student_id)`;
const STUDENT_ACCEPTED = `EXISTS (SELECT FROM members m
    WHERE m.organization_id = current_organization_id() AND m.user_id = results.student_id AND m.accepted_at IS NOT NULL)`;
const MADE_HERE = `results.made_by_organization_id = current_organization_id()`;
const STUDENT_IS_MEMBER = `EXISTS (SELECT FROM members v
    WHERE v.organization_id = current_organization_id() AND v.user_id = results.student_id)`;

/** Subjects, classrooms and groups, homework and results. */
export const teaching = /* sql */ `
  -- code: a readable key, made from the name if it is left out. is_archived: nothing new names it; what did still does.
  CREATE TABLE subjects (
    id uuid PRIMARY KEY,
    organization_id uuid NOT NULL REFERENCES organizations,
    code text NOT NULL DEFAULT '' CHECK (code ~ '^[a-z0-9]+(_[a-z0-9]+)*$' AND char_length(code) <= 100),
    name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 200),
    tax text CHECK (tax IN ('taxable', 'free')),
    is_archived boolean NOT NULL DEFAULT false,
    created_at timestamptz(3) NOT NULL DEFAULT now(),
    UNIQUE (organization_id, id),
    UNIQUE (organization_id, code)
  );
  ${namedOnce('subjects')}
  CREATE TRIGGER make_code BEFORE INSERT ON subjects
    FOR EACH ROW WHEN (coalesce(NEW.code, '') = '') EXECUTE FUNCTION make_subject_code();
  ${emits('subjects', { resource: 'subject', noun: 'a subject', list: '/v1/subjects', never: ['created_at'] })}
  ${partOf('subjects', { onlyUpdates: true, of: 'members', resource: 'tutor', on: `p.organization_id = c.organization_id AND p.user_id IN (SELECT t.user_id FROM tutor_subjects t WHERE t.organization_id = c.organization_id AND t.subject_id = c.id)`, fields: { name: ['subjects'] } })}
  ${secure('subjects')}

  CREATE TABLE tutor_subjects (
    organization_id uuid NOT NULL,
    user_id uuid NOT NULL,
    subject_id uuid NOT NULL,
    created_at timestamptz(3) NOT NULL DEFAULT now(),
    PRIMARY KEY (organization_id, user_id, subject_id),
    FOREIGN KEY (organization_id, user_id) REFERENCES tutor_profiles (organization_id, user_id),
    FOREIGN KEY (organization_id, subject_id) REFERENCES subjects (organization_id, id)
  );
  CREATE INDEX tutor_subjects_subject ON tutor_subjects (organization_id, subject_id, user_id);
  ${partOf('tutor_subjects', { of: 'members', resource: 'tutor', on: 'p.organization_id = c.organization_id AND p.user_id = c.user_id', fields: { subject_id: ['subjects', 'tutor_subjects'] } })}
  ${secure('tutor_subjects')}

  CREATE TABLE tutor_students (
    id uuid PRIMARY KEY,
    organization_id uuid NOT NULL,
    tutor_id uuid NOT NULL,
    student_id uuid NOT NULL,
    subject_id uuid,
    status text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'archived')),
    archived_at timestamptz(3),
    created_at timestamptz(3) NOT NULL DEFAULT now(),
    FOREIGN KEY (organization_id, tutor_id) REFERENCES members (organization_id, user_id),
    FOREIGN KEY (organization_id, student_id) REFERENCES members (organization_id, user_id),
    FOREIGN KEY (organization_id, subject_id) REFERENCES subjects (organization_id, id),
    UNIQUE NULLS NOT DISTINCT (organization_id, tutor_id, student_id, subject_id)
  );
  CREATE INDEX tutor_students_pair ON tutor_students (tutor_id, student_id);
  CREATE INDEX tutor_students_tutor ON tutor_students (organization_id, tutor_id, created_at, id) INCLUDE (status);
  CREATE INDEX tutor_students_student ON tutor_students (organization_id, student_id);
  ${emits('tutor_students', { resource: 'tutor_student', noun: 'a student of a tutor', list: '/v1/tutors/{tutor_id}/students', path: null, sight: (t) => `${t}.status = 'active'`, plain: ['created', 'deleted'], never: ['archived_at', 'status'] })}
  ${secure('tutor_students')}

  CREATE TABLE classrooms (
    id uuid PRIMARY KEY,
    organization_id uuid NOT NULL REFERENCES organizations,
    name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 200),
    tutor_id uuid,
    subject_id uuid,
    price_cents bigint ${amount('price_cents')},
    billing_interval text CHECK (billing_interval IN ('session', 'week', 'month', 'term', 'year')),
    is_archived boolean NOT NULL DEFAULT false,
    created_at timestamptz(3) NOT NULL DEFAULT now(),
    updated_at timestamptz(3) NOT NULL DEFAULT now(),
    UNIQUE (organization_id, id),
    FOREIGN KEY (organization_id, tutor_id) REFERENCES members (organization_id, user_id),
    FOREIGN KEY (organization_id, subject_id) REFERENCES subjects (organization_id, id)
  );
  ${rule('classrooms', 'price', 'price_cents IS NULL OR billing_interval IS NOT NULL', 'billing_interval', 'must be given with price_cents')}
  CREATE INDEX classrooms_keyset ON classrooms (organization_id, created_at, id);
  CREATE INDEX classrooms_live_keyset ON classrooms (organization_id, created_at, id) WHERE NOT is_archived;
  CREATE INDEX classrooms_subject ON classrooms (organization_id, subject_id, created_at, id)
    INCLUDE (is_archived) WHERE subject_id IS NOT NULL;
  ${emits('classrooms', { resource: 'classroom', noun: 'a classroom', list: '/v1/classrooms' })}
  ${secure('classrooms')}

  CREATE TABLE classroom_members (
    id uuid PRIMARY KEY,
    organization_id uuid NOT NULL,
    classroom_id uuid NOT NULL,
    user_id uuid NOT NULL,
    role text NOT NULL CHECK (role IN ('teacher', 'student')),
    created_at timestamptz(3) NOT NULL DEFAULT now(),
    UNIQUE (organization_id, classroom_id, user_id),
    FOREIGN KEY (organization_id, classroom_id) REFERENCES classrooms (organization_id, id),
    FOREIGN KEY (organization_id, user_id) REFERENCES members (organization_id, user_id)
  );
  CREATE INDEX classroom_members_user ON classroom_members (organization_id, user_id);
  ${partOf('classroom_members', { of: 'classrooms', resource: 'classroom', on: 'p.organization_id = c.organization_id AND p.id = c.classroom_id', fields: { user_id: ['members'], role: ['members'] } })}
  ${secure('classroom_members')}

  -- owner_organization_id: who owns the group, if anybody. organization_id: in which organization it is seen; derived (the
  -- owner, else the only organization that the group's tutor is an accepted member of).
  CREATE TABLE student_groups (
    id uuid PRIMARY KEY,
    owner_organization_id uuid REFERENCES organizations,
    organization_id uuid REFERENCES organizations,
    name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 200),
    tutor_id uuid REFERENCES users,
    classroom_id uuid,
    subject_id uuid,
    rate_per_student_cents bigint ${amount('rate_per_student_cents')},
    color text,
    avatar_url text,
    is_archived boolean NOT NULL DEFAULT false,
    created_at timestamptz(3) NOT NULL DEFAULT now(),
    updated_at timestamptz(3) NOT NULL DEFAULT now(),
    FOREIGN KEY (owner_organization_id, classroom_id) REFERENCES classrooms (organization_id, id),
    FOREIGN KEY (owner_organization_id, subject_id) REFERENCES subjects (organization_id, id)
  );
  ${rule('student_groups', 'belonging', 'owner_organization_id IS NOT NULL OR tutor_id IS NOT NULL', 'tutor_id', 'must not be null unless owned is true')}
  CREATE INDEX student_groups_keyset ON student_groups (organization_id, created_at, id);
  CREATE INDEX student_groups_live_keyset ON student_groups (organization_id, created_at, id) WHERE NOT is_archived;
  CREATE INDEX student_groups_subject ON student_groups (organization_id, subject_id, created_at, id)
    INCLUDE (classroom_id, is_archived) WHERE subject_id IS NOT NULL;
  CREATE INDEX student_groups_classroom ON student_groups (organization_id, classroom_id, created_at, id)
    INCLUDE (is_archived) WHERE classroom_id IS NOT NULL;
  CREATE INDEX student_groups_unowned ON student_groups (tutor_id) WHERE owner_organization_id IS NULL;
  CREATE TRIGGER derive_organization BEFORE INSERT OR UPDATE ON student_groups
    FOR EACH ROW EXECUTE FUNCTION derive_group_organization();
  ${emits('student_groups', { resource: 'student_group', noun: 'a group', list: '/v1/student-groups', moves: true, never: ['owner_organization_id'] })}
  ${partOf('student_groups', { of: 'classrooms', resource: 'classroom', on: 'p.organization_id = c.organization_id AND p.id = c.classroom_id', where: `NOT EXISTS (SELECT FROM student_groups g WHERE g.organization_id = c.organization_id AND g.classroom_id = c.classroom_id AND (g.created_at, g.id) < (c.created_at, c.id))`, fields: { classroom_id: ['group_id'] } })}
  ${secure('student_groups', MINE, MINE_OR_NOBODYS)}

  CREATE TABLE student_group_members (
    id uuid PRIMARY KEY,
    group_id uuid NOT NULL REFERENCES student_groups ON DELETE CASCADE,
    user_id uuid NOT NULL REFERENCES users,
    role text NOT NULL CHECK (role IN ('tutor', 'student')),
    created_at timestamptz(3) NOT NULL DEFAULT now(),
    UNIQUE (group_id, user_id)
  );
  -- EXISTS may be planned as a hash of all groups of the organization, for a page of one.
  ${partOf('student_group_members', { of: 'student_groups', resource: 'student_group', on: 'p.id = c.group_id', fields: { user_id: ['members', 'student_ids'], role: ['members', 'student_ids'] } })}
  ${secure(
    'student_group_members',
    '(SELECT true FROM student_groups v WHERE v.id = student_group_members.group_id)',
    'NOT group_of_others(group_id)',
  )}

  -- organization_id is derived when the row is created and then stays; null where no rule tells it. Indexes include what
  -- the list's other filters read: deep pages skip rows on the index without reading the table, 0.3 instead of 0.8 s for
  -- 250,000 rows with two filters.
  CREATE TABLE homework (
    id uuid PRIMARY KEY,
    organization_id uuid REFERENCES organizations,
    assigned_by uuid NOT NULL REFERENCES users,
    title text NOT NULL CHECK (char_length(title) BETWEEN 1 AND 300),
    description text,
    homework_type text NOT NULL CHECK (homework_type IN ('text', 'exam')),
    scope text NOT NULL CHECK (scope IN ('classroom', 'group', 'student')),
    classroom_id uuid,
    group_id uuid REFERENCES student_groups,
    student_id uuid REFERENCES users,
    due_date timestamptz(3),
    files jsonb NOT NULL DEFAULT '[]' CHECK (jsonb_typeof(files) = 'array'),
    created_at timestamptz(3) NOT NULL DEFAULT now(),
    UNIQUE (organization_id, id),
    CHECK (classroom_id IS NULL OR organization_id IS NOT NULL),
    FOREIGN KEY (organization_id, classroom_id) REFERENCES classrooms (organization_id, id)
  );
  -- The classroom of homework decides before its group does.
  ${ofSeenGroup('homework', 'NEW.group_id IS NOT NULL AND NEW.classroom_id IS NULL')}
  CREATE INDEX homework_keyset ON homework (organization_id, created_at, id);
  CREATE INDEX homework_type_keyset ON homework (organization_id, homework_type, created_at, id) INCLUDE (scope);
  CREATE INDEX homework_scope_keyset ON homework (organization_id, scope, created_at, id);
  CREATE INDEX homework_student_keyset ON homework (organization_id, student_id, created_at, id)
    INCLUDE (homework_type, scope) WHERE student_id IS NOT NULL;
  CREATE TRIGGER derive_organization BEFORE INSERT ON homework
    FOR EACH ROW EXECUTE FUNCTION derive_homework_organization();
  CREATE TRIGGER keep_organization BEFORE UPDATE ON homework FOR EACH ROW EXECUTE FUNCTION keep_organization();
  ${emits('homework', { resource: 'homework', noun: 'homework', list: '/v1/homework' })}
  ${secure('homework', MINE, MINE_OR_NOBODYS)}

  -- An attempt belongs to a student, not to an organization: see organization_results for who sees it.
  -- made_by_organization_id: the only organization that changes it; nobody does if there is none.
  CREATE TABLE results (
    id uuid PRIMARY KEY,
    student_id uuid NOT NULL REFERENCES users,
    status text NOT NULL CHECK (${RESULT.check('status')}),
    grade integer CHECK (grade BETWEEN 0 AND 100),
    mode text NOT NULL CHECK (mode IN ('vce_exam', 'topic_practice', 'sac', 'homework')),
    vce_exam_id uuid,
    curriculum_level_id uuid,
    homework_assignment_id uuid REFERENCES homework,
    made_by_organization_id uuid DEFAULT nullif(current_setting('app.organization_id', true), '')::uuid REFERENCES organizations,
    started_at timestamptz(3),
    completed_at timestamptz(3),
    created_at timestamptz(3) NOT NULL DEFAULT now()
  );
  CREATE INDEX results_student ON results (student_id);
  ${onRows('results', 'show_results', ['INSERT', 'UPDATE'])}
  -- Through the student rather than organization_results: a result that was just inserted can be returned.
  ${secure(
    'results',
    `(${STUDENT_IN_SESSION} AND ${STUDENT_ACCEPTED}) OR ${MADE_HERE}`,
    `${STUDENT_IS_MEMBER} AND (results.made_by_organization_id IS NULL OR ${MADE_HERE})`,
  )}

  -- Results as an organization sees them: one row for each organization in which the student has a session. It has
  -- the columns that pages show and filter, so that every page is a scan of one index: looking into results for each row
  -- took 1.3 to 1.8 times as long.
  CREATE TABLE organization_results (
    organization_id uuid NOT NULL REFERENCES organizations,
    result_id uuid NOT NULL REFERENCES results ON DELETE CASCADE,
    student_id uuid NOT NULL,
    status text NOT NULL,
    mode text NOT NULL,
    completed_at timestamptz(3),
    created_at timestamptz(3) NOT NULL,
    grade integer,
    vce_exam_id uuid,
    curriculum_level_id uuid,
    homework_assignment_id uuid,
    started_at timestamptz(3),
    PRIMARY KEY (organization_id, result_id)
  );
  CREATE INDEX organization_results_result ON organization_results (result_id);
  CREATE INDEX organization_results_keyset ON organization_results (organization_id, created_at, result_id);
  ${inRange('organization_results', 'completed_at', 'result_id')}
  CREATE INDEX organization_results_student ON organization_results (organization_id, student_id, created_at, result_id)
    INCLUDE (status, mode, completed_at);
  CREATE INDEX organization_results_status ON organization_results (organization_id, status, created_at, result_id)
    INCLUDE (mode, completed_at);
  CREATE INDEX organization_results_mode ON organization_results (organization_id, mode, created_at, result_id)
    INCLUDE (completed_at);
  CREATE TRIGGER hide_unaccepted BEFORE INSERT ON organization_results
    FOR EACH ROW EXECUTE FUNCTION hide_unaccepted_results();
  CREATE TRIGGER copy_result BEFORE INSERT OR UPDATE ON organization_results
    FOR EACH ROW EXECUTE FUNCTION copy_result();
  ${emits('organization_results', {
    ...{
      resource: 'result',
      noun: 'a result',
      list: '/v1/results',
      id: 'result_id',

      never: ['created_at'],
    },
    verbs: {
      started: {
        says: 'A student began an attempt.',
        updated: `o.status = 'not_started' AND n.status = 'in_progress'`,
      },
      submitted: {
        says: 'A student handed an attempt in.',
        updated: `o.status <> 'submitted' AND n.status = 'submitted'`,
      },
      completed: {
        says: 'A result was completed, with its grade if there is one.',
        updated: `o.status <> 'completed' AND n.status = 'completed'`,
      },
    },
  })}
  ${secure('organization_results')}
`;
