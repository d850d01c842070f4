// Builds dist when a source is newer than the last build, or when a source is gone; else takes a few milliseconds.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { join } from 'node:path';

const root = fileURLToPath(new URL('..', import.meta.url));
const stamp = join(root, 'dist', '.stamp');

function* files(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* files(path);
    else if (entry.name.endsWith('.ts')) yield path;
  }
}

/** What a build depends on: names, sizes and times of all sources and of the configuration. */
function fingerprint() {
  const hash = createHash('sha256');
  const configuration = ['package-lock.json', 'tsconfig.json', 'tsconfig.build.json', 'nest-cli.json'];
  // The image is built without the bench.
  const folders = ['apps', 'libs', 'bench'].map((name) => join(root, name)).filter((folder) => existsSync(folder));
  const sources = folders.flatMap((folder) => [...files(folder)]);
  for (const path of [...configuration.map((name) => join(root, name)), ...sources].sort()) {
    const { mtimeMs, size } = statSync(path);
    hash.update(`${path}\0${mtimeMs}\0${size}\n`);
  }
  return hash.digest('hex');
}

export function buildIfStale() {
  const wanted = fingerprint();
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return;
  process.stderr.write('Building …\n');
  // Whole and clean: output of a source that is gone (a deleted migration) would still run.
  rmSync(join(root, 'dist'), { recursive: true, force: true });
  const nest = join(root, 'node_modules', '@nestjs', 'cli', 'bin', 'nest.js');
  const { status } = spawnSync(process.execPath, [nest, 'build', 'api'], { cwd: root, stdio: ['ignore', 2, 2] });
  if (status !== 0) process.exit(status ?? 1);
  writeFileSync(stamp, wanted);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) buildIfStale();
