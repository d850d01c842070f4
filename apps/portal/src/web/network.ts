import { isIPv6 } from 'node:net';

/**
 * The network of a client's address, used by limits and shown in the list of sessions: the first half of an IPv6
 * address, which belongs to one subscriber, or the whole IPv4 address.
 */
export function networkOf(address = ''): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '');
  if (!isIPv6(plain)) return plain || 'unknown';
  const [left = '', right] = plain.split('%')[0]!.split('::');
  const parts = left === '' ? [] : left.split(':');
  const rest = right === undefined || right === '' ? [] : right.split(':');
  const whole = [...parts, ...Array<string>(Math.max(0, 8 - parts.length - rest.length)).fill('0'), ...rest];
  return `${whole.slice(0, 4).join(':')}::/64`;
}
