import { execFileSync } from 'node:child_process';
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Failure } from '../output.js';
import { makeDataFolder, temporaryName } from '../postgres/server-process.js';

/** The `npm start` that a data folder belongs to. */
export interface Launcher {
  pid: number;
  /** When the process began, as the system says it: tells it from a later one with the same id. */
  born: string | null;
  /** Null until the API listens. */
  url: string | null;
}

const NAME = 'start.lock';

/** The living `npm start` of a data folder; null when there is none. What a dead one left does not count. */
export function launcherOf(dataDir: string): Launcher | null {
  return living(join(dataDir, NAME));
}

/** Whether the folder's last `npm start` was killed: its processes may still be ending. */
export function wasKilled(dataDir: string): boolean {
  return read(join(dataDir, NAME)) !== null && launcherOf(dataDir) === null;
}

/** @throws Failure when an `npm start` runs on this folder already */
export function refuseSecondStart(dataDir: string, launcher = launcherOf(dataDir)): void {
  if (!launcher) return;
  const where = launcher.url ? `Already running at ${launcher.url}` : 'Already starting';
  // Beyond the ports of both API and portal.
  const port = Number((launcher.url && new URL(launcher.url).port) || 3000);
  throw new Failure(
    `${where}, process ${launcher.pid}. To run a second one, give it its own data and port: DATA_DIR=.data2 PORT=${port < 65_000 ? port + 10 : port - 10} npm start`,
  );
}

/** Makes a data folder belong to one `npm start`, by its process id, for as long as that lives. */
export class DataLock {
  private constructor(private readonly file: string) {}

  /** @throws Failure when another one has it, or the folder cannot be written */
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
      throw new Failure(
        `The data folder ${resolve(dataDir)} cannot be written (${code}): choose another with DATA_DIR`,
      );
    }
    return new DataLock(file);
  }

  /** Lets commands and a second start know where the service listens. On a full disk they do not. */
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

/** Of two at once one succeeds. */
function linked(draft: string, file: string): boolean {
  try {
    linkSync(draft, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return false;
  }
}

/** Moves it aside first: another start may have replaced it since it was looked at, and then gets it back. */
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

/** When a process began; null when there is none with this id. */
function birthOf(pid: number): string | null {
  try {
    if (process.platform !== 'linux') {
      return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim() || null;
    }
    // What stands after the name, which may hold anything: the state, and the start in ticks since the boot.
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return /[ZX]/.test(fields[0]!) ? null : fields[19]!;
  } catch {
    return null;
  }
}
