import { QueueFull } from '@app/concurrency';
import { DeadlineExceeded } from '@app/database';
import { ApiError, MOST_FAULTS, STATUS, ValidationFailed } from '../../../apps/api/src/http/errors/api-error.js';
import { fromDatabase } from '../../../apps/api/src/http/errors/database-errors.js';
import { errorBody, fromHttp, rawResponse } from '../../../apps/api/src/http/errors/error-formats.js';

const faultsOf = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ loc: ['body', index], msg: `Fault ${index}.`, type: 'extra' }));

describe('the body of an error', () => {
  it('has its code, message, status and details', () => {
    const error = new ApiError('invalid_state', 'Not now.', { state: 'draft' });
    expect(errorBody(error)).toEqual({
      error: { code: 'invalid_state', message: 'Not now.', status: 409, details: { state: 'draft' } },
    });
    expect(errorBody(ApiError.notFound())).toMatchObject({ error: { code: 'not_found', status: 404, details: {} } });
  });

  it('has another form for an expired key, and for faults of a request', () => {
    expect(errorBody(new ApiError('expired_api_key', 'Too late.'))).toEqual({
      code: 401,
      message: 'Too late.',
      data: {},
    });
    expect(errorBody(new ValidationFailed(faultsOf(2)))).toEqual({ detail: faultsOf(2) });
  });

  it('lists the first faults, and counts the others', () => {
    for (const [count, known] of [
      [MOST_FAULTS, MOST_FAULTS],
      [MOST_FAULTS + 1, MOST_FAULTS + 1],
      [5_000, MOST_FAULTS],
    ] as const) {
      const { faults } = new ValidationFailed(faultsOf(known), count);
      const more = count > MOST_FAULTS ? ` Errors not listed: ${(count - MOST_FAULTS).toLocaleString('en')}.` : '';
      const last = faultsOf(MOST_FAULTS).at(-1)!;
      expect(faults).toEqual([...faultsOf(MOST_FAULTS - 1), { ...last, msg: `${last.msg}${more}` }]);
    }
    expect(new ValidationFailed([], 5_000).faults).toEqual([]);
  });

  it('names the scopes that are missing', () => {
    const messageOf = (...missing: string[]) => ApiError.insufficientScope(missing, ['read'], ' or ');
    expect(messageOf('write', 'keys:write')).toMatchObject({
      status: 403, details: { required: ['write', 'keys:write'], granted: ['read'] },
      message: expect.stringContaining('lacks the scope write or keys:write.') as string,
    }); // prettier-ignore
    expect(messageOf().message).not.toContain('lacks');
  });
});

describe('the response to input that is not a request', () => {
  it('has the same body, as JSON, and the headers of the error', () => {
    const error = ApiError.unavailable(7);
    expect(rawResponse(error)).toEqual({
      status: 503, body: JSON.stringify(errorBody(error)),
      headers: { 'Retry-After': '7', 'Content-Type': 'application/json; charset=utf-8' },
    }); // prettier-ignore
  });

  it('keeps the status of what HTTP forbids', () => {
    const codes = [431, 400, 408].map((status) => fromHttp({ status, message: 'No.' }));
    expect(codes.map(({ status, code, message }) => [status, code, message])).toEqual([
      [431, 'headers_too_large', 'No.'], [400, 'bad_request', 'No.'], [408, 'bad_request', 'No.'],
    ]); // prettier-ignore
  });
});

describe('an error of the database', () => {
  it('is a 503 with Retry-After if it is passing, and none of ours otherwise', () => {
    for (const error of [new QueueFull(), new DeadlineExceeded()]) {
      expect(fromDatabase(error)).toMatchObject({
        status: STATUS.service_unavailable,
        headers: { 'Retry-After': '1' },
      });
    }
    expect(fromDatabase(new Error('Something else'))).toBeNull();
  });

  it('has no stack, which costs time, and leaves those of other errors', () => {
    expect(ApiError.notFound().stack).not.toContain('\n');
    expect(new Error('ours').stack).toContain('\n');
  });
});
