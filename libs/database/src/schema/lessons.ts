import { emits } from './emits.js';
import { MINE, MINE_OR_NOBODYS, ofSeenGroup, rule, secure } from './rules.js';

/** What lessons are taught with: plans, files and questions. */
export const lessons = /* sql */ `
  -- plan_data is json, not jsonb: its keys keep their order and its numbers their digits.
  CREATE TABLE lesson_plans (
    id uuid PRIMARY KEY,
    organization_id uuid NOT NULL REFERENCES organizations,
    created_by uuid,
    scope text NOT NULL CHECK (scope IN ('classroom', 'group', 'student')),
    classroom_id uuid,
    group_id uuid REFERENCES student_groups,
    student_id uuid,
    session_id uuid,
    math_level_id uuid,
    curriculum_level_ids uuid[] NOT NULL DEFAULT '{}',
    title text NOT NULL CHECK (char_length(title) BETWEEN 1 AND 300),
    status text NOT NULL DEFAULT 'draft' CHECK (status IN ('draft', 'ready', 'delivered')),
    plan_data json NOT NULL DEFAULT '{}' CHECK (json_typeof(plan_data) = 'object'),
    scheduled_for timestamptz(3),
    created_at timestamptz(3) NOT NULL DEFAULT now(),
    updated_at timestamptz(3) NOT NULL DEFAULT now(),
    CHECK (octet_length(plan_data::text) <= 262144),
    FOREIGN KEY (organization_id, created_by) REFERENCES members (organization_id, user_id),
    FOREIGN KEY (organization_id, classroom_id) REFERENCES classrooms (organization_id, id),
    FOREIGN KEY (organization_id, student_id) REFERENCES members (organization_id, user_id),
    FOREIGN KEY (organization_id, session_id) REFERENCES sessions (organization_id, id)
  );
  ${['classroom', 'group', 'student']
    .map((scope) =>
      rule(
        'lesson_plans',
        scope,
        `(scope = '${scope}') = (${scope}_id IS NOT NULL)`,
        `${scope}_id`,
        `must be given with the scope ${scope}, and only then`,
      ),
    )
    .join('\n  ')}
  ${ofSeenGroup('lesson_plans')}
  CREATE INDEX lesson_plans_keyset ON lesson_plans (organization_id, created_at, id);
  CREATE INDEX lesson_plans_status_keyset ON lesson_plans (organization_id, status, created_at, id)
    INCLUDE (scope);
  CREATE INDEX lesson_plans_scope_keyset ON lesson_plans (organization_id, scope, created_at, id);
  CREATE INDEX lesson_plans_student_keyset ON lesson_plans (organization_id, student_id, created_at, id)
    INCLUDE (status, scope) WHERE student_id IS NOT NULL;
  -- A session is deleted only after a look for plans that name it.
  CREATE INDEX lesson_plans_session ON lesson_plans (organization_id, session_id) WHERE session_id IS NOT NULL;
  ${emits('lesson_plans', { resource: 'lesson_plan', noun: 'a lesson plan', list: '/v1/lesson-plans' })}
  ${secure('lesson_plans')}

  -- Documents in the private storage, at <organization_id>/<id>. The worker deletes those that no file names.
  CREATE TABLE uploads (
    id uuid PRIMARY KEY,
    organization_id uuid NOT NULL REFERENCES organizations,
    name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 200),
    mime text NOT NULL CHECK (char_length(mime) BETWEEN 1 AND 100),
    size_bytes integer NOT NULL CHECK (size_bytes > 0),
    created_at timestamptz(3) NOT NULL DEFAULT now(),
    UNIQUE (organization_id, id)
  );
  CREATE INDEX uploads_old ON uploads (created_at);
  CREATE INDEX uploads_size ON uploads (organization_id) INCLUDE (size_bytes);
  ${secure('uploads')}

  -- Files: uploaded, or by reference, and what is behind such addresses is stored elsewhere.
  CREATE TABLE files (
    id uuid PRIMARY KEY,
    organization_id uuid NOT NULL REFERENCES organizations,
    owner_id uuid,
    scope text NOT NULL CHECK (scope IN ('private', 'classroom', 'group', 'personal', 'org')),
    title text NOT NULL CHECK (char_length(title) BETWEEN 1 AND 300),
    resource_type text NOT NULL CHECK (resource_type IN ('file', 'link', 'video', 'google_drive')),
    file_url text CHECK (char_length(file_url) <= 5000),
    link_url text CHECK (char_length(link_url) <= 5000),
    student_id uuid,
    classroom_id uuid,
    group_id uuid REFERENCES student_groups,
    folder_id uuid,
    upload_id uuid,
    created_at timestamptz(3) NOT NULL DEFAULT now(),
    UNIQUE (organization_id, id),
    FOREIGN KEY (organization_id, upload_id) REFERENCES uploads (organization_id, id),
    FOREIGN KEY (organization_id, owner_id) REFERENCES members (organization_id, user_id),
    FOREIGN KEY (organization_id, student_id) REFERENCES members (organization_id, user_id),
    FOREIGN KEY (organization_id, classroom_id) REFERENCES classrooms (organization_id, id)
  );
  ${['classroom', 'group']
    .map((scope) =>
      rule(
        'files',
        scope,
        `(scope = '${scope}') = (${scope}_id IS NOT NULL)`,
        `${scope}_id`,
        `must be given with the scope ${scope}, and only then`,
      ),
    )
    .join('\n  ')}
  ${rule('files', 'student', `student_id IS NULL OR scope IN ('private', 'personal')`, 'student_id', 'must be null unless scope is private or personal')}
  ${rule('files', 'owner', `owner_id IS NOT NULL OR scope NOT IN ('private', 'personal')`, 'owner_id', 'must be given with the scopes private and personal')}
  ${rule('files', 'link', `link_url IS NOT NULL OR resource_type NOT IN ('link', 'google_drive')`, 'link_url', 'must be given with the resource types link and google_drive')}
  ${rule('files', 'file', `num_nonnulls(file_url, upload_id) > 0 OR resource_type <> 'file'`, 'file_url', 'must be given with the resource type file, unless it was uploaded')}
  ${rule('files', 'video', `num_nonnulls(file_url, link_url) > 0 OR resource_type <> 'video'`, 'link_url', 'must be given with the resource type video, unless file_url is')}
  ${rule('files', 'uploaded', `upload_id IS NULL OR file_url IS NULL`, 'file_url', 'must be null for what was uploaded')}
  ${rule('files', 'kept', `upload_id IS NULL OR resource_type = 'file'`, 'resource_type', 'must be file for what was uploaded')}
  ${ofSeenGroup('files')}
  CREATE UNIQUE INDEX files_upload ON files (organization_id, upload_id);
  CREATE INDEX files_keyset ON files (organization_id, created_at, id);
  CREATE INDEX files_type_keyset ON files (organization_id, resource_type, created_at, id);
  CREATE INDEX files_scope_keyset ON files (organization_id, scope, created_at, id) INCLUDE (resource_type);
  ${emits('files', { resource: 'file', noun: 'a file', list: '/v1/files' })}
  ${secure('files')}

  -- The organization's own, and those of catalogues, which the operator imports for all: they belong to no organization.
  CREATE TABLE questions (
    id uuid PRIMARY KEY,
    organization_id uuid REFERENCES organizations,
    catalogue text CHECK (char_length(catalogue) BETWEEN 1 AND 100 AND catalogue <> 'own'),
    topic text NOT NULL CHECK (char_length(topic) BETWEEN 1 AND 200),
    tags text[] NOT NULL DEFAULT '{}' CHECK (cardinality(tags) <= 50),
    intro_text text CHECK (char_length(intro_text) <= 20000),
    is_official_vce boolean NOT NULL DEFAULT false,
    is_current_study_design boolean,
    question_number integer CHECK (question_number >= 0),
    total_marks integer CHECK (total_marks BETWEEN 0 AND 1000),
    curriculum_level_ids uuid[] NOT NULL DEFAULT '{}' CHECK (cardinality(curriculum_level_ids) <= 50),
    author_id uuid,
    created_at timestamptz(3) NOT NULL DEFAULT now(),
    CHECK ((catalogue IS NULL) = (organization_id IS NOT NULL)),
    FOREIGN KEY (organization_id, author_id) REFERENCES members (organization_id, user_id)
  );
  CREATE INDEX questions_keyset ON questions (organization_id, created_at, id)
    INCLUDE (catalogue, topic, curriculum_level_ids);
  CREATE INDEX questions_topic_keyset ON questions (organization_id, topic, created_at, id)
    INCLUDE (catalogue, curriculum_level_ids);
  CREATE INDEX questions_catalogue_keyset ON questions (organization_id, catalogue, created_at, id)
    INCLUDE (topic, curriculum_level_ids);
  ${emits('questions', { resource: 'question', noun: 'a question', list: '/v1/questions', as: { catalogue: 'source' }, never: ['curriculum_level_ids'] })}
  ${secure('questions', MINE_OR_NOBODYS, MINE)}

  -- organization_id is stamped at submission; a legacy row has none and is seen by nobody.
  CREATE TABLE session_feedback (
    id uuid PRIMARY KEY,
    organization_id uuid REFERENCES organizations,
    legacy boolean NOT NULL DEFAULT false,
    session_id uuid,
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
    CHECK (legacy = (organization_id IS NULL)),
    FOREIGN KEY (organization_id, session_id) REFERENCES sessions (organization_id, id)
  );
  CREATE INDEX session_feedback_keyset ON session_feedback (organization_id, created_at, id);
  CREATE INDEX session_feedback_public_keyset ON session_feedback (organization_id, created_at, id) WHERE is_public;
  CREATE INDEX session_feedback_tutor_keyset ON session_feedback (organization_id, tutor_id, created_at, id)
    INCLUDE (is_public);
  -- A session is deleted only after a look for its feedback.
  CREATE INDEX session_feedback_session ON session_feedback (organization_id, session_id) WHERE session_id IS NOT NULL;
  CREATE INDEX session_feedback_reviewer ON session_feedback (reviewer_id);
  CREATE INDEX session_feedback_reviews_keyset ON session_feedback (organization_id, tutor_id, created_at, id)
    WHERE is_public AND has_comment;
  CREATE TRIGGER stamp_organization BEFORE INSERT ON session_feedback
    FOR EACH ROW EXECUTE FUNCTION stamp_feedback_organization();
  CREATE TRIGGER keep_organization BEFORE UPDATE ON session_feedback FOR EACH ROW EXECUTE FUNCTION keep_organization();
  ${emits('session_feedback', { resource: 'session_feedback', noun: 'feedback', list: '/v1/session-feedback', never: ['legacy', 'reviewer_id', 'has_comment'] })}
  ${secure('session_feedback', MINE, MINE_OR_NOBODYS)}
`;
