import type { IncomingMessage } from 'node:http';
import { ApiError } from '../errors/api-error.js';
import { bodyLengthOf, sendContinue } from '@app/serving';
import { parseJson } from './parse-json.js';
import { isUnencoded } from './unencoded.js';

/** The default limit of a JSON body (bytes). */
export const JSON_LIMIT = 1_048_576;

/**
 * Reads a request's JSON body; undefined if there is none. Accepts only UTF-8 without an encoding: every
 * alternative is a way to get something past a filter.
 *
 * @param declared names of the request class
 * @param admit called with the body's possible length before any of it is read; may throw
 * @throws ApiError 413 beyond the limit, 415 for anything that is not plain JSON; ValidationFailed when it does not parse
 */
export async function readJson(
  request: IncomingMessage,
  limit: number,
  declared: ReadonlySet<string>,
  admit: (bytes: number) => void,
): Promise<unknown> {
  const { headers } = request;
  const bytes = bodyLengthOf(request, limit);
  if (bytes === 0) return undefined;
  if (!isPlainJson(headers['content-type']) || !isUnencoded(headers)) {
    throw new ApiError(
      'unsupported_media_type',
      'Send the body as "Content-Type: application/json", in UTF-8, unencoded.',
    );
  }
  if (bytes > limit) throw tooLarge(limit);
  admit(bytes);
  sendContinue(request);
  const body = await readBytes(request, limit);
  return body.length === 0 ? undefined : parseJson(body, declared);
}

function isPlainJson(contentType: string | undefined): boolean {
  const [type, ...parameters] = (contentType ?? '')
    .toLowerCase()
    .split(';')
    .map((part) => part.trim());
  return (
    type === 'application/json' && parameters.every((parameter) => /^(?:charset=(?:utf-8|"utf-8"))?$/.test(parameter))
  );
}

function readBytes(request: IncomingMessage, limit: number): Promise<Buffer> {
  // No further event would follow.
  if (request.destroyed) return Promise.reject(endedEarly());
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= limit) {
        chunks.push(chunk);
      } else {
        // The connection, and the request with it, may stay in memory for a while.
        chunks.length = 0;
        reject(tooLarge(limit));
      }
    });
    request.once('end', () => resolve(Buffer.concat(chunks)));
    request.once('error', reject);
    request.once('aborted', () => reject(endedEarly()));
  });
}

function endedEarly(): ApiError {
  return new ApiError('bad_request', 'The request ended before its body was complete.');
}

function tooLarge(limit: number): ApiError {
  return new ApiError('payload_too_large', `The body is larger than ${limit} bytes.`, { limit });
}
