import { execFileSync } from 'node:child_process';
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Failure } from '../output.js';
import { makeDataFolder, temporaryName } from '../postgres/server-process.js';
import { linked } from './data-secret.js';

/** The `npm start` that holds a data folder. */
export interface Launcher {
  pid: number;
  /** The process's start time, as the system reports it. Distinguishes it from a later process with the same id. */
  born: string | null;
  /** null until the API listens. */
  url: string | null;
}

const NAME = 'start.lock';

/** The running `npm start` that holds a data folder; null if there is none. Ignores locks of ended processes. */
export function launcherOf(dataDir: string): Launcher | null {
  return living(join(dataDir, NAME));
}

/** Whether the folder's last `npm start` was killed. Its processes may still be ending. */
export function wasKilled(dataDir: string): boolean {
  return read(join(dataDir, NAME)) !== null && launcherOf(dataDir) === null;
}

/** @throws Failure if an `npm start` is already running on this folder */
export function refuseSecondStart(dataDir: string, launcher = launcherOf(dataDir)): void {
  if (!launcher) return;
  const where = launcher.url ? `Already running at ${launcher.url}` : 'Already starting';
  // Skips the ports of both API and portal.
  const port = Number((launcher.url && new URL(launcher.url).port) || 3000);
  throw new Failure(
    `${where}, process ${launcher.pid}. To run a second one, give it its own data folder and port: DATA_DIR=.data2 PORT=${port < 65_000 ? port + 10 : port - 10} npm start`,
  );
}

/** Reserves a data folder for one `npm start`, by its process id, for as long as it runs. */
export class DataLock {
  private constructor(private readonly file: string) {}

  /** @throws Failure if another one holds the folder, or it is not writable */
  static async take(dataDir: string): Promise<DataLock> {
    const file = join(dataDir, NAME);
    const draft = temporaryName(`${file}.`);
    try {
      await makeDataFolder(dataDir);
      try {
        writeFileSync(draft, describe(null), { mode: 0o600 });
        while (!linked(draft, file)) {
          refuseSecondStart(dataDir);
          removeDead(dataDir, file);
        }
      } finally {
        rmSync(draft, { force: true });
      }
    } catch (error) {
      if (error instanceof Failure) throw error;
      const { code } = error as NodeJS.ErrnoException;
      throw new Failure(`The data folder ${resolve(dataDir)} is not writable (${code}): choose another with DATA_DIR`);
    }
    return new DataLock(file);
  }

  /** Records where the service listens, for commands and a second start. Does nothing if the disk is full. */
  tell(url: string): void {
    const draft = temporaryName(`${this.file}.`);
    try {
      writeFileSync(draft, describe(url), { mode: 0o600 });
      renameSync(draft, this.file);
    } catch {
      rmSync(draft, { force: true });
    }
  }

  release(): void {
    if (read(this.file)?.pid === process.pid) rmSync(this.file, { force: true });
  }
}

function describe(url: string | null): string {
  return JSON.stringify({ pid: process.pid, born: birthOf(process.pid), url } satisfies Launcher);
}

/** Moves the file aside first. If another start has replaced it since it was read, restores it. */
function removeDead(dataDir: string, file: string): void {
  const aside = temporaryName(`${file}.`);
  try {
    renameSync(file, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  const launcher = living(aside);
  if (launcher) linked(aside, file);
  rmSync(aside, { force: true });
  refuseSecondStart(dataDir, launcher);
}

function read(file: string): Launcher | null {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Launcher;
  } catch {
    return null;
  }
}

function living(file: string): Launcher | null {
  const launcher = read(file);
  const born = launcher && birthOf(launcher.pid);
  return launcher && born !== null && born === launcher.born ? launcher : null;
}

/** The process's start time; null if there is no process with this id. */
function birthOf(pid: number): string | null {
  try {
    if (process.platform !== 'linux') {
      return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim() || null;
    }
    // The name may contain anything. The state and the start time (ticks since boot) follow it.
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return /[ZX]/.test(fields[0]!) ? null : fields[19]!;
  } catch {
    return null;
  }
}
