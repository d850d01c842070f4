import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const MISSING =
  'The tests need a redis-server on the PATH: install one first (Debian: apt-get install redis-server, macOS: brew install redis).';

/** How a redis-server is run: the program, and what its environment needs. */
export interface RedisBinary {
  program: string;
  env: Record<string, string>;
}

/**
 * A redis-server: the PATH's; else Debian's package, unpacked into node_modules/.cache. Unpacked, not installed: that needs
 * no root, starts no service, and leaves the machine as it was.
 *
 * @throws Error with one plain sentence where neither is possible
 */
export function findRedis(): RedisBinary {
  const onPath = { program: 'redis-server', env: {} };
  if (works(onPath)) return onPath;
  const cache = fileURLToPath(new URL('../../node_modules/.cache/redis', import.meta.url));
  if (!existsSync(cache)) {
    try {
      unpack(cache);
    } catch (error) {
      throw new Error(`${MISSING} Fetching it here failed: ${lastLine(error)}`, { cause: error });
    }
  }
  const unpacked = { program: join(cache, 'usr/bin/redis-server'), env: { LD_LIBRARY_PATH: libraries(cache) } };
  if (!works(unpacked)) {
    rmSync(cache, { recursive: true });
    throw new Error(MISSING);
  }
  return unpacked;
}

function works({ program, env }: RedisBinary): boolean {
  return spawnSync(program, ['--version'], { stdio: 'ignore', env: { ...process.env, ...env } }).status === 0;
}

/** Debian keeps libraries in a folder of the architecture's name. */
function libraries(root: string): string {
  const lib = join(root, 'usr/lib');
  return readdirSync(lib)
    .map((name) => join(lib, name))
    .join(':');
}

function unpack(target: string): void {
  mkdirSync(join(target, '..'), { recursive: true });
  const work = mkdtempSync(join(target, '..', 'redis-'));
  try {
    for (const folder of ['state/lists/partial', 'cache/archives/partial', 'packages', 'root']) {
      mkdirSync(join(work, folder), { recursive: true });
    }
    // Lists and packages of our own: the system's belong to root, and may be missing.
    const own = [
      '-o',
      `Dir::State=${work}/state`,
      '-o',
      'Dir::State::status=/var/lib/dpkg/status',
      '-o',
      `Dir::Cache=${work}/cache`,
    ];
    // As root apt would fetch as another account, which may not enter here.
    own.push('-o', 'APT::Sandbox::User=', '-o', 'Debug::NoLocking=1');
    run('apt-get', [...own, 'update', '-qq']);
    const only = [
      '--no-recommends',
      '--no-suggests',
      '--no-conflicts',
      '--no-breaks',
      '--no-replaces',
      '--no-enhances',
    ];
    const needed = run('apt-cache', [...own, 'depends', '--recurse', ...only, 'redis-server'])
      .split('\n')
      .filter((line) => line.startsWith('redis-') || (/^(lib|lua)/.test(line) && !isInstalled(line)));
    run('apt-get', [...own, 'download', '-qq', ...new Set(needed)], join(work, 'packages'));
    for (const name of readdirSync(join(work, 'packages'))) {
      run('dpkg', ['-x', join(work, 'packages', name), join(work, 'root')]);
    }
    renameSync(join(work, 'root'), target);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function isInstalled(name: string): boolean {
  const { stdout } = spawnSync('dpkg-query', ['-W', '-f', '${Status}', name], { encoding: 'utf8' });
  return stdout.endsWith(' installed');
}

function run(command: string, args: string[], cwd?: string): string {
  return execFileSync(command, args, { cwd, encoding: 'utf8', timeout: 300_000, stdio: ['ignore', 'pipe', 'pipe'] });
}

function lastLine(error: unknown): string {
  const { stderr, message } = error as { stderr?: string; message: string };
  return stderr?.trim().split('\n').at(-1) ?? message;
}
