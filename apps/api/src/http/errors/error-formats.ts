import { type ApiError, ValidationFailed } from './api-error.js';

/** The body of an error, in one of the contract's three shapes. */
export function errorBody(error: ApiError): object {
  if (error instanceof ValidationFailed) return validationBody(error);
  return error.code === 'expired_api_key' ? expiredKeyBody(error) : standardBody(error);
}

function standardBody({ code, message, status, details }: ApiError): object {
  return { error: { code, message, status, details } };
}

function expiredKeyBody({ status, message }: ApiError): object {
  return { code: status, message, data: {} };
}

function validationBody({ faults }: ValidationFailed): object {
  return { detail: faults };
}
