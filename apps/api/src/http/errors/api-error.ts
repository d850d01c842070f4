import type { Away } from '@app/database';
import { type Fault, type Faults, MOST_FAULTS } from '@app/fields';

/** Every code of the standard error body and its status. */
export const STATUS = {
  bad_request: 400,
  missing_api_key: 401,
  invalid_api_key: 401,
  revoked_api_key: 401,
  expired_api_key: 401,
  insufficient_scope: 403,
  platform_blog_required: 403,
  not_found: 404,
  method_not_allowed: 405,
  idempotency_key_in_use: 409,
  invalid_state: 409,
  session_overlap: 409,
  still_referenced: 409,
  is_manager: 409,
  has_money: 409,
  too_many: 409,
  storage_full: 409,
  no_sender: 409,
  no_payer: 409,
  no_address: 409,
  payer_changed: 409,
  maker_left: 409,
  tested_recently: 409,
  still_belongs: 409,
  held: 409,
  not_replayable: 409,
  cursor_expired: 410,
  precondition_failed: 412,
  payload_too_large: 413,
  unsupported_media_type: 415,
  moved: 421,
  validation_failed: 422,
  rate_limit_exceeded: 429,
  headers_too_large: 431,
  internal_error: 500,
  service_unavailable: 503,
} as const;

export type ErrorCode = keyof typeof STATUS;

/** Codes with the status 409. */
export type ConflictCode = { [Code in ErrorCode]: (typeof STATUS)[Code] extends 409 ? Code : never }[ErrorCode];

/** A response other than a success. Thrown anywhere below a controller; the error filter sends it. */
export class ApiError extends Error {
  readonly status: number;

  constructor(
    readonly code: ErrorCode,
    message: string,
    readonly details: Record<string, unknown> = {},
    readonly headers: Record<string, string> = {},
  ) {
    // A response is not a failure on our side: nobody reads its stack, and each frame costs time and memory.
    const frames = Error.stackTraceLimit;
    Error.stackTraceLimit = 0;
    super(message);
    Error.stackTraceLimit = frames;
    this.status = STATUS[code];
  }

  /** Other organizations' records get the same response as records that do not exist. */
  static notFound(): ApiError {
    return new ApiError('not_found', 'No such record in this organization.');
  }

  static platformBlogRequired(): ApiError {
    const rule = 'Only keys with the platform-blog capability may write to the platform’s sites.';
    return new ApiError('platform_blog_required', `${rule} Leave "target" out, or set it to "org".`);
  }

  /** @param required by the request; none if no key can use the operation @param separator of those that are missing: " or " if one is enough */
  static insufficientScope(required: string[], granted: string[], missing = required, separator = ', '): ApiError {
    const lacks = `This API key lacks the scope ${missing.join(separator)}. Create a key with the scopes you need.`;
    const message = missing.length > 0 ? lacks : 'API keys cannot use this operation.';
    return new ApiError('insufficient_scope', message, { required, granted });
  }

  static preconditionFailed(): ApiError {
    const message = 'The record has changed in the meantime. Read it again, then repeat your change.';
    return new ApiError('precondition_failed', message);
  }

  static cursorExpired(): ApiError {
    const steps =
      'Ask for cursor=now and keep its next_cursor, then read the lists again, then go on from the cursor that you kept.';
    return new ApiError('cursor_expired', `Events after this cursor are no longer kept. To catch up: ${steps}`);
  }

  /** @param retryAfter seconds */
  static unavailable(retryAfter = 1): ApiError {
    const message = 'The service is temporarily unavailable. Try again in a moment.';
    return new ApiError('service_unavailable', message, {}, { 'Retry-After': String(retryAfter) });
  }
}

/** Nothing was asked of the organization: no audit row, and no log line besides the access log's. */
export abstract class Unnoted extends ApiError {}

/** The process is at capacity. Refusing must cost next to nothing. */
export class Overloaded extends Unnoted {
  /** @param retryAfter seconds */
  constructor(retryAfter: number) {
    const message = 'The service is too busy right now. Try again in a moment.';
    super('service_unavailable', message, {}, { 'Retry-After': String(retryAfter) });
  }
}

/** The organization is being moved to another installation, which takes some minutes, or has moved. nginx passes a 421 on to its new home. */
export class NotAtHome extends Unnoted {
  constructor({ movedTo }: Away) {
    if (movedTo === null)
      super(
        'service_unavailable',
        'This organization is being moved to another server. Try again in a minute.',
        {},
        { 'Retry-After': '30' },
      );
    else super('moved', `This organization has moved to ${movedTo}.`, { moved_to: movedTo }, { 'Moved-To': movedTo });
  }
}

/** One fault in a request: its location, its type (as in pydantic) and what to change. */
export interface FaultDetail {
  loc: (string | number)[];
  msg: string;
  type: string;
}

/** All faults of a request together: 422. */
export class ValidationFailed extends ApiError {
  readonly faults: FaultDetail[];

  static of({ list, count }: Faults): ValidationFailed {
    return new ValidationFailed(
      list.map(({ at, msg, type }) => ({ loc: [...at], msg, type })),
      count,
    );
  }

  /** A JSON body with this fault. */
  static inBody({ at, msg, type }: Fault): ValidationFailed {
    return new ValidationFailed([{ loc: ['body', ...at], msg, type }]);
  }

  /** @param count the number of all faults, if `faults` has only the first ones */
  constructor(faults: FaultDetail[], count = faults.length) {
    super('validation_failed', 'The request is invalid.');
    const more = count - MOST_FAULTS;
    this.faults = faults.slice(0, MOST_FAULTS);
    const last = this.faults.at(-1);
    const msg = `${last?.msg} Errors not listed: ${more.toLocaleString('en')}.`;
    if (last && more > 0) this.faults[MOST_FAULTS - 1] = { ...last, msg };
  }
}
