import type { Factories } from '../data/factories.js';

/** Switches row-level security off in this database, so that only the conditions of the statements keep tenants apart. */
export async function disableRowSecurity(make: Factories): Promise<void> {
  await make.query(`DO $do$ DECLARE secured regclass; BEGIN
    FOR secured IN SELECT oid FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relrowsecurity LOOP
      EXECUTE format('ALTER TABLE %s NO FORCE ROW LEVEL SECURITY, DISABLE ROW LEVEL SECURITY', secured);
    END LOOP; END $do$`);
}
