import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { findServer, lastLine, ownLists, PGBOUNCER, run, type ServerBinary } from './server-binary.js';

/** The first version that keeps the prepared statements of its clients apart. */
const WANTED = [1, 21];
/** A release of Debian whose source package is new enough, and builds on the one before it. */
const RELEASE = 'trixie';

const CACHE = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'tutoring-api');
const BUILT: ServerBinary = { program: join(CACHE, 'pgbouncer'), env: {} };

/** The pgbouncers of this machine: one that the service can use, and an older one, if the distribution still has that. */
export interface PgBouncers {
  current: ServerBinary;
  old: ServerBinary | null;
}

/** Looks on the PATH and in Debian's packages, and builds Debian's newer source package where these are too old. @throws Error that says what to install */
export function findPgBouncers(): PgBouncers {
  let found: ServerBinary | null = null;
  try {
    found = findServer(PGBOUNCER);
  } catch {
    // Not packaged here.
  }
  if (found && isCurrent(found)) return { current: found, old: null };
  try {
    if (!existsSync(BUILT.program)) build();
  } catch (error) {
    const needed = 'The test needs pgbouncer 1.21 or later on the PATH, or what builds it: apt, gcc, make and pkg-config';
    throw new Error(`${needed}. Building failed: ${lastLine(error)}`, { cause: error });
  }
  return { current: BUILT, old: found };
}

function isCurrent({ program, env }: ServerBinary): boolean {
  const text = execFileSync(program, ['--version'], { encoding: 'utf8', env: { ...process.env, ...env } });
  const [major = 0, minor = 0] = /(\d+)\.(\d+)/.exec(text)!.slice(1).map(Number);
  return major > WANTED[0]! || (major === WANTED[0] && minor >= WANTED[1]!);
}

/** Takes about a minute. Libevent is linked statically: nothing is installed. */
function build(): void {
  mkdirSync(CACHE, { recursive: true });
  const work = mkdtempSync(join(CACHE, 'build-'));
  try {
    const sources = join(work, 'sources.list');
    const machine = '/etc/apt/sources.list';
    const [archive] = run('apt-get', ['indextargets', '--format', '$(REPO_URI)', 'Origin: Debian', 'Component: main']).split('\n');
    const source = `deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] ${archive} ${RELEASE} main\n`;
    writeFileSync(sources, (existsSync(machine) ? readFileSync(machine, 'utf8') : '') + source);
    const own = ownLists(work, '-o', `Dir::Etc::sourcelist=${sources}`);
    const packages = join(work, 'packages');
    run('apt-get', [...own, 'source', '--download-only', '-qq', 'pgbouncer'], packages);
    run('apt-get', [...own, 'download', '-qq', 'libevent-dev'], packages);
    const fileOf = (pattern: RegExp) =>
      join(
        packages,
        readdirSync(packages).find((name) => pattern.test(name))!,
      );
    const root = join(work, 'root');
    run('dpkg', ['-x', fileOf(/^libevent-dev/), root]);
    run('tar', ['xf', fileOf(/\.orig\.tar/), '--strip-components=1'], root);
    const library = run('find', [root, '-name', 'libevent.a']).trim();
    const libevent = [
      `LIBEVENT_CFLAGS=-I${root}/usr/include -I${join(library, '../../../include', library.split('/').at(-2)!)}`,
      `LIBEVENT_LIBS=${library}`,
    ];
    run('./configure', ['--without-openssl', '--without-cares', ...libevent], root);
    run('make', ['-j2', 'pgbouncer'], root);
    copyFileSync(join(root, 'pgbouncer'), `${work}/built`);
    renameSync(`${work}/built`, BUILT.program);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}
