import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { libraries, unpack } from './server-binary.js';

const OLDEST = 15;

/** As root, the server runs as another account, which may not be able to enter the checkout. */
const CACHE =
  process.getuid?.() === 0
    ? '/var/cache/tutoring-api/debian-postgresql'
    : fileURLToPath(new URL('../../../node_modules/.cache/postgresql', import.meta.url));

/**
 * The folder of the programs of Debian's PostgreSQL, which most operators run: it compiles long plans, which the embedded
 * one cannot. Unpacked, where it is not installed and Debian's packages can be fetched.
 *
 * @throws Error if there is none
 */
export function findDebianPostgres(): string {
  const installed = newest('/usr/lib/postgresql');
  if (installed) return installed;
  if (!newest(join(CACHE, 'usr/lib/postgresql'))) unpack({ name: 'postgresql', parts: /^postgresql(-client)?-\d+$/ }, CACHE);
  const unpacked = newest(join(CACHE, 'usr/lib/postgresql'));
  if (!unpacked) throw new Error(`Debian's package has no server of version ${OLDEST} or later`);
  return withLibraries(unpacked);
}

function newest(folder: string): string | undefined {
  const versions = existsSync(folder) ? readdirSync(folder).map(Number) : [];
  return versions
    .filter((version) => version >= OLDEST)
    .sort((a, b) => b - a)
    .map((version) => join(folder, String(version), 'bin'))
    .find((bin) => existsSync(join(bin, 'initdb')));
}

/** A folder of programs that run these with the unpacked libraries. */
function withLibraries(programs: string): string {
  const folder = join(CACHE, 'bin');
  mkdirSync(folder, { recursive: true });
  for (const name of ['initdb', 'pg_ctl', 'postgres', 'pg_dump', 'pg_restore']) {
    const script = `#!/bin/sh\nLD_LIBRARY_PATH='${libraries(CACHE)}' exec '${join(programs, name)}' "$@"\n`;
    writeFileSync(join(folder, name), script, { mode: 0o755 });
  }
  return folder;
}
