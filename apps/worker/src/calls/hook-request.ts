import { once } from 'node:events';
import { lookup, type LookupAddress } from 'node:dns';
import { type IncomingMessage, request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { hostOf, isPublic } from '@app/webhooks';

interface Post {
  headers: Record<string, string>;
  body: string;
  /** Whether this address may be called. */
  admits: (address: string) => boolean;
  signal: AbortSignal;
}

export interface Response {
  status: number;
  /** How the receiver wishes to be called again: `Retry-After`. */
  retryAfter: string | null;
  /** The beginning of its body; null from an address that is not public, whose answers are none of the organization's business. */
  text: string | null;
}

/** How much of a response is kept (bytes), and how long it may take to arrive (ms): the status counts, whatever follows. */
const KEPT_BYTES = 2_048;
const BODY_MS = 2_000;

/** The error of a call to an address that may not be called. */
export class AddressNotPublic extends Error {}

/** Sends a POST, without following redirects. */
export async function post(address: string, { headers, body, admits, signal }: Post): Promise<Response> {
  const url = new URL(address);
  // The look-up function is not called for an IP address.
  const host = hostOf(url);
  if (isIP(host) && !admits(host)) throw new AddressNotPublic();
  const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
  const request = send(url, {
    method: 'POST',
    headers: { ...headers, 'Content-Length': String(Buffer.byteLength(body)) },
    agent: false,
    signal,
    lookup: lookUpAdmitted(admits),
  });
  request.end(body);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  request.on('error', () => undefined);
  const kept = isPublic(response.socket.remoteAddress ?? '');
  const text = kept ? await beginningOf(response) : null;
  response.on('error', () => undefined).destroy();
  return { status: response.statusCode!, retryAfter: response.headers['retry-after'] ?? null, text };
}

/** Resolves a name for a connection, which uses the address that was checked: the name cannot change in between. */
const lookUpAdmitted =
  (admits: (address: string) => boolean): LookupFunction =>
  (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, found: LookupAddress[]) => {
      const refusal = error ?? (found.every(({ address }) => admits(address)) ? null : new AddressNotPublic());
      if (refusal) callback(refusal, '', 0);
      else if (options.all) callback(null, found);
      else callback(null, found[0]!.address, found[0]!.family);
    });
  };

async function beginningOf(response: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let size = 0;
  const timer = setTimeout(() => response.destroy(), BODY_MS);
  try {
    for await (const part of response as AsyncIterable<Buffer>) {
      parts.push(part);
      size += part.length;
      if (size >= KEPT_BYTES) break;
    }
  } catch {
    // Whoever closes early has said what they wanted to.
  } finally {
    clearTimeout(timer);
  }
  // A character may be cut in two; PostgreSQL stores no NUL.
  const bytes = Buffer.concat(parts).subarray(0, KEPT_BYTES);
  return new TextDecoder().decode(bytes, { stream: true }).replaceAll('\0', '');
}
