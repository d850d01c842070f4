import type { IncomingMessage } from 'node:http';
import { ApiError } from '../errors/api-error.js';
import { parseJson } from './parse-json.js';
import { isUnencoded } from './unencoded.js';

/** The default limit of a JSON body (bytes). */
export const JSON_LIMIT = 1_048_576;

/**
 * Reads a request's JSON body; undefined if there is none. Accepts only UTF-8 without an encoding: every
 * alternative is a way to get something past a filter.
 *
 * @param declared names of the request class
 * @param arrived called with the length of each piece
 * @param refused ends the reading
 * @throws ApiError 413 beyond the limit, 415 for anything that is not plain JSON; ValidationFailed when it does not parse
 */
export async function readJson(
  request: IncomingMessage,
  limit: number,
  declared: ReadonlySet<string>,
  arrived: (bytes: number) => void,
  refused: AbortSignal,
): Promise<unknown> {
  const { headers } = request;
  const isChunked = headers['transfer-encoding'] !== undefined;
  const length = Number(headers['content-length'] ?? 0);
  if (length === 0 && !isChunked) return undefined;
  if (!isPlainJson(headers['content-type']) || !isUnencoded(headers)) {
    throw new ApiError(
      'unsupported_media_type',
      'Send the body as "Content-Type: application/json", in UTF-8, unencoded.',
    );
  }
  if (length > limit) throw tooLarge(limit);
  const body = await readBytes(request, limit, arrived, refused);
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

function readBytes(
  request: IncomingMessage,
  limit: number,
  arrived: (bytes: number) => void,
  refused: AbortSignal,
): Promise<Buffer> {
  // No further event would follow.
  if (request.destroyed) return Promise.reject(endedEarly());
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    // The rest is read and thrown away, so that the connection can carry the response and the next request.
    const giveUp = (reason: Error) => {
      chunks.length = 0;
      size = Infinity;
      reject(reason);
    };
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size === Infinity) return;
      if (size > limit) giveUp(tooLarge(limit));
      else {
        chunks.push(chunk);
        arrived(chunk.length);
      }
    });
    refused.addEventListener('abort', () => {
      giveUp(refused.reason as Error);
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
