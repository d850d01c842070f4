// The fault specs, or those whose names are given, in full. `--report` also runs the specs of `npm test` that prove a promise, and
// prints the table of promises with the last results of what was not run.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const rest = process.argv.slice(2).filter((argument) => argument !== '--report');
const report = rest.length < process.argv.length - 2;
const { status } = spawnSync(
  process.execPath,
  ['node_modules/vitest/vitest.mjs', 'run', '--config', 'test/faults/vitest.config.ts', ...rest],
  { cwd: root, stdio: 'inherit', env: { ...process.env, ...(report ? { PROMISES_TABLE: '1' } : {}) } },
);
process.exitCode = status ?? 1;
