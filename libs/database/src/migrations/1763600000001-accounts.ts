import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Organizations, logins, memberships and API keys. */
export class Accounts1763600000001 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(/* sql */ `
      -- The organization that the running transaction reads and writes for. After a rollback the setting is the
      -- empty string, not null, hence nullif. Inlined by the planner, so index conditions can use it.
      CREATE FUNCTION current_organization_id() RETURNS uuid LANGUAGE sql STABLE PARALLEL SAFE
        RETURN nullif(current_setting('app.organization_id', true), '')::uuid;

      CREATE TABLE organizations (
        id uuid PRIMARY KEY,
        name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 200),
        slug text NOT NULL UNIQUE CHECK (slug ~ '^[a-z0-9]+(-[a-z0-9]+)*$' AND char_length(slug) <= 100),
        time_zone text NOT NULL DEFAULT 'Australia/Melbourne',
        currency text NOT NULL DEFAULT 'AUD' CHECK (currency ~ '^[A-Z]{3}$'),
        created_at timestamptz(3) NOT NULL DEFAULT now(),
        updated_at timestamptz(3) NOT NULL DEFAULT now()
      );

      -- One login across the platform. email_normalized is compared with "=": lower() is not leakproof and would
      -- lose its index under row-level security.
      CREATE TABLE users (
        id uuid PRIMARY KEY,
        email text NOT NULL CHECK (char_length(email) <= 254),
        email_normalized text NOT NULL UNIQUE CHECK (char_length(email_normalized) <= 254),
        placeholder_email boolean NOT NULL DEFAULT false,
        first_name text NOT NULL CHECK (char_length(first_name) BETWEEN 1 AND 200),
        last_name text NOT NULL CHECK (char_length(last_name) BETWEEN 1 AND 200),
        phone text CHECK (char_length(phone) <= 50),
        created_at timestamptz(3) NOT NULL DEFAULT now(),
        updated_at timestamptz(3) NOT NULL DEFAULT now()
      );

      -- supplied_*: what this organization said of a person whose login existed already; it is all that the
      -- organization is shown until that person accepts.
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
        created_at timestamptz(3) NOT NULL DEFAULT now(),
        UNIQUE (organization_id, user_id)
      );
      CREATE INDEX members_user ON members (user_id);
      CREATE INDEX members_students_keyset ON members (organization_id, created_at, user_id) WHERE role = 'student';
      CREATE INDEX members_active ON members (organization_id, role) WHERE status = 'accepted';

      CREATE TABLE api_keys (
        id uuid PRIMARY KEY,
        organization_id uuid NOT NULL REFERENCES organizations,
        name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 100),
        key_hash bytea NOT NULL UNIQUE CHECK (octet_length(key_hash) = 32),
        first_four text NOT NULL CHECK (first_four ~ '^[0-9a-f]{4}$'),
        last_four text NOT NULL CHECK (last_four ~ '^[0-9a-f]{4}$'),
        scopes text[] NOT NULL DEFAULT '{read}',
        platform_blog boolean NOT NULL DEFAULT false,
        created_by uuid REFERENCES users,
        expires_at timestamptz(3),
        revoked_at timestamptz(3),
        last_used_at timestamptz(3),
        created_at timestamptz(3) NOT NULL DEFAULT now(),
        CHECK (scopes <@ ARRAY['read', 'write', 'payments:write', 'tutors:write', 'payroll:write', 'coursework:write',
          'sessions:write', 'accounts:write', 'students:write', 'blog:write'] AND cardinality(scopes) > 0)
      );
      CREATE INDEX api_keys_organization ON api_keys (organization_id, created_at);

      -- A worker writes its row every few seconds; readiness looks at the newest.
      CREATE TABLE worker_heartbeats (
        worker_id text PRIMARY KEY,
        seen_at timestamptz(3) NOT NULL
      );
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP TABLE worker_heartbeats, api_keys, members, users, organizations;
      DROP FUNCTION current_organization_id();
    `);
  }
}
