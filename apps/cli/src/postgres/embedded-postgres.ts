import { chown, mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findPostgresBinaries } from './postgres-binaries.js';
import { dataSecret } from '../start/data-secret.js';
import { closeData, type GuardedData, initialize, Passwords } from './passwords.js';
import { provisionRoles } from './roles.js';
import {
  placeData,
  readServerState,
  removeLeftovers,
  renameUnlessThere,
  runCommand,
  temporaryName,
} from './server-process.js';

export { findPostgresBinaries, type PostgresBinaries } from './postgres-binaries.js';

/** A running PostgreSQL server with the project's roles and database. */
export interface EmbeddedPostgres {
  /** The superuser `postgres` in the database `postgres`. */
  adminUrl: string;
  /** The role `tutoring_owner`, which owns the database `tutoring` but is not a superuser. */
  ownerUrl: string;
  /** The API's role `tutoring_app` on `tutoring`: owns nothing and cannot bypass row level security. */
  applicationUrl: string;
  workerUrl: string;
  portalUrl: string;
  /** The actual data folder: `<dataDir>/postgres` or one in /var/lib (see `startEmbeddedPostgres`). */
  dataDirectory: string;
  /** As the server's binaries report it. */
  version: string;
  /** False if the server was already running: `stop` then leaves it running. */
  startedHere: boolean;
  /** Shuts down the server if it was started here. Can be called any number of times. */
  stop(): Promise<void>;
}

export interface EmbeddedPostgresOptions {
  /** The server's data goes to the folder `postgres` in here. */
  dataDir: string;
  /** Server settings in addition to the defaults. They have no effect on a server that is already running. */
  settings?: Record<string, string>;
  /** Takes over a server that is already running (left by a killed launcher): `stop` then shuts it down. */
  adopt?: boolean;
  /** The folder of the server's binaries; otherwise they are looked for. */
  binDirectory?: string;
  log?: (line: string) => void;
  /** Aborts waiting for a server that others start or stop. */
  signal?: AbortSignal;
}

interface Cluster extends GuardedData {
  settings: Record<string, string>;
  signal?: AbortSignal | undefined;
}

const DEFAULT_SETTINGS = {
  shared_buffers: '128MB',
  max_connections: '200',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_min_messages: 'warning',
  log_checkpoints: 'off',
};

const START_TIMEOUT_S = 60;
const STOP_TIMEOUT_S = 20;
const LOG_SIZE_LIMIT = 10 * 1024 * 1024;

// Another process took the folder or the port in the meantime, or a killed server's last processes are still ending.
const PASSING_START_FAILURE =
  /lock file "postmaster\.pid" (already exists|is empty)|is still in use|Address already in use|could not (create any TCP\/IP sockets|open lock file|read lock file|remove old lock file)/;
const CONNECTION_LOST = /^(57P0[1-3]|08...|ECONNREFUSED|ECONNRESET|EPIPE)$|Connection terminated/;

