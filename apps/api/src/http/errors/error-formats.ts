import type { HttpFault, RawResponse } from '@app/serving';
import { ApiError, ValidationFailed } from './api-error.js';

/** An error as the response to input that is not a request. */
export function rawResponse(error: ApiError): RawResponse {
  return {
    status: error.status,
    headers: { ...error.headers, 'Content-Type': 'application/json; charset=utf-8' },
    body: JSON.stringify(errorBody(error)),
  };
}

/** A violation of HTTP itself as an API error. */
export function fromHttp({ status, message }: HttpFault): ApiError {
  if (status === 431) return new ApiError('headers_too_large', message);
  return Object.assign(new ApiError('bad_request', message), { status });
}

/** The body of an error, in one of the contract's three shapes. */
export function errorBody(error: ApiError): object {
  const { code, message, status, details } = error;
  if (error instanceof ValidationFailed) return { detail: error.faults };
  return code === 'expired_api_key'
    ? { code: status, message, data: {} }
    : { error: { code, message, status, details } };
}
