import { execFile } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { chmod, mkdir, open, readdir, readFile, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { withClient } from './client.js';

/** The server's system account if this process is root. */
export interface ServerAccount {
  uid: number;
  gid: number;
}

/** The state of the data folder's server: none, accepting connections, or starting or stopping. */
type ServerState = { kind: 'none' } | { kind: 'busy'; pid: number } | { kind: 'ready'; pid: number; port: number };

// The id of a killed process may be in use again, but nothing takes this long to create.
const LEFTOVER_AFTER_MS = 10 * 60_000;

// PostgreSQL fills the file within milliseconds of creating it. An empty one that is older than this is a leftover.
const EMPTY_PID_FILE_IS_STALE_AFTER_MS = 5_000;

// The largest number that PostgreSQL reads as a process id. No system assigns ids that high.
const IMPOSSIBLE_PID = 2_147_483_647;

/**
 * Runs a command to its end. Never rejects. The environment is fixed: the caller's PG* variables and locale change nothing.
 * @returns the exit code (-1 if it could not be run at all) and everything it printed
 */
export function runCommand(
  file: string,
  args: string[],
  account?: ServerAccount,
  input?: string,
): Promise<{ code: number; output: string }> {
  const options = {
    cwd: '/',
    env: { PATH: '/usr/bin:/bin:/usr/sbin:/sbin', LC_ALL: 'C', HOME: '/tmp' },
    maxBuffer: 16 * 1024 * 1024,
    ...account,
  };
  return new Promise((resolve) => {
    const done = (error: unknown, stdout = '', stderr = ''): void => {
      const { code, message } = (error ?? { code: 0 }) as { code?: unknown; message?: string };
      const output = `${stdout}${stderr}`.trim() || (message ?? '');
      resolve({ code: typeof code === 'number' ? code : -1, output });
    };
    try {
      const { stdin } = execFile(file, args, options, done);
      // A command that ends without reading its input reports that in its exit code.
      if (input !== undefined) stdin?.on('error', () => undefined).end(input);
    } catch (error) {
      // Node throws instead of calling back if it cannot switch to the account.
      done(error);
    }
  });
}

async function defaultAccount(): Promise<ServerAccount> {
  const lines = (await readFile('/etc/passwd', 'utf8').catch(() => '')).split('\n').map((line) => line.split(':'));
  const entry = lines.find(([name]) => name === 'postgres') ?? lines.find(([name]) => name === 'nobody');
  return { uid: Number(entry?.[2] ?? 65534), gid: Number(entry?.[3] ?? 65534) };
}

async function ownerOf(directory: string): Promise<ServerAccount | undefined> {
  const info = await stat(directory).catch(() => undefined);
  return info && info.uid !== 0 ? { uid: info.uid, gid: info.gid } : undefined;
}

/** Gives what is complete its name, unless another process was faster: what is there is the same. */
export async function renameUnlessThere(temporary: string, target: string): Promise<void> {
  await rename(temporary, target).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
  });
}

/** Creates a folder that every account can enter, whatever this process's umask is. */
export async function makePublicFolder(directory: string): Promise<void> {
  await mkdir(directory, { recursive: true });
  await chmod(directory, 0o755);
}

/** Creates the private data folder. As root, the server's account must pass through it. Never widens access to it. */
export async function makeDataFolder(dataDir: string): Promise<string> {
  const mode = process.getuid?.() === 0 ? 0o711 : 0o700;
  await mkdir(dataDir, { recursive: true, mode });
  const folder = await realpath(dataDir);
  // Stays unchanged if it belongs to another account.
  await chmod(folder, (await stat(folder)).mode & mode).catch(() => undefined);
  return folder;
}

/**
 * Where the data goes, and whose it is. PostgreSQL refuses to run as root: its data's owner, else `postgres`, else `nobody` runs it. If that account
 * cannot enter `dataDir` (a checkout below a private home), the data goes to /var/lib.
 */
export async function placeData(
  dataDir: string,
): Promise<{ folder: string; account: ServerAccount | undefined; moved: boolean }> {
  const folder = await makeDataFolder(dataDir);
  if (process.getuid?.() !== 0) return { folder, account: undefined, moved: false };

  const fallback = await defaultAccount();
  const account = (await ownerOf(join(folder, 'postgres'))) ?? fallback;
  // Trying covers the modes, groups and access control lists of all parent folders.
  const entered = await runCommand('/bin/sh', ['-c', 'cd "$1"', 'sh', folder], account);
  if (entered.code === 0) return { folder, account, moved: false };

  const shared = '/var/lib/tutoring-api';
  const moved = join(shared, createHash('sha256').update(folder).digest('hex').slice(0, 12));
  await makePublicFolder(shared);
  await makePublicFolder(moved);
  await chmod(moved, 0o711);
  return { folder: moved, account: (await ownerOf(join(moved, 'postgres'))) ?? fallback, moved: true };
}