/** A port that is free at the moment. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

function pgCtl(cluster: Cluster, ...args: string[]): ReturnType<typeof runCommand> {
  const { binaries, dataDirectory, account } = cluster;
  return runCommand(join(binaries.binDirectory, 'pg_ctl'), ['-D', dataDirectory, '-w', ...args], account);
}

/** Creates the data in a sibling folder and renames it, so that a data folder is either complete or missing. */
async function createData(cluster: Cluster): Promise<void> {
  const { account, dataDirectory, settings } = cluster;
  const temporary = temporaryName(`${dataDirectory}.init-`);
  try {
    await mkdir(temporary, { mode: 0o700 });
    if (account) await chown(temporary, account.uid, account.gid);
    await initialize(cluster, temporary, settings.fsync === 'off' ? ['--no-sync'] : []);
    await renameUnlessThere(temporary, dataDirectory);
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

async function prepareData(cluster: Cluster): Promise<void> {
  const { binaries, account, dataDirectory } = cluster;
  // pg_ctl puts the path into a shell command, in double quotes.
  if (/["$`\\\n]/.test(dataDirectory)) {
    throw new Error(
      `PostgreSQL cannot store its data in ${dataDirectory}: the path contains a character with a special meaning in the shell. Choose another folder with DATA_DIR.`,
    );
  }
  const info = await stat(dataDirectory).catch(() => undefined);
  if (info && !account && process.getuid && info.uid !== process.getuid()) {
    throw new Error(
      `The data folder ${dataDirectory} belongs to another user (uid ${info.uid}). Run as that user, or choose another folder with DATA_DIR.`,
    );
  }
  if (!info || (await readdir(dataDirectory)).length === 0) await createData(cluster);

  const made = (await readFile(join(dataDirectory, 'PG_VERSION'), 'utf8').catch(() => '')).trim();
  if (!made) {
    throw new Error(
      `${dataDirectory} is not empty, but is not a PostgreSQL data folder. Move it elsewhere and start again.`,
    );
  }
  if (Number.parseInt(made, 10) !== binaries.majorVersion) {
    throw new Error(
      `The data folder ${dataDirectory} was created by PostgreSQL ${made}, but the server found here (${binaries.binDirectory}) ` +
        `is PostgreSQL ${binaries.version}. Dump the data with version ${made}, or move the folder elsewhere to start with an empty database.`,
    );
  }
  if (account && (await stat(dataDirectory)).uid === 0) {
    const { code, output } = await runCommand('chown', ['-hR', `${account.uid}:${account.gid}`, dataDirectory]);
    if (code !== 0) throw new Error(`Cannot make the server's account the owner of ${dataDirectory}: ${output}`);
  }
}

/** Starts the server. @returns what went wrong, or undefined if it runs */
async function launch(cluster: Cluster): Promise<string | undefined> {
  const logFile = join(cluster.dataDirectory, 'server.log');
  const sizeOf = async (): Promise<number> => (await stat(logFile).catch(() => undefined))?.size ?? 0;
  if ((await sizeOf()) > LOG_SIZE_LIMIT) await rename(logFile, `${logFile}.old`);
  const sizeBefore = await sizeOf();

  const settings = {
    ...DEFAULT_SETTINGS,
    ...cluster.settings,
    listen_addresses: '127.0.0.1',
    port: String(await freePort()),
    unix_socket_directories: '',
  };
  const quoted = Object.entries(settings).map(([name, value]) => `${name}=${value}`.replaceAll("'", "'\\''"));
  const options = quoted.map((setting) => `-c '${setting}'`).join(' ');
  const { code, output } = await pgCtl(cluster, 'start', '-t', String(START_TIMEOUT_S), '-l', logFile, '-o', options);
  if (code === 0) return undefined;
  const written = (await readFile(logFile).catch(() => Buffer.alloc(0))).subarray(sizeBefore).toString('utf8').trim();
  return `${output}\n${written.slice(-4000)}\n(log: ${logFile})`;
}

function serverState({ dataDirectory, passwords }: Cluster): ReturnType<typeof readServerState> {
  return readServerState(dataDirectory, (port) => passwords.adminUrl(port));
}

async function stopServer(cluster: Cluster, pid: number): Promise<void> {
  // Another server, which is not ours, may have replaced it.
  const isRunning = async (): Promise<boolean> => {
    const state = await serverState(cluster);
    return state.kind !== 'none' && state.pid === pid;
  };
  if (!(await isRunning())) return;
  await pgCtl(cluster, 'stop', '-m', 'fast', '-t', String(STOP_TIMEOUT_S));
  if (!(await isRunning())) return;
  const { output } = await pgCtl(cluster, 'stop', '-m', 'immediate', '-t', String(STOP_TIMEOUT_S));
  if (await isRunning()) throw new Error(`The PostgreSQL server (process ${pid}) did not stop: ${output}`);
}

/** Uses the folder's server or starts one. PostgreSQL's own lock, postmaster.pid, decides who starts it: no second lock can go stale. */
async function startOrReuse(cluster: Cluster): Promise<{ pid: number; port: number; launched: boolean }> {
  const deadline = Date.now() + START_TIMEOUT_S * 1000;
  let launchedPid: number | undefined;
  let problem: string | undefined;
  while (Date.now() < deadline && !cluster.signal?.aborted) {
    const state = await serverState(cluster);
    if (state.kind === 'ready') {
      const launched = state.pid === launchedPid;
      try {
        await provisionRoles(cluster.passwords.adminUrl(state.port), cluster.passwords.roleUrls(state.port));
        return { ...state, launched };
      } catch (error) {
        const { code, message } = error as NodeJS.ErrnoException;
        problem = message;
        if (!CONNECTION_LOST.test(code ?? message)) {
          if (launched) await stopServer(cluster, state.pid);
          throw error;
        }
      }
    } else if (state.kind === 'busy') {
      problem = `Process ${state.pid} uses this folder but does not accept connections.`;
    } else {
      problem = (await closeData(cluster)) ?? (await launch(cluster));
      if (problem === undefined) {
        const started = await serverState(cluster);
        if (started.kind !== 'none') launchedPid = started.pid;
        continue;
      }
      const passing = PASSING_START_FAILURE.test(problem);
      if (!passing && (await serverState(cluster)).kind === 'none') break;
    }
    await sleep(100);
  }
  const { binaries, dataDirectory } = cluster;
  throw new Error(`PostgreSQL ${binaries.version} could not be started in ${dataDirectory}:\n${problem}`);
}

/**
 * Starts PostgreSQL on a free port of 127.0.0.1, with its data in `<dataDir>/postgres`, or uses the server that runs on this folder. Passwords are
 * derived from `<dataDir>/database-secret`. For root, it runs as an ordinary account, if need be with its data below /var/lib/tutoring-api.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const { folder, account, moved } = await placeData(options.dataDir);
  const binaries = await findPostgresBinaries(account, options.binDirectory);
  const dataDirectory = join(folder, 'postgres');
  const passwords = new Passwords(dataSecret(options.dataDir, 'database-secret'));
  const { settings = {}, signal } = options;
  const cluster: Cluster = { binaries, account, dataDirectory, passwords, settings, signal };
  if (moved || binaries.copied) {
    const parts = [moved && `data in ${dataDirectory}`, binaries.copied && `binaries from ${binaries.binDirectory}`];
    const using = parts.filter(Boolean).join(' and ');
    options.log?.(`PostgreSQL cannot run as root, and its account cannot access this folder. Using ${using}.`);
  }
  await removeLeftovers(folder, 'postgres.init-');
  await prepareData(cluster);
  const { pid, port, launched } = await startOrReuse(cluster);
  const from = binaries.source === 'machine' ? ` (of this machine, ${binaries.binDirectory})` : '';
  const how = launched ? 'started' : 'is already running';
  options.log?.(`PostgreSQL ${binaries.version}${from} ${how} on 127.0.0.1:${port}.`);

  const startedHere = launched || options.adopt === true;
  const { owner, api, worker, portal } = passwords.roleUrls(port);
  let stopping: Promise<void> | undefined;
  return {
    adminUrl: passwords.adminUrl(port),
    ownerUrl: owner,
    applicationUrl: api,
    workerUrl: worker,
    portalUrl: portal,
    dataDirectory,
    version: binaries.version,
    startedHere,
    stop: () => (stopping ??= startedHere ? stopServer(cluster, pid) : Promise.resolve()),
  };
}
