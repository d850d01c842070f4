import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The rights of the owner, as in earlier migrations: see Derived1763600000005. */
const AS_MAINTENANCE = `SECURITY DEFINER SET search_path = public, maintenance, pg_temp`;

/** Values in the contract that the tables did not accept. */
const STATUSES = {
  sessions: { before: ['scheduled', 'completed', 'cancelled'], added: ['pending'] },
  payments: { before: ['pending', 'succeeded', 'failed', 'refunded'], added: ['disputed', 'canceled'] },
  invoices: { before: ['draft', 'open', 'paid', 'void'], added: ['uncollectible'] },
};

/**
 * The list of tutors includes all staff, with or without a profile. Members have a copy of whether their profile is
 * published, so that one keyset index serves each of the list's filters.
 */
export class Contract1763600000014 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const [table, { before, added }] of Object.entries(STATUSES)) {
      await runner.query(statusCheck(table, [...before, ...added]));
    }
    await runner.query(/* sql */ `
      ALTER TABLE members ADD COLUMN profile_published boolean NOT NULL DEFAULT false;

      CREATE FUNCTION keep_profile_published() RETURNS trigger LANGUAGE plpgsql ${AS_MAINTENANCE} AS $$
      BEGIN
        IF TG_OP = 'DELETE' THEN
          UPDATE members SET profile_published = false
          WHERE organization_id = OLD.organization_id AND user_id = OLD.user_id;
        ELSE
          UPDATE members SET profile_published = NEW.is_published
          WHERE organization_id = NEW.organization_id AND user_id = NEW.user_id;
        END IF;
        RETURN NULL;
      END $$;
      REVOKE ALL ON FUNCTION keep_profile_published FROM PUBLIC;
      CREATE TRIGGER publish_on_insert AFTER INSERT ON tutor_profiles
        FOR EACH ROW WHEN (NEW.is_published) EXECUTE FUNCTION keep_profile_published();
      CREATE TRIGGER publish_on_update AFTER UPDATE ON tutor_profiles
        FOR EACH ROW WHEN (OLD.is_published <> NEW.is_published) EXECUTE FUNCTION keep_profile_published();
      CREATE TRIGGER publish_on_delete AFTER DELETE ON tutor_profiles
        FOR EACH ROW WHEN (OLD.is_published) EXECUTE FUNCTION keep_profile_published();

      SET LOCAL app.maintenance = 'on';
      UPDATE members m SET profile_published = true FROM tutor_profiles t
      WHERE t.organization_id = m.organization_id AND t.user_id = m.user_id AND t.is_published;
      SET LOCAL app.maintenance = '';

      CREATE INDEX members_staff_keyset ON members (organization_id, created_at, user_id) WHERE role <> 'student';
      CREATE INDEX members_staff_published_keyset ON members (organization_id, profile_published, created_at, user_id)
        WHERE role <> 'student';
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP FUNCTION keep_profile_published CASCADE;
      ALTER TABLE members DROP COLUMN profile_published;
      DROP INDEX members_staff_keyset;
    `);
    for (const [table, { before }] of Object.entries(STATUSES)) {
      // Keeps rows that have one of the added values.
      await runner.query(`${statusCheck(table, before)} NOT VALID`);
    }
  }
}

function statusCheck(table: string, values: string[]): string {
  const list = values.map((value) => `'${value}'`).join(', ');
  return `ALTER TABLE ${table} DROP CONSTRAINT ${table}_status_check,
    ADD CONSTRAINT ${table}_status_check CHECK (status IN (${list}))`;
}
