import type { MigrationInterface, QueryRunner } from 'typeorm';

const AS_MAINTENANCE = `SECURITY DEFINER SET search_path = public, maintenance, pg_temp`;

/** Leases are short, so that a killed worker's messages go out soon. A running worker renews them. */
export class OutboxLeases1763600000013 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(/* sql */ `
      -- Extends a lease from now on: false when it was lost to another worker.
      CREATE FUNCTION renew_outbox(message uuid, worker text, lease interval) RETURNS boolean
        LANGUAGE plpgsql VOLATILE ${AS_MAINTENANCE} AS $$
      BEGIN
        IF lease <= interval '0' OR lease > interval '5 minutes' THEN
          RAISE 'a lease of % is out of bounds', lease USING ERRCODE = 'invalid_parameter_value';
        END IF;
        UPDATE outbox SET leased_until = now() + lease, due_at = now() + lease WHERE id = message AND leased_by = worker;
        RETURN FOUND;
      END $$;
      REVOKE ALL ON FUNCTION renew_outbox FROM PUBLIC;
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP FUNCTION renew_outbox');
  }
}
