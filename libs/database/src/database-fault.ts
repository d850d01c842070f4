import { type Env, loadEnv } from '@app/config';

/** Codes of PostgreSQL and the system, grouped by their remedy. */
const UNREACHABLE = new Set(['ECONNREFUSED', 'ECONNRESET', 'EHOSTUNREACH', 'ENETUNREACH', 'ETIMEDOUT', 'EPIPE']);
const NAME_UNKNOWN = new Set(['ENOTFOUND', 'EAI_AGAIN', 'EAI_FAIL']);
const BUSY = new Set(['57P01', '57P02', '57P03', '53300']);

/** pg has no code for these. */
const TIMED_OUT = /timeout expired|connection timeout|Connection terminated/;
const NO_PASSWORD = /client password must be a/;
const TLS = /does not support SSL|certificate|no encryption/;

/** The oldest server whose defaults are safe: before 15 every role may create tables in the schema public. */
export const OLDEST_SERVER = 15;

/** Why a database cannot be used, in one line for the operator: the problem and the remedy. */
export class DatabaseFault extends Error {
  /** Private at run time too: a URL contains a password, and libraries print the fields of errors. */
  readonly #parts: { url: string; reason: string; remedy: string };

  /** @param reason completes "the database … " @param passing temporary, as for a server that is just starting */
  constructor(
    url: string,
    reason: string,
    remedy: string,
    readonly passing = false,
  ) {
    super(`The database ${reason}: ${remedy}`);
    this.#parts = { url, reason, remedy };
  }

  /** The message with the name of the URL's variable; the embedded server's comes from none. */
  naming(env: Env): string {
    const { url, reason, remedy } = this.#parts;
    return `${env.nameOf(url) ?? 'Embedded PostgreSQL'}: the database ${reason}: ${remedy}`;
  }

  /** The fault behind a connection error; null for errors that don't concern the connection. */
  static of(error: unknown, url: string): DatabaseFault | null {
    if (error instanceof DatabaseFault) return error;
    const { code = '', message = '' } = error as { code?: string; message?: string };
    // Only pg's own errors have no code; others may say anything.
    if (code === '' && Object.getPrototypeOf(error) !== Error.prototype) return null;
    const { hostname, username, pathname } = new URL(url);
    const host = hostOf(url);
    const user = decodeURIComponent(username);
    const database = decodeURIComponent(pathname.slice(1)) || user;
    const fault = (...parts: [reason: string, remedy: string, passing?: boolean]) => new DatabaseFault(url, ...parts);
    if (NAME_UNKNOWN.has(code)) {
      return fault(`at ${host} cannot be found`, `the host name "${hostname}" cannot be resolved; correct it`, true);
    }
    if (code === '3D000') {
      return fault(`"${database}" does not exist at ${host}`, `create it (npm run cli -- roles), or correct the name`);
    }
    if (TLS.test(message) || code.startsWith('ERR_TLS') || code.startsWith('DEPTH_') || code.includes('_CERT')) {
      return fault(`at ${host} cannot be reached with these TLS settings (${message})`, 'correct sslmode in the URL');
    }
    if (code === '28P01' || NO_PASSWORD.test(message)) {
      // PostgreSQL says the same of a role that does not exist.
      const remedy = `run "npm run cli -- roles" first if there is no such role yet, or correct the user name or the password`;
      return fault(`at ${host} does not know "${user}" with this password`, remedy);
    }
    if (code.startsWith('28'))
      return fault(`at ${host} rejected the user "${user}" (${message})`, 'correct the user name');
    if (code === '42501') {
      const remedy = 'run commands as its owner, the role in MIGRATION_DATABASE_URL';
      return fault(`"${database}" denied "${user}" a privilege (${message})`, remedy);
    }
    if (BUSY.has(code))
      return fault(`at ${host} is not accepting connections (${message})`, 'try again in a moment', true);
    if (UNREACHABLE.has(code) || TIMED_OUT.test(message)) {
      const why = code === 'ECONNREFUSED' ? 'nothing is listening there' : code || 'no response';
      return fault(`at ${host} cannot be reached (${why})`, 'start it, or correct the host and port', true);
    }
    return null;
  }

  /** For work that needs PostgreSQL itself. */
  static ofPooler(url: string): DatabaseFault {
    const remedy = `commands hold locks of their session, so give them the address of PostgreSQL itself`;
    return new DatabaseFault(url, `at ${hostOf(url)} is behind a connection pooler`, remedy);
  }

  static ofOldPooler(url: string): DatabaseFault {
    const reason = 'is behind a connection pooler that does not keep the prepared statements of its clients apart';
    const remedy = 'use pgbouncer 1.21 or later with max_prepared_statements = 1000, or PostgreSQL itself';
    return new DatabaseFault(url, `at ${hostOf(url)} ${reason}`, remedy);
  }

  /** @throws DatabaseFault when a server of this version (server_version_num) is too old */
  static checkVersion(version: number, url: string): void {
    const major = Math.floor(version / 10_000);
    if (major >= OLDEST_SERVER) return;
    throw new DatabaseFault(url, `is PostgreSQL ${major}`, `use PostgreSQL ${OLDEST_SERVER} or later`);
  }
}

function hostOf(url: string): string {
  const { hostname, port } = new URL(url);
  return `${hostname}:${port || 5432}`;
}

/** The message of an error that ended a program, with the name of the variable at fault. */
export function inWords(error: unknown): string {
  if (error instanceof DatabaseFault) return error.naming(loadEnv());
  return error instanceof Error ? error.message : String(error);
}
