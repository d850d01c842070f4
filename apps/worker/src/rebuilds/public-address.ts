import { lookup, type LookupAddress } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';

/** IPv4 networks outside the public internet: private, shared, link-local, documentation, multicast, reserved. */
const NOT_PUBLIC = new BlockList();
// prettier-ignore
for (const [address, prefix] of [
  ['0.0.0.0', 8], ['10.0.0.0', 8], ['100.64.0.0', 10], ['127.0.0.0', 8], ['169.254.0.0', 16], ['172.16.0.0', 12],
  ['192.0.0.0', 24], ['192.0.2.0', 24], ['192.88.99.0', 24], ['192.168.0.0', 16], ['198.18.0.0', 15],
  ['198.51.100.0', 24], ['203.0.113.0', 24], ['224.0.0.0', 4], ['240.0.0.0', 4],
] as const) {
  NOT_PUBLIC.addSubnet(address, prefix, 'ipv4');
}
// Looks public, and is the agent of Azure's hosts.
NOT_PUBLIC.addAddress('168.63.129.16', 'ipv4');
// prettier-ignore
for (const [address, prefix] of [['2001::', 23], ['2001:db8::', 32], ['2002::', 16], ['3fff::', 20]] as const) {
  NOT_PUBLIC.addSubnet(address, prefix, 'ipv6');
}
/** All public IPv6 addresses; excludes mapped and translated IPv4 addresses. */
const GLOBAL = new BlockList();
GLOBAL.addSubnet('2000::', 3, 'ipv6');

/** Whether an address belongs to the public internet. */
export function isPublic(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return !NOT_PUBLIC.check(address, 'ipv4');
  return family === 6 && GLOBAL.check(address, 'ipv6') && !NOT_PUBLIC.check(address, 'ipv6');
}

/** The error of a call to an address that is not public. */
export class AddressNotPublic extends Error {}

/** Resolves a name for a connection, which uses the address that was checked: the name cannot change in between. */
export const lookUpPublic: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, { ...options, all: true }, (error, found: LookupAddress[]) => {
    const refusal = error ?? (found.every(({ address }) => isPublic(address)) ? null : new AddressNotPublic());
    if (refusal) callback(refusal, '', 0);
    else if (options.all) callback(null, found);
    else callback(null, found[0]!.address, found[0]!.family);
  });
};
