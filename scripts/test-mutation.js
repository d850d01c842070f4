// Mutation tests: `npm run test:mutation` for all rooms, `npm run test:mutation -- libs/jobs` for some of them.
// `--sample 200` mutates about 200 lines of each room, drawn at random; `--seed 7` draws the same ones again.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { randomInt } from 'node:crypto';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { buildIfStale } from './build-if-stale.js';
import { ROOMS } from '../test/mutation/rooms.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const THRESHOLD = JSON.parse(readFileSync(join(root, 'stryker.config.json'), 'utf8')).thresholds.break;
/** How long an interrupted room may take to save its results and remove its files (ms). */
const GRACE_MS = 20_000;

/** Runs a room in a process group of its own, so that nothing it started outlives it. @returns counts by status */
async function measure(room, folder, draw) {
  const child = spawn(process.execPath, ['scripts/mutate-room.js', room, ...draw], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    detached: true,
    env: {
      ...process.env,
      MUTATION_ROOM: room,
      MUTATION_DATA: folder,
      MUTATION_BUILD: join(root, 'dist'),
      TMPDIR: folder,
      // Each mutant's specs import everything again.
      NODE_COMPILE_CACHE: join(folder, 'compiled'),
    },
  });
  let counts;
  child.on('message', (message) => (counts = message));
  const stop = () => {
    process.exitCode = 130;
    child.kill('SIGTERM');
    setTimeout(() => child.kill('SIGKILL'), GRACE_MS).unref();
  };
  process.on('SIGINT', stop).on('SIGTERM', stop);
  await once(child, 'close');
  process.off('SIGINT', stop).off('SIGTERM', stop);
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    // All of its processes have ended.
  }
  rmSync(join(root, 'reports', 'sandbox'), { recursive: true, force: true });
  return counts;
}

/** Stops the PostgreSQL server that the rooms shared (see test/support/process/global-setup.ts) and deletes its data. */
async function removeData(dataDir) {
  const { startEmbeddedPostgres } = await import('../dist/apps/cli/src/postgres/embedded-postgres.js');
  const postgres = await startEmbeddedPostgres({ dataDir, adopt: true });
  await postgres.stop();
  // As root, the server may keep them outside the folder.
  for (const path of [dataDir, dirname(postgres.dataDirectory)]) rmSync(path, { recursive: true, force: true });
}

function row(room, { Killed = 0, Survived = 0, NoCoverage = 0, Timeout = 0 }) {
  const mutants = Killed + Survived + NoCoverage + Timeout;
  const score = mutants === 0 ? 100 : (100 * (Killed + Timeout)) / mutants;
  if (score < THRESHOLD) process.exitCode = 1;
  return [room, mutants, Killed, Survived + NoCoverage, Timeout, `${score.toFixed(1)} %`];
}

function printTable(rows) {
  const widths = rows[0].map((_, column) => Math.max(...rows.map((cells) => String(cells[column]).length)));
  for (const [first, ...rest] of rows) {
    const figures = rest.map((cell, index) => String(cell).padStart(widths[index + 1]));
    console.log([first.padEnd(widths[0]), ...figures].join('  ').trimEnd());
  }
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { sample: { type: 'string' }, seed: { type: 'string' } },
});
const unknown = positionals.filter((room) => !(room in ROOMS));
if (unknown.length > 0) {
  console.error(`No such room: ${unknown.join(', ')}. Choose from: ${Object.keys(ROOMS).join(', ')}.`);
  process.exit(1);
}
if (values.sample !== undefined && !/^[1-9]\d*$/.test(values.sample)) {
  console.error('--sample needs a number of lines.');
  process.exit(1);
}
await buildIfStale();
const seed = values.seed ?? String(randomInt(2 ** 31));
const folder = mkdtempSync(join(tmpdir(), 'tutoring-mutation-'));
const rows = [['room', 'mutants', 'killed', 'survived', 'timed out', 'score']];
let ignored = 0;
try {
  for (const room of positionals.length > 0 ? positionals : Object.keys(ROOMS)) {
    console.log(`\n${room}`);
    const counts = await measure(room, folder, values.sample ? [values.sample, seed] : []);
    if (process.exitCode === 130) break;
    if (counts) {
      rows.push(row(room, counts));
      ignored += counts.Ignored ?? 0;
    } else {
      process.exitCode = 1;
      rows.push([room, '-', '-', '-', '-', 'failed']);
    }
  }
} finally {
  await removeData(folder);
}
console.log(values.sample ? `\nA sample: about ${values.sample} lines of each room, seed ${seed}.` : '');
printTable(rows);
console.log(
  `Survived: no test failed, or none runs the line. Not run: ${ignored} mutants of code that runs at import.`,
);
