import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Sessions, homework, feedback, results and conversations. */
export class Teaching1763600000003 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(/* sql */ `
      CREATE TABLE sessions (
        id uuid PRIMARY KEY,
        organization_id uuid NOT NULL REFERENCES organizations,
        status text NOT NULL DEFAULT 'scheduled' CHECK (status IN ('scheduled', 'completed', 'cancelled')),
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

      CREATE TABLE session_participants (
        id uuid PRIMARY KEY,
        organization_id uuid NOT NULL,
        session_id uuid NOT NULL,
        student_id uuid NOT NULL,
        status text NOT NULL DEFAULT 'invited' CHECK (status IN ('invited', 'accepted', 'declined', 'cancelled')),
        attendance text CHECK (attendance IN ('present', 'absent', 'late')),
        invited_at timestamptz(3),
        responded_at timestamptz(3),
        cancelled_at timestamptz(3),
        created_at timestamptz(3) NOT NULL DEFAULT now(),
        UNIQUE (session_id, student_id),
        FOREIGN KEY (organization_id, session_id) REFERENCES sessions (organization_id, id),
        FOREIGN KEY (organization_id, student_id) REFERENCES members (organization_id, user_id)
      );
      CREATE INDEX session_participants_keyset ON session_participants (organization_id, created_at, id);
      CREATE INDEX session_participants_student ON session_participants (organization_id, student_id, created_at, id);

      -- organization_id is derived when the row is created and then stays; null where no rule tells it.
      CREATE TABLE homework (
        id uuid PRIMARY KEY,
        organization_id uuid REFERENCES organizations,
        assigned_by uuid NOT NULL REFERENCES users,
        title text NOT NULL CHECK (char_length(title) BETWEEN 1 AND 300),
        description text,
        homework_type text NOT NULL CHECK (homework_type IN ('text', 'exam')),
        scope text NOT NULL CHECK (scope IN ('classroom', 'group', 'student')),
        classroom_id uuid REFERENCES classrooms,
        group_id uuid REFERENCES student_groups,
        student_id uuid REFERENCES users,
        due_date timestamptz(3),
        files jsonb NOT NULL DEFAULT '[]' CHECK (jsonb_typeof(files) = 'array'),
        created_at timestamptz(3) NOT NULL DEFAULT now(),
        UNIQUE (organization_id, id)
      );
      CREATE INDEX homework_keyset ON homework (organization_id, created_at, id);
      CREATE INDEX homework_type_keyset ON homework (organization_id, homework_type, created_at, id);
      CREATE INDEX homework_scope_keyset ON homework (organization_id, scope, created_at, id);
      CREATE INDEX homework_student_keyset ON homework (organization_id, student_id, created_at, id);

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
      CREATE INDEX session_feedback_tutor_keyset ON session_feedback (organization_id, tutor_id, created_at, id);
      CREATE INDEX session_feedback_reviewer ON session_feedback (reviewer_id);
      CREATE INDEX session_feedback_reviews_keyset ON session_feedback (organization_id, tutor_id, created_at, id)
        WHERE is_public AND has_comment;

      -- An attempt belongs to a student, not to an organization: see organization_results for who sees it.
      CREATE TABLE results (
        id uuid PRIMARY KEY,
        student_id uuid NOT NULL REFERENCES users,
        status text NOT NULL CHECK (status IN ('not_started', 'in_progress', 'submitted', 'completed')),
        grade integer CHECK (grade BETWEEN 0 AND 100),
        mode text NOT NULL CHECK (mode IN ('vce_exam', 'topic_practice', 'sac', 'homework')),
        vce_exam_id uuid,
        curriculum_level_id uuid,
        homework_assignment_id uuid REFERENCES homework,
        started_at timestamptz(3),
        completed_at timestamptz(3),
        created_at timestamptz(3) NOT NULL DEFAULT now()
      );
      CREATE INDEX results_student ON results (student_id);

      CREATE TABLE conversations (
        id uuid PRIMARY KEY,
        type text NOT NULL CHECK (type IN ('direct', 'triad', 'group', 'classroom_feed')),
        classroom_id uuid REFERENCES classrooms,
        title text,
        last_message_at timestamptz(3),
        created_at timestamptz(3) NOT NULL DEFAULT now(),
        updated_at timestamptz(3) NOT NULL DEFAULT now()
      );

      -- A participant is active until left_at.
      CREATE TABLE conversation_participants (
        id uuid PRIMARY KEY,
        conversation_id uuid NOT NULL REFERENCES conversations ON DELETE CASCADE,
        user_id uuid NOT NULL REFERENCES users,
        role text NOT NULL CHECK (role IN ('tutor', 'student', 'parent', 'admin')),
        joined_at timestamptz(3) NOT NULL DEFAULT now(),
        left_at timestamptz(3),
        UNIQUE (conversation_id, user_id)
      );
      CREATE INDEX conversation_participants_user ON conversation_participants (user_id);

      CREATE TABLE messages (
        id uuid PRIMARY KEY,
        conversation_id uuid NOT NULL REFERENCES conversations ON DELETE CASCADE,
        sender_id uuid REFERENCES users,
        content text NOT NULL,
        message_type text NOT NULL DEFAULT 'text' CHECK (message_type IN ('text', 'image', 'file', 'system')),
        visibility text NOT NULL DEFAULT 'everyone' CHECK (visibility IN ('everyone', 'private')),
        reply_to_id uuid REFERENCES messages,
        created_at timestamptz(3) NOT NULL DEFAULT now()
      );
      CREATE INDEX messages_keyset ON messages (conversation_id, visibility, created_at, id);
      -- A message is deleted only after a look for replies to it.
      CREATE INDEX messages_replies ON messages (reply_to_id) WHERE reply_to_id IS NOT NULL;
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP TABLE messages, conversation_participants, conversations, results, session_feedback, homework,
        session_participants, sessions;
    `);
  }
}