/** Whether a process with this id exists, even if it belongs to somebody else. */
export function processExists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** A name for a file that is renamed once it is complete. `removeLeftovers` recognizes it by its prefix. */
export function temporaryName(prefix: string): string {
  return `${prefix}${process.pid}-${randomBytes(4).toString('hex')}`;
}

/** Removes files that killed processes left in the folder under names from `temporaryName`. */
export async function removeLeftovers(folder: string, prefix: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const pid = name.startsWith(prefix) ? /^(\d+)-[0-9a-f]+$/.exec(name.slice(prefix.length))?.[1] : undefined;
    if (!pid) continue;
    const path = join(folder, name);
    const info = await stat(path).catch(() => undefined);
    const old = info !== undefined && Date.now() - info.mtimeMs > LEFTOVER_AFTER_MS;
    // Fails if a child that outlived the killed process is still writing. The next start tries again.
    if (old || !processExists(Number(pid))) await rm(path, { recursive: true, force: true }).catch(() => undefined);
  }
}

/** Whether the process is a server of this data folder. After a reboot its id may be any program's, and a killed server may remain as a zombie. */
async function servesFolder(pid: number, dataDirectory: string): Promise<boolean> {
  if (!processExists(pid)) return false;
  const procStat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  if (procStat !== undefined) {
    const [, name, state] = /^\d+ \((.*)\) (\S)/s.exec(procStat) ?? [];
    if (state === 'Z' || state === 'X') return false;
    // Compares inodes, because a folder may have several paths.
    const [cwd, own] = await Promise.all(
      [`/proc/${pid}/cwd`, dataDirectory].map((path) => stat(path).catch(() => undefined)),
    );
    return cwd && own ? cwd.dev === own.dev && cwd.ino === own.ino : name === 'postgres';
  }
  const { code, output } = await runCommand('ps', ['-o', 'stat=', '-o', 'comm=', '-p', String(pid)]);
  if (code === -1) return true; // No ps here: rather wait for a server that is not there than disturb one that is.
  const [state = '', ...command] = output.split(/\s+/);
  return code === 0 && !state.startsWith('Z') && basename(command.join(' ')).startsWith('postgres');
}

async function acceptsConnections(adminUrl: string, pid: number): Promise<boolean> {
  try {
    // Since the file was written, another folder's server may have taken the port.
    const query = `SELECT pg_read_file('postmaster.pid') AS file`;
    const { rows } = await withClient(adminUrl, (client) => client.query<{ file: string }>(query));
    return Number.parseInt(rows[0]?.file ?? '', 10) === pid;
  } catch {
    return false;
  }
}

/**
 * Looks for this folder's server, connecting with `adminUrl`. A stale postmaster.pid gets an impossible process id; it is not removed, because its
 * other lines let PostgreSQL detect processes of a killed server, and the path may already hold a new server's file.
 */
export async function readServerState(dataDirectory: string, adminUrl: (port: number) => string): Promise<ServerState> {
  const path = join(dataDirectory, 'postmaster.pid');
  const file = await open(path, constants.O_RDWR | constants.O_NOFOLLOW).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (!file) return { kind: 'none' };
  try {
    const text = await file.readFile('utf8');
    const lines = text.split('\n');
    const pid = Math.abs(Number.parseInt(lines[0] ?? '', 10)) || 0;
    const port = Number(lines[3]) || 0;
    const served =
      pid === 0
        ? Date.now() - (await file.stat()).mtimeMs < EMPTY_PID_FILE_IS_STALE_AFTER_MS
        : await servesFolder(pid, dataDirectory);
    if (served) {
      const ready = port > 0 && (await acceptsConnections(adminUrl(port), pid));
      return ready ? { kind: 'ready', pid, port } : { kind: 'busy', pid };
    }
    if (pid === 0 || processExists(pid)) {
      // A new server replaces the file instead of writing to it, so the file opened here is the stale one.
      await file.write([IMPOSSIBLE_PID, ...lines.slice(1)].join('\n'), 0);
    }
    return { kind: 'none' };
  } finally {
    await file.close();
  }
}
