import type { Refused } from '@app/rules';
import { ApiError, type ConflictCode, ValidationFailed } from './api-error.js';

/** What a rule refused, as the response; null for a conflict that the operation does not document: a fault on our side, which tests find as a 500. */
export function fromRefused(
  { why, message }: Refused,
  conflicts: readonly ConflictCode[],
  params: object,
): ApiError | null {
  if (why.kind === 'not_found') return ApiError.notFound();
  if (why.kind === 'invalid') {
    const id = Object.keys(params).at(-1);
    const record = id === undefined ? ['body'] : ['path', id];
    const faults = why.refusals.map(({ at, reason: msg }) => {
      return { loc: at.length > 0 ? ['body', ...at] : record, msg, type: 'value_error' };
    });
    return new ValidationFailed(faults);
  }
  const { code, details } =
    why.kind === 'conflict' ? why : { code: 'invalid_state', details: { state: why.state, allowed: why.allowed } };
  const documented = conflicts.find((conflict) => conflict === code);
  return documented ? new ApiError(documented, message, details) : null;
}
