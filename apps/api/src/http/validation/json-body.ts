import type { IncomingMessage } from 'node:http';
import { ApiError, ValidationFailed } from '../errors/api-error.js';
import { sendContinue } from '../request/continue.js';

/** What a JSON body may hold where a route does not say otherwise. */
export const JSON_LIMIT = 1_048_576;

/** Deeper nesting than any request has; much deeper overflows the stack of whoever walks it. */
const MOST_DEPTH = 32;

/**
 * Reads a request's JSON body; undefined when there is none. Only UTF-8 and no content encoding: a second way to say the
 * same is a second way to smuggle something by.
 *
 * @throws ApiError 413 beyond the limit, 415 for anything that is not plain JSON; ValidationFailed when it does not parse
 */
export async function readJson(request: IncomingMessage, limit: number): Promise<unknown> {
  const { headers } = request;
  const length = headers['content-length'];
  if (headers['transfer-encoding'] === undefined && (length === undefined || length === '0')) return undefined;
  if (!isPlainJson(headers['content-type']) || (headers['content-encoding'] ?? 'identity') !== 'identity') {
    throw new ApiError(
      'unsupported_media_type',
      'Send the body as "Content-Type: application/json", in UTF-8, unencoded.',
    );
  }
  if (Number(length) > limit) throw tooLarge(limit);
  sendContinue(request);
  const bytes = await readBytes(request, limit);
  return bytes.length === 0 ? undefined : parse(bytes);
}

function isPlainJson(contentType: string | undefined): boolean {
  const [type, ...parameters] = (contentType ?? '')
    .toLowerCase()
    .split(';')
    .map((part) => part.trim());
  return type === 'application/json' && parameters.every((parameter) => /^charset="?utf-8"?$/.test(parameter));
}

function readBytes(request: IncomingMessage, limit: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= limit) chunks.push(chunk);
      else reject(tooLarge(limit));
    });
    request.once('end', () => resolve(Buffer.concat(chunks)));
    request.once('error', reject);
    request.once('aborted', () => reject(new ApiError('bad_request', 'The request ended before its body did.')));
  });
}

function parse(bytes: Buffer): unknown {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw invalid('The body is not valid UTF-8.');
  }
  if (depthOf(text) > MOST_DEPTH) throw invalid(`The body is nested deeper than ${MOST_DEPTH} levels.`);
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw invalid('The body is not valid JSON.');
  }
}

/** How deep brackets nest outside of strings; cheaper than parsing, and never recursive. */
function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  let inString = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (inString) {
      if (code === 0x5c) at++;
      else if (code === 0x22) inString = false;
    } else if (code === 0x22) inString = true;
    else if (code === 0x7b || code === 0x5b) deepest = Math.max(deepest, ++depth);
    else if (code === 0x7d || code === 0x5d) depth--;
  }
  return deepest;
}

function invalid(msg: string): ValidationFailed {
  return new ValidationFailed([{ loc: ['body'], msg, type: 'json_invalid' }]);
}

function tooLarge(limit: number): ApiError {
  // The rest of the body is not worth reading: the connection ends with the answer.
  return new ApiError('payload_too_large', `The body is over ${limit} bytes.`, { limit }, { Connection: 'close' });
}
