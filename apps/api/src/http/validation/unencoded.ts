import type { IncomingHttpHeaders } from 'node:http';

/** Whether the body arrives as it was written. Node undoes no coding other than chunks, and every other one is refused. */
export function isUnencoded(headers: IncomingHttpHeaders): boolean {
  const { 'content-encoding': content = 'identity', 'transfer-encoding': transfer = 'chunked' } = headers;
  return content.toLowerCase() === 'identity' && transfer.toLowerCase() === 'chunked';
}
