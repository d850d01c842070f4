import { createHash } from 'node:crypto';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { ApiError } from '../errors/api-error.js';
import { JsonText } from '../views/json-text.js';

/** The entity tags that a caller accepts: `*` is any; null without an If-Match header. */
export type Expected = string[] | '*' | null;

/** `"…"`, or `W/"…"`, separated by commas; elements of the list may be empty (RFC 9110, sections 5.6.1 and 8.8.3). */
const TAGS = /^[\s,]*(?:(?:W\/)?"[\x21\x23-\x7e]*"\s*(?:,[\s,]*|$))+$/;

/** The version that the caller wants to change, from `If-Match`. @throws ApiError 400 for a malformed header */
export const IfMatch = createParamDecorator((_data: unknown, context: ExecutionContext): Expected => {
  const header = context.switchToHttp().getRequest<Request>().headers['if-match'];
  if (header === undefined) return null;
  if (header === '*') return '*';
  if (TAGS.test(header)) return header.match(/(?:W\/)?"[^"]*"/g);
  throw new ApiError('bad_request', 'If-Match must be the ETag of a response, including its quotes, or *.');
});

const hashOf = (text: string, length: number) => createHash('sha256').update(text).digest('base64url').slice(0, length);

/** How much of a tag, with its quote, is of what only writes change, where a record has other fields. */
const LASTING = 14;

/** The record with its strong entity tag: the same for all who may see it. */
export function tagged({ text, version, lasting }: JsonText): JsonText & { etag: string } {
  const tag = lasting === undefined ? hashOf(version, 27) : hashOf(lasting, LASTING - 1) + hashOf(version, 14);
  return new JsonText(text, `"${tag}"`) as JsonText & { etag: string };
}

/** @throws ApiError 412 unless this is the version of a list that the caller expects; it must expect one */
export function requireVersionOfList(version: string, expected: Expected): void {
  if (expected === null) throw new ApiError('precondition_failed', 'Send the ETag of the list in If-Match.');
  if (expected !== '*' && !expected.includes(version)) throw ApiError.preconditionFailed();
}

/** @throws ApiError 412 when the record's version is not the one that the caller expects */
export function requireVersion(record: JsonText, expected: Expected): void {
  if (expected === null || expected === '*') return;
  const { etag } = tagged(record);
  const compared = record.lasting === undefined ? etag.length : LASTING;
  if (expected.some((one) => one.length === etag.length && one.startsWith(etag.slice(0, compared)))) return;
  throw ApiError.preconditionFailed();
}
