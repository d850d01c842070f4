import { isIPv6 } from 'node:net';

/**
 * The network of a client's address: what limits count by, and what a list of sessions shows. Of IPv6 the first half, which
 * one subscriber has; of IPv4 the whole address.
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
