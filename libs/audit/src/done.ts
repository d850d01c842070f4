import type { AuditDetails } from './audit-log.js';

/** What a write did. */
export interface Done {
  /** Of a new record. */
  id?: string;
  /** Whether anything changed; false if it had happened before. */
  changed?: boolean;
  /** The record was here already: a POST answers 200. */
  existed?: boolean;
  /** What its audit row says besides the ids. */
  audit?: AuditDetails;
  /** The response, if it is not the record. */
  answer?: unknown;
}

/** The result of a rule: the id of a new record, whether anything changed, or nothing; or all that there is to say. */
// eslint-disable-next-line @typescript-eslint/no-invalid-void-type -- what a rule returns that returns nothing
export type Result = string | boolean | void | Done;

/** A result that says nothing else: that would be lost. */
export type Exactly<R> = R & (R extends object ? Partial<Record<Exclude<keyof R, keyof Done>, never>> : unknown);

export function doneOf(result: Result): Done {
  if (typeof result === 'string') return { id: result };
  return typeof result === 'boolean' ? { changed: result } : (result ?? {});
}
