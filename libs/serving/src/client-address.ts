import type { IncomingMessage } from 'node:http';

/**
 * The address that a request comes from.
 *
 * @param behindProxy whether to take the address that our own proxy added; a client can forge those before it
 */
export function clientAddress({ headers, socket }: IncomingMessage, behindProxy: boolean): string {
  const addresses = behindProxy ? String(headers['x-forwarded-for'] ?? '').split(',') : [];
  return addresses.findLast((address) => address.trim() !== '')?.trim() ?? socket.remoteAddress ?? 'unknown';
}

/** The network of a client: its IPv4 address, or the /56 that one IPv6 subscriber has. */
export function clientNetwork(request: IncomingMessage, behindProxy: boolean): string {
  return clientAddress(request, behindProxy);
}
