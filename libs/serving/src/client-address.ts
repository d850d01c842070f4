import type { IncomingMessage } from 'node:http';
import { normalizeIp } from '@nestjs/throttler';

/** The address that a request comes from: with a proxy, the one that it added; a client can forge those before it. */
export function clientAddress({ headers, socket }: IncomingMessage, behindProxy: boolean): string {
  const addresses = behindProxy ? String(headers['x-forwarded-for'] ?? '').split(',') : [];
  return addresses.findLast((address) => address.trim() !== '')?.trim() ?? socket.remoteAddress ?? 'unknown';
}

/** The network that limits count: an IPv4 address, or the /56 that an IPv6 subscriber usually gets. */
export function networkOf(address = 'unknown'): string {
  return normalizeIp(address, 56);
}
