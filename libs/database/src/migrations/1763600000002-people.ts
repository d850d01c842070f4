import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Tutors, families, classrooms and groups. Foreign keys within an organization include its id. */
export class People1763600000002 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(/* sql */ `
      CREATE TABLE subjects (
        id uuid PRIMARY KEY,
        organization_id uuid NOT NULL REFERENCES organizations,
        name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 200),
        created_at timestamptz(3) NOT NULL DEFAULT now(),
        UNIQUE (organization_id, id),
        UNIQUE (organization_id, name)
      );

      -- One row for everybody who teaches in an organization, owners and admins too. Per organization: what one
      -- publishes about a tutor is not another's to read or change.
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
        created_at timestamptz(3) NOT NULL DEFAULT now(),
        PRIMARY KEY (organization_id, user_id),
        FOREIGN KEY (organization_id, user_id) REFERENCES members (organization_id, user_id),
        UNIQUE (organization_id, handle)
      );
      CREATE INDEX tutor_profiles_keyset ON tutor_profiles (organization_id, created_at, user_id);
      CREATE INDEX tutor_profiles_published_keyset ON tutor_profiles (organization_id, is_published, created_at, user_id);

      CREATE TABLE tutor_subjects (
        organization_id uuid NOT NULL,
        user_id uuid NOT NULL,
        subject_id uuid NOT NULL,
        created_at timestamptz(3) NOT NULL DEFAULT now(),
        PRIMARY KEY (organization_id, user_id, subject_id),
        FOREIGN KEY (organization_id, user_id) REFERENCES tutor_profiles (organization_id, user_id),
        FOREIGN KEY (organization_id, subject_id) REFERENCES subjects (organization_id, id)
      );

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
      CREATE INDEX tutor_students_student ON tutor_students (organization_id, student_id);

      -- A parent that this organization may link. enrolled_at is kept by the database: the time of the first link to
      -- a child here, null while there is none, and then the parent is invisible.
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
        PRIMARY KEY (organization_id, user_id)
      );
      CREATE INDEX parents_user ON parents (user_id);
      CREATE INDEX parents_keyset ON parents (organization_id, created_at, user_id) WHERE enrolled_at IS NOT NULL;

      CREATE TABLE parent_students (
        organization_id uuid NOT NULL,
        parent_id uuid NOT NULL,
        student_id uuid NOT NULL,
        linked_at timestamptz(3) NOT NULL DEFAULT now(),
        PRIMARY KEY (organization_id, parent_id, student_id),
        FOREIGN KEY (organization_id, parent_id) REFERENCES parents (organization_id, user_id),
        FOREIGN KEY (organization_id, student_id) REFERENCES members (organization_id, user_id),
        CHECK (parent_id <> student_id)
      );
      CREATE INDEX parent_students_student ON parent_students (organization_id, student_id);

      CREATE TABLE classrooms (
        id uuid PRIMARY KEY,
        organization_id uuid NOT NULL REFERENCES organizations,
        name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 200),
        tutor_id uuid,
        subject_id uuid,
        price_cents bigint CHECK (price_cents BETWEEN 0 AND 1000000000000),
        billing_interval text CHECK (billing_interval IN ('session', 'week', 'month', 'term', 'year')),
        created_at timestamptz(3) NOT NULL DEFAULT now(),
        updated_at timestamptz(3) NOT NULL DEFAULT now(),
        UNIQUE (organization_id, id),
        FOREIGN KEY (organization_id, tutor_id) REFERENCES members (organization_id, user_id),
        FOREIGN KEY (organization_id, subject_id) REFERENCES subjects (organization_id, id)
      );
      CREATE INDEX classrooms_keyset ON classrooms (organization_id, created_at, id);

      CREATE TABLE classroom_members (
        id uuid PRIMARY KEY,
        organization_id uuid NOT NULL,
        classroom_id uuid NOT NULL,
        user_id uuid NOT NULL,
        role text NOT NULL CHECK (role IN ('teacher', 'student')),
        created_at timestamptz(3) NOT NULL DEFAULT now(),
        UNIQUE (classroom_id, user_id),
        FOREIGN KEY (organization_id, classroom_id) REFERENCES classrooms (organization_id, id),
        FOREIGN KEY (organization_id, user_id) REFERENCES members (organization_id, user_id)
      );
      CREATE INDEX classroom_members_user ON classroom_members (organization_id, user_id);

      -- owner_organization_id: who owns the group, if anybody. organization_id: in which organization it is seen; kept
      -- by the database (the owner, else the only organization that the group's tutor is an accepted member of).
      CREATE TABLE student_groups (
        id uuid PRIMARY KEY,
        owner_organization_id uuid REFERENCES organizations,
        organization_id uuid REFERENCES organizations,
        name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 200),
        tutor_id uuid REFERENCES users,
        classroom_id uuid,
        subject_id uuid,
        rate_per_student_cents bigint CHECK (rate_per_student_cents BETWEEN 0 AND 1000000000000),
        color text,
        avatar_url text,
        created_at timestamptz(3) NOT NULL DEFAULT now(),
        updated_at timestamptz(3) NOT NULL DEFAULT now(),
        FOREIGN KEY (owner_organization_id, classroom_id) REFERENCES classrooms (organization_id, id),
        FOREIGN KEY (owner_organization_id, subject_id) REFERENCES subjects (organization_id, id),
        CHECK (owner_organization_id IS NOT NULL OR tutor_id IS NOT NULL)
      );
      CREATE INDEX student_groups_keyset ON student_groups (organization_id, created_at, id);
      CREATE INDEX student_groups_unowned ON student_groups (tutor_id) WHERE owner_organization_id IS NULL;

      CREATE TABLE student_group_members (
        id uuid PRIMARY KEY,
        group_id uuid NOT NULL REFERENCES student_groups ON DELETE CASCADE,
        user_id uuid NOT NULL REFERENCES users,
        role text NOT NULL CHECK (role IN ('tutor', 'student')),
        created_at timestamptz(3) NOT NULL DEFAULT now(),
        UNIQUE (group_id, user_id)
      );
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP TABLE student_group_members, student_groups, classroom_members, classrooms, parent_students, parents,
        tutor_students, tutor_subjects, tutor_profiles, subjects;
    `);
  }
}
