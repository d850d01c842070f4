import type { LoggerService } from '@nestjs/common';
import { type DestinationStream, type Logger, pino } from 'pino';
import type { Env } from '@app/config';

/**
 * What must never be written down, wherever it stands in a logged object. Only whitelisted fields are logged to begin
 * with; this is the second lock.
 */
const REDACTED = ['authorization', 'cookie', 'key', 'token', 'password', 'email', 'phone', 'first_name', 'last_name'];

/** JSON lines on standard output: ids and codes, never keys, tokens, names, addresses or message texts. */
export class Log implements LoggerService {
  readonly pino: Logger;

  constructor(env: Env, destination?: DestinationStream) {
    this.pino = pino(
      {
        level: env.get('LOG_LEVEL'),
        base: undefined,
        timestamp: pino.stdTimeFunctions.isoTime,
        redact: { paths: [...REDACTED, ...REDACTED.map((name) => `*.${name}`)], censor: '[redacted]' },
        formatters: { level: (label) => ({ level: label }) },
      },
      destination ?? pino.destination({ fd: 1, sync: true }),
    );
  }

  /** A failure of ours. Values of queries stay out: they are people's data. */
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

/** SQLSTATE classes whose messages quote values: data exceptions and constraint violations. */
const QUOTING = /^2[23]/;

/** Name, code and where; the message only where it cannot quote what a person wrote. PostgreSQL's `detail` always may. */
function describe(error: unknown): object {
  if (!(error instanceof Error)) return { name: 'unknown', thrown: typeof error };
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  const stack = error.stack
    ?.split('\n')
    .filter((line) => line.startsWith('    at '))
    .slice(0, 12)
    .join('\n');
  return { name: error.name, code, message: code && QUOTING.test(code) ? undefined : error.message, stack };
}
