import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Money and publishing. Amounts are integer cents below 10^12, so that sums stay far below 2^53. */
export class Business1763600000004 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(/* sql */ `
      CREATE TABLE adjustments (
        id uuid PRIMARY KEY,
        organization_id uuid NOT NULL REFERENCES organizations,
        tutor_id uuid NOT NULL,
        period_start date NOT NULL,
        period_end date NOT NULL,
        amount_cents bigint NOT NULL CHECK (amount_cents BETWEEN -1000000000000 AND 1000000000000),
        note text,
        voided boolean NOT NULL DEFAULT false,
        voided_at timestamptz(3),
        created_at timestamptz(3) NOT NULL DEFAULT now(),
        CHECK (period_end >= period_start),
        FOREIGN KEY (organization_id, tutor_id) REFERENCES members (organization_id, user_id)
      );
      CREATE INDEX adjustments_keyset ON adjustments (organization_id, created_at, id);
      CREATE INDEX adjustments_live_keyset ON adjustments (organization_id, created_at, id) WHERE NOT voided;
      CREATE INDEX adjustments_tutor_keyset ON adjustments (organization_id, tutor_id, created_at, id);
      CREATE INDEX adjustments_period ON adjustments (organization_id, period_start);

      CREATE TABLE invoices (
        id uuid PRIMARY KEY,
        organization_id uuid NOT NULL REFERENCES organizations,
        invoice_number text NOT NULL,
        tutor_id uuid,
        student_id uuid NOT NULL,
        status text NOT NULL CHECK (status IN ('draft', 'open', 'paid', 'void')),
        amount_due_cents bigint NOT NULL CHECK (amount_due_cents BETWEEN 0 AND 1000000000000),
        amount_paid_cents bigint NOT NULL DEFAULT 0 CHECK (amount_paid_cents BETWEEN 0 AND 1000000000000),
        currency text NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
        due_date timestamptz(3),
        sent_at timestamptz(3),
        paid_at timestamptz(3),
        created_at timestamptz(3) NOT NULL DEFAULT now(),
        UNIQUE (organization_id, id),
        UNIQUE (organization_id, invoice_number),
        FOREIGN KEY (organization_id, tutor_id) REFERENCES members (organization_id, user_id),
        FOREIGN KEY (organization_id, student_id) REFERENCES members (organization_id, user_id)
      );
      CREATE INDEX invoices_keyset ON invoices (organization_id, created_at, id);
      CREATE INDEX invoices_student_keyset ON invoices (organization_id, student_id, created_at, id);
      CREATE INDEX invoices_open ON invoices (organization_id) INCLUDE (amount_due_cents, amount_paid_cents)
        WHERE status = 'open';

      CREATE TABLE invoice_lines (
        id uuid PRIMARY KEY,
        organization_id uuid NOT NULL,
        invoice_id uuid NOT NULL,
        position integer NOT NULL CHECK (position >= 0),
        description text,
        quantity integer NOT NULL CHECK (quantity >= 0),
        unit_amount_cents bigint NOT NULL CHECK (unit_amount_cents BETWEEN -1000000000000 AND 1000000000000),
        amount_cents bigint NOT NULL CHECK (amount_cents BETWEEN -1000000000000 AND 1000000000000),
        item_type text CHECK (item_type IN ('session', 'material', 'fee', 'discount', 'other')),
        session_id uuid,
        UNIQUE (invoice_id, position),
        FOREIGN KEY (organization_id, invoice_id) REFERENCES invoices (organization_id, id),
        FOREIGN KEY (organization_id, session_id) REFERENCES sessions (organization_id, id)
      );

      CREATE TABLE payments (
        id uuid PRIMARY KEY,
        organization_id uuid NOT NULL REFERENCES organizations,
        session_id uuid,
        student_id uuid,
        tutor_id uuid,
        amount_cents bigint NOT NULL CHECK (amount_cents BETWEEN 0 AND 1000000000000),
        refund_amount_cents bigint CHECK (refund_amount_cents BETWEEN 0 AND 1000000000000),
        currency text NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
        payment_type text NOT NULL CHECK (payment_type IN ('card', 'bank_transfer', 'cash', 'external')),
        status text NOT NULL CHECK (status IN ('pending', 'succeeded', 'failed', 'refunded')),
        stripe_payment_intent_id text,
        created_at timestamptz(3) NOT NULL DEFAULT now(),
        FOREIGN KEY (organization_id, session_id) REFERENCES sessions (organization_id, id),
        FOREIGN KEY (organization_id, student_id) REFERENCES members (organization_id, user_id),
        FOREIGN KEY (organization_id, tutor_id) REFERENCES members (organization_id, user_id)
      );
      CREATE INDEX payments_keyset ON payments (organization_id, created_at, id);
      CREATE INDEX payments_student_keyset ON payments (organization_id, student_id, created_at, id);
      CREATE INDEX payments_tutor_keyset ON payments (organization_id, tutor_id, created_at, id);
      CREATE INDEX payments_status_keyset ON payments (organization_id, status, created_at, id);

      CREATE TABLE mileage_trips (
        id uuid PRIMARY KEY,
        organization_id uuid NOT NULL REFERENCES organizations,
        tutor_id uuid NOT NULL,
        session_id uuid,
        trip_date date NOT NULL,
        destination text,
        distance_km double precision NOT NULL CHECK (distance_km >= 0),
        duration_minutes integer CHECK (duration_minutes >= 0),
        vehicle text,
        tracking_method text CHECK (tracking_method IN ('manual', 'gps')),
        status text NOT NULL DEFAULT 'logged' CHECK (status IN ('logged', 'approved', 'rejected', 'paid')),
        rate_cents bigint CHECK (rate_cents BETWEEN 0 AND 1000000000000),
        amount_cents bigint CHECK (amount_cents BETWEEN 0 AND 1000000000000),
        approved_at timestamptz(3),
        created_at timestamptz(3) NOT NULL DEFAULT now(),
        FOREIGN KEY (organization_id, tutor_id) REFERENCES members (organization_id, user_id),
        FOREIGN KEY (organization_id, session_id) REFERENCES sessions (organization_id, id)
      );
      CREATE INDEX mileage_trips_keyset ON mileage_trips (organization_id, created_at, id);
      CREATE INDEX mileage_trips_status_keyset ON mileage_trips (organization_id, status, created_at, id);

      CREATE TABLE expense_claims (
        id uuid PRIMARY KEY,
        organization_id uuid NOT NULL REFERENCES organizations,
        tutor_id uuid NOT NULL,
        session_id uuid,
        expense_date date NOT NULL,
        category text,
        vendor text,
        amount_cents bigint NOT NULL CHECK (amount_cents BETWEEN 0 AND 1000000000000),
        approved_amount_cents bigint CHECK (approved_amount_cents BETWEEN 0 AND 1000000000000),
        status text NOT NULL DEFAULT 'logged' CHECK (status IN ('logged', 'approved', 'rejected', 'paid')),
        receipt_photo_url text,
        approved_at timestamptz(3),
        created_at timestamptz(3) NOT NULL DEFAULT now(),
        FOREIGN KEY (organization_id, tutor_id) REFERENCES members (organization_id, user_id),
        FOREIGN KEY (organization_id, session_id) REFERENCES sessions (organization_id, id)
      );
      CREATE INDEX expense_claims_keyset ON expense_claims (organization_id, created_at, id);
      CREATE INDEX expense_claims_status_keyset ON expense_claims (organization_id, status, created_at, id);

      -- organization_id null: a post of the platform's own marketing sites, seen only with the platform-blog capability.
      CREATE TABLE blog_posts (
        id uuid PRIMARY KEY,
        organization_id uuid REFERENCES organizations,
        brand text NOT NULL CHECK (brand ~ '^[a-z0-9][a-z0-9_-]{0,49}$'),
        title text NOT NULL CHECK (char_length(title) BETWEEN 1 AND 300),
        slug text NOT NULL CHECK (slug ~ '^[a-z0-9]+(?:-[a-z0-9]+)*$' AND char_length(slug) <= 200),
        status text NOT NULL DEFAULT 'draft' CHECK (status IN ('draft', 'published')),
        excerpt text CHECK (char_length(excerpt) <= 2000),
        content text CHECK (char_length(content) <= 200000),
        author text CHECK (char_length(author) <= 200),
        tags text[] NOT NULL DEFAULT '{}' CHECK (cardinality(tags) <= 50),
        featured_image text CHECK (char_length(featured_image) <= 2000),
        category text CHECK (char_length(category) <= 200),
        date date,
        publish_to_website boolean NOT NULL DEFAULT true,
        publish_to_portal boolean NOT NULL DEFAULT false,
        is_pinned boolean NOT NULL DEFAULT false,
        published_at timestamptz(3),
        scheduled_at timestamptz(3),
        created_at timestamptz(3) NOT NULL DEFAULT now(),
        updated_at timestamptz(3) NOT NULL DEFAULT now(),
        CHECK (status = 'draft' OR scheduled_at IS NULL)
      );
      CREATE UNIQUE INDEX blog_posts_organization_slug ON blog_posts (organization_id, slug)
        WHERE organization_id IS NOT NULL;
      CREATE UNIQUE INDEX blog_posts_platform_slug ON blog_posts (brand, slug) WHERE organization_id IS NULL;
      CREATE INDEX blog_posts_order ON blog_posts (organization_id, is_pinned, created_at, id);
      CREATE INDEX blog_posts_scheduled ON blog_posts (scheduled_at) WHERE scheduled_at IS NOT NULL;
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP TABLE blog_posts, expense_claims, mileage_trips, payments, invoice_lines, invoices, adjustments;
    `);
  }
}
