import fs from 'node:fs';
import type { LoggerService } from '@nestjs/common';
import { type DestinationStream, type Logger, type LoggerOptions, pino } from 'pino';
import type { Env } from '@app/config';

/** Keys that must never be logged, at any depth. A second safeguard: only allowed fields are logged anyway. */
const REDACTED = ['authorization', 'cookie', 'key', 'token', 'password', 'email', 'phone', 'first_name', 'last_name'];

/**
 * Lines are written in blocks of this size, or after this time (ms); a system call per line would be a noticeable part of a request. A kill -9
 * may lose the last lines, but writes are audited. Pino wants less than it writes at once (16 KiB).
 */
const BUFFER = 15_360;
const FLUSH_EVERY = 100;

/** A logged request: ids and fixed words, never text that a person wrote. */
export interface AccessLine {
  /** A client may choose it, from letters, digits and a few signs. */
  request_id: string;
  key_id?: string;
  organization_id?: string;
  method: string;
  route: string;
  status: number;
  ms: number;
}

/** JSON lines on standard output: ids and codes, never keys, tokens, names, addresses or texts of messages. */
export class Log implements LoggerService {
  readonly pino: Logger;
  private readonly accesses: Logger;

  constructor(env: Env, destination?: DestinationStream) {
    const options: LoggerOptions = {
      level: env.get('LOG_LEVEL'),
      base: undefined,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    };
    const redact = { paths: [...REDACTED, ...REDACTED.map((name) => `*.${name}`)], censor: '[redacted]' };
    const out = destination ?? standardOutput();
    this.pino = pino({ ...options, redact }, out);
    this.accesses = pino(options, out);
  }

  /** One line per request. Its few known fields need no redaction. */
  access(line: AccessLine): void {
    this.accesses.info(line, 'request');
  }

  /** Logs a failure on our side. Omits query values, which are personal data. */
  failure(error: unknown, requestId: string | null, code: string): void {
    this.pino.error({ request_id: requestId, code, err: describe(error) }, 'failure');
  }

  log(message: unknown, context?: string): void {
    this.pino.info({ context }, String(message));
  }

  error(message: unknown, stack?: string, context?: string): void {
    this.pino.error({ context, stack }, String(message));
  }

  warn(message: unknown, context?: string): void {
    this.pino.warn({ context }, String(message));
  }

  debug(message: unknown, context?: string): void {
    this.pino.debug({ context }, String(message));
  }

  verbose(message: unknown, context?: string): void {
    this.pino.trace({ context }, String(message));
  }
}

/** How much is buffered while the log cannot be written (bytes); later lines are dropped. */
const KEPT_WHILE_FULL = 1_048_576;

/** A full disk must not affect requests: failed lines are retried with the next ones. */
function standardOutput(): DestinationStream {
  const options = { minLength: BUFFER, periodicFlush: FLUSH_EVERY, maxLength: KEPT_WHILE_FULL };
  const out = pino.destination({ fd: 1, sync: false, ...options });
  let failing = false;
  out.on('error', () => (failing = true));
  out.on('write', () => (failing = false));
  // Pino flushes at exit.
  const flushSync = out.flushSync.bind(out);
  out.flushSync = () => {
    if (!failing) withoutRetries(flushSync);
  };
  return out;
}

/** Pino repeats a failed write for ever, and the process would never end: a write that fails passes for done. */
function withoutRetries(flush: () => void): void {
  const { writeSync } = fs;
  fs.writeSync = ((fd: number, text: string) => {
    try {
      return writeSync(fd, text);
    } catch {
      return Buffer.byteLength(text);
    }
  }) as typeof writeSync;
  try {
    flush();
  } finally {
    fs.writeSync = writeSync;
  }
}

/** PostgreSQL's codes have a digit; Node's (EPIPE) don't. */
const SQLSTATE = /^(?=.*\d)[0-9A-Z]{5}$/;

/** SQLSTATE classes whose messages quote no values. https://www.postgresql.org/docs/17/errcodes-appendix.html */
const PLAIN = /^(?:08|25|28|3D|40|42|53|54|55|57|58)/;

/** Fields of a PostgreSQL error with our own names, never values. `detail` and `hint` may quote. */
const NAMES = ['routine', 'schema', 'table', 'column', 'constraint'] as const;

/** Name, code and location; the message only if it cannot quote what a person wrote. */
function describe(error: unknown): object {
  if (!(error instanceof Error)) return { name: 'unknown', thrown: typeof error };
  const fields = error as Error & { code?: unknown } & Partial<Record<(typeof NAMES)[number], unknown>>;
  const code = typeof fields.code === 'string' ? fields.code : undefined;
  const described = { name: error.name, code, stack: framesOf(error) };
  if (!code || !SQLSTATE.test(code)) return { ...described, message: error.message };
  const raised = String(fields.routine).startsWith('exec_stmt_');
  const names = Object.fromEntries(NAMES.map((name) => [name, fields[name]]));
  return { ...described, ...names, message: PLAIN.test(code) && !raised ? error.message : undefined };
}

/** The stack frames. The stack begins with the message, which may contain lines that look like frames. */
function framesOf({ stack = '', message }: Error): string {
  const start = stack.indexOf(message);
  if (start < 0) return '';
  const frames = stack.slice(start + message.length).split('\n');
  return frames
    .filter((line) => line.startsWith('    at '))
    .slice(0, 12)
    .join('\n');
}
