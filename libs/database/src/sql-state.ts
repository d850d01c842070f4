import { QueryFailedError } from 'typeorm';

/** https://www.postgresql.org/docs/17/errcodes-appendix.html */
export const SQLSTATE = {
  foreignKeyViolation: '23503',
  uniqueViolation: '23505',
  checkViolation: '23514',
  exclusionViolation: '23P01',
  serializationFailure: '40001',
  deadlockDetected: '40P01',
  insufficientPrivilege: '42501',
  queryCanceled: '57014',
} as const;

/** The driver's error inside a TypeORM error; any other error unchanged. */
export function driverErrorOf(error: unknown): unknown {
  return error instanceof QueryFailedError ? error.driverError : error;
}

/** The SQLSTATE of a PostgreSQL error, wrapped by TypeORM or not; undefined for any other error. */
export function sqlStateOf(error: unknown): string | undefined {
  const { code } = (driverErrorOf(error) ?? {}) as { code?: unknown };
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) ? code : undefined;
}
