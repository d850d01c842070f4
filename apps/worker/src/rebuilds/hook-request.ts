import { once } from 'node:events';
import { type IncomingMessage, request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP } from 'node:net';
import { AddressNotPublic, isPublic, lookUpPublic } from './public-address.js';

interface Post {
  headers: Record<string, string>;
  body: string;
  /** Whether only addresses of the public internet are allowed. */
  publicOnly: boolean;
  signal: AbortSignal;
}

/** Sends a POST, without following redirects. @returns the status; the body is ignored */
export async function post(address: string, { headers, body, publicOnly, signal }: Post): Promise<number> {
  const url = new URL(address);
  const host = url.hostname.replace(/^\[|\]$/g, '');
  // The look-up function is not called for an IP address.
  if (publicOnly && isIP(host) && !isPublic(host)) throw new AddressNotPublic();
  const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
  const length = String(Buffer.byteLength(body));
  const request = send(url, {
    method: 'POST',
    headers: { ...headers, 'Content-Length': length },
    agent: false,
    signal,
    ...(publicOnly && { lookup: lookUpPublic }),
  });
  request.end(body);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  response.on('error', () => undefined).destroy();
  return response.statusCode!;
}
