import type { TestProject } from 'vitest/node';
import { findDebianPostgres } from './debian-postgres.js';
import { serve } from './global-setup.js';

/** As the global setup, on Debian's PostgreSQL. CI must have it; on other machines without it, its specs run on the embedded one. */
export default function setup(project: TestProject): Promise<() => Promise<void>> {
  return serve(project, folder());
}

function folder(): string | undefined {
  try {
    return findDebianPostgres();
  } catch (error) {
    const missing = `Debian's PostgreSQL is missing (apt-get install postgresql): ${(error as Error).message}`;
    if (process.env.CI === 'true') throw new Error(missing, { cause: error });
    process.stdout.write(`${missing}. The specs of "debian" run on the embedded one.\n`);
    return undefined;
  }
}
