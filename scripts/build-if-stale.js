// Builds dist if a source was changed, added or removed since the last build. Otherwise takes a few milliseconds.
import './check-node.js';
import { spawn } from 'node:child_process';
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { join, relative } from 'node:path';
import { setTimeout } from 'node:timers/promises';

const root = fileURLToPath(new URL('..', import.meta.url));
const stamp = join(root, 'dist', '.stamp');
/** What the programs read besides their code: the API's pages, the demo's texts, the portal's style, script and templates, the mails. */
const assets = ['apps/api/assets', 'apps/cli/assets', 'apps/portal/assets', 'apps/worker/assets'].map((folder) =>
  join(root, folder),
);
const TEMPLATE = '.eta';
const nest = join(root, 'node_modules', '@nestjs', 'cli', 'bin', 'nest.js');

function* files(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* files(path);
    else if (entry.name.endsWith('.ts') || entry.name.endsWith(TEMPLATE) || assets.includes(folder)) yield path;
  }
}

/** What a build depends on: names, sizes and times of the configuration and all sources. */
function fingerprint() {
  const hash = createHash('sha256');
  const configuration = ['package-lock.json', 'tsconfig.json', 'tsconfig.build.json', 'nest-cli.json'];
  // The Docker image is built without bench.
  const folders = ['apps', 'libs', 'bench'].map((name) => join(root, name)).filter((folder) => existsSync(folder));
  const listed = join(assets[0], 'guides.json');
  const guides = existsSync(listed) ? Object.keys(JSON.parse(readFileSync(listed, 'utf8'))) : [];
  const sources = [
    ...folders.flatMap((folder) => [...files(folder)]),
    ...guides.map((name) => join(root, 'docs', `${name}.md`)),
  ];
  for (const path of [...configuration.map((name) => join(root, name)), ...sources].sort()) {
    const { mtimeMs, size } = statSync(path);
    hash.update(`${path}\0${mtimeMs}\0${size}\n`);
  }
  return hash.digest('hex');
}

const isBuilt = (wanted) => existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted;

/** Makes concurrent commands build one after another. The lock names its process; it is void once that has ended. */
async function inTurn(build) {
  const lock = join(root, 'node_modules', '.build-lock');
  for (;;) {
    try {
      writeFileSync(lock, String(process.pid), { flag: 'wx' });
      break;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
      if (isAlive(Number(readFileSync(lock, 'utf8')) || process.pid)) await setTimeout(200);
      else rmSync(lock, { force: true });
    }
  }
  try {
    await build();
  } finally {
    rmSync(lock, { force: true });
  }
}

function isAlive(pid) {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/** The build was stopped with Ctrl-C, which says nothing about the checkout. */
class Stopped extends Error {}

/** Runs a command. Ctrl-C ends the command first, then this process. */
async function run(command, args) {
  const child = spawn(command, args, { cwd: root, stdio: ['ignore', 2, 2] });
  let stopped = false;
  const stop = () => {
    stopped = true;
    child.kill();
  };
  process.once('SIGINT', stop).once('SIGTERM', stop);
  const [code, signal] = await new Promise((resolve, reject) => {
    child.once('exit', (...ended) => resolve(ended)).once('error', reject);
  });
  process.off('SIGINT', stop).off('SIGTERM', stop);
  if (stopped || signal) throw new Stopped('The build was interrupted');
  if (code !== 0) throw new Error('see the output above');
}

/** Also copies the reference's only file, plain and compressed: its package is not needed at run time. */
async function copyAssets() {
  const inDist = (path) => join(root, 'dist', relative(root, path));
  const templates = [...files(join(root, 'apps', 'portal', 'src'))].filter((path) => path.endsWith(TEMPLATE));
  for (const path of [...assets, ...templates]) cpSync(path, inDist(path), { recursive: true });
  const rapidoc = join(root, 'node_modules', 'rapidoc', 'dist', 'rapidoc-min.js');
  // Loads a package, which may not be installed when this script begins.
  const { writeGuides } = await import('./guides.js');
  writeGuides(root, join(inDist(assets[0]), 'guides'));
  for (const ending of ['', '.gz']) cpSync(`${rapidoc}${ending}`, join(inDist(assets[0]), `rapidoc.js${ending}`));
}

export async function buildIfStale() {
  try {
    if (isBuilt(fingerprint())) return;
    if (!existsSync(nest)) throw new Error('the compiler is not installed, run "npm ci" first');
    await inTurn(async () => {
      const wanted = fingerprint();
      if (isBuilt(wanted)) return;
      process.stderr.write('Building …\n');
      // Starts from scratch: the output of a removed source, such as a deleted migration, would still run.
      rmSync(join(root, 'dist'), { recursive: true, force: true });
      await run(process.execPath, [nest, 'build', 'api']);
      await copyAssets();
      await run(process.execPath, ['dist/apps/api/src/openapi.js', 'dist/apps/api/assets/openapi.json']);
      writeFileSync(stamp, wanted);
    });
  } catch (error) {
    const said = error instanceof Stopped ? error.message : `The build failed: ${error.message}`;
    process.stderr.write(`${said}\n`);
    process.exit(1);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildIfStale();
