import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A server program that tests need. */
export interface Server {
  name: string;
  /** Path within Debian's package. */
  path: string;
  version: string;
  /** Other packages it needs, besides libraries. */
  parts: RegExp;
}

export const REDIS: Server = { name: 'redis-server', path: 'usr/bin/redis-server', version: '--version', parts: /^redis-/ };
export const NGINX: Server = { name: 'nginx', path: 'usr/sbin/nginx', version: '-v', parts: /^nginx$/ };
export const PGBOUNCER: Server = { name: 'pgbouncer', path: 'usr/sbin/pgbouncer', version: '--version', parts: /^pgbouncer$/ };
export const CURL: Server = { name: 'curl', path: 'usr/bin/curl', version: '--version', parts: /^curl$/ };

/** How to run it: the program's path and additional environment variables. */
export interface ServerBinary {
  program: string;
  env: Record<string, string>;
}

/**
 * Finds a program on the PATH, or unpacks Debian's package into node_modules/.cache. Unpacking, unlike installing, needs no
 * root, starts no service and does not change the machine.
 *
 * @throws Error with one plain sentence if neither is possible
 */
export function findServer(server: Server): ServerBinary {
  const { name, path, version } = server;
  // Ordinary accounts may lack the sbin folders on their PATH.
  for (const program of [name, `/${path}`]) {
    const installed = { program, env: {} };
    if (works(installed, version)) return installed;
  }
  const missing = `The tests need ${name} on the PATH: install it first (Debian: apt-get install ${name}, macOS: brew install ${name.replace('-server', '')}).`;
  const cache = fileURLToPath(new URL(`../../../node_modules/.cache/${name}`, import.meta.url));
  if (!existsSync(cache)) {
    try {
      unpack(server, cache);
    } catch (error) {
      throw new Error(`${missing} Fetching it here failed: ${lastLine(error)}`, { cause: error });
    }
  }
  const unpacked = { program: join(cache, path), env: { LD_LIBRARY_PATH: libraries(cache) } };
  if (!works(unpacked, version)) {
    rmSync(cache, { recursive: true });
    throw new Error(missing);
  }
  return unpacked;
}

function works({ program, env }: ServerBinary, version: string): boolean {
  return spawnSync(program, [version], { stdio: 'ignore', env: { ...process.env, ...env } }).status === 0;
}

/** Debian keeps libraries in a folder named after the architecture. */
export function libraries(root: string): string {
  const lib = join(root, 'usr/lib');
  // The folder is missing if everything is installed already.
  if (!existsSync(lib)) return '';
  return readdirSync(lib)
    .map((name) => join(lib, name))
    .join(':');
}

export function unpack({ name, parts }: Pick<Server, 'name' | 'parts'>, target: string): void {
  mkdirSync(join(target, '..'), { recursive: true });
  const work = mkdtempSync(join(target, '..', `${name}-`));
  try {
    const own = ownLists(work);
    const only = ['--no-recommends', '--no-suggests', '--no-conflicts', '--no-breaks', '--no-replaces', '--no-enhances'];
    const needed = run('apt-cache', [...own, 'depends', '--recurse', ...only, name])
      .split('\n')
      .filter((line) => parts.test(line) || (/^(lib|lua)/.test(line) && !isInstalled(line)));
    run('apt-get', [...own, 'download', '-qq', ...new Set(needed)], join(work, 'packages'));
    for (const name of readdirSync(join(work, 'packages'))) {
      run('dpkg', ['-x', join(work, 'packages', name), join(work, 'root')]);
    }
    renameSync(join(work, 'root'), target);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** The options by which apt works in this folder: with lists of its own, because the system's belong to root and may be missing. */
export function ownLists(work: string, ...more: string[]): string[] {
  for (const folder of ['state/lists/partial', 'cache/archives/partial', 'packages', 'root']) mkdirSync(join(work, folder), { recursive: true });
  const own = ['-o', `Dir::State=${work}/state`, '-o', 'Dir::State::status=/var/lib/dpkg/status', '-o', `Dir::Cache=${work}/cache`, ...more];
  // As root, apt would download as another account, which may not have access to this folder.
  own.push('-o', 'APT::Sandbox::User=', '-o', 'Debug::NoLocking=1');
  run('apt-get', [...own, 'update', '-qq']);
  return own;
}

function isInstalled(name: string): boolean {
  const { stdout } = spawnSync('dpkg-query', ['-W', '-f', '${Status}', name], { encoding: 'utf8' });
  return stdout.endsWith(' installed');
}

export function run(command: string, args: string[], cwd?: string): string {
  return execFileSync(command, args, { cwd, encoding: 'utf8', timeout: 300_000, stdio: ['ignore', 'pipe', 'pipe'] });
}

export function lastLine(error: unknown): string {
  const { stderr, message } = error as { stderr?: string; message: string };
  return stderr?.trim().split('\n').at(-1) ?? message;
}
