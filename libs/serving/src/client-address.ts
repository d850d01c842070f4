import type { IncomingMessage } from 'node:http';

/**
 * Where a request comes from.
 *
 * @param behindProxy whether our own proxy says so; addresses before the one that it has added are the client's to choose
 */
export function clientAddress({ headers, socket }: IncomingMessage, behindProxy: boolean): string {
  const addresses = behindProxy ? String(headers['x-forwarded-for'] ?? '').split(',') : [];
  return addresses.findLast((address) => address.trim() !== '')?.trim() ?? socket.remoteAddress ?? 'unknown';
}
