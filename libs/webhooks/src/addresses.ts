import { BlockList, isIP } from 'node:net';
import { Injectable } from '@nestjs/common';
import { Env } from '@app/config';

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
// prettier-ignore
for (const [address, prefix] of [['2001::', 23], ['2001:db8::', 32], ['2002::', 16], ['3fff::', 20]] as const) {
  NOT_PUBLIC.addSubnet(address, prefix, 'ipv6');
}
/** All public IPv6 addresses; excludes mapped and translated IPv4 addresses. */
const GLOBAL = new BlockList();
GLOBAL.addSubnet('2000::', 3, 'ipv6');

/** What clouds tell their own machines, credentials included: of AWS, Azure, Google, Oracle, Alibaba. Azure's looks public. */
const AGENTS = new BlockList();
AGENTS.addSubnet('169.254.0.0', 16, 'ipv4');
for (const address of ['168.63.129.16', '192.0.0.192', '100.100.100.200']) AGENTS.addAddress(address, 'ipv4');
for (const address of ['fd00:ec2::254', 'fd20:ce::254']) AGENTS.addAddress(address, 'ipv6');

/** The ports of https that organizations may call in production. */
const PORTS = ['', '443', '8443'];

/** An IPv4 address inside an IPv6 one, mapped or translated, is judged as itself. */
const EMBEDDED = /^(?:::ffff:|64:ff9b::)([0-9a-f]{1,4}):([0-9a-f]{1,4})$/;

/** Whether an address belongs to the public internet. */
export function isPublic(address: string): boolean {
  const family = isIP(address);
  if (family === 0 || isAgent(address)) return false;
  if (family === 4) return !NOT_PUBLIC.check(address, 'ipv4');
  return GLOBAL.check(address, 'ipv6') && !NOT_PUBLIC.check(address, 'ipv6');
}

const checks = (list: BlockList, address: string): boolean =>
  list.check(address, isIP(address) === 4 ? 'ipv4' : 'ipv6');

function isAgent(address: string): boolean {
  return checks(AGENTS, plain(address));
}

function plain(address: string): string {
  if (isIP(address) !== 6) return address;
  const [, high, low] = EMBEDDED.exec(hostOf(new URL(`http://[${address.replace(/%.*/, '')}]`))) ?? [];
  if (!high) return address;
  const bits = Number.parseInt(high, 16) * 65_536 + Number.parseInt(low!, 16);
  return [24, 16, 8, 0].map((shift) => (bits >>> shift) & 255).join('.');
}

/** The host of a URL, as `isIP` takes it. */
export const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '');

/** @throws RangeError with a message for users; it omits the URL, which may contain a password */
export function hookUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (!url || !['http:', 'https:'].includes(url.protocol)) throw new RangeError('Enter an http(s) URL.');
  const rule = 'The URL must not contain a user name or password. Calls are signed: check the signature instead.';
  if (url.username || url.password) throw new RangeError(rule);
  return url.href;
}

/**
 * Where build hooks and webhooks of organizations may point: in production to public addresses, by https on two ports,
 * and to what WEBHOOK_PRIVATE_NETWORKS admits; nowhere to the agents of clouds.
 */
@Injectable()
export class Addresses {
  private readonly networks = new BlockList();
  private readonly admitsNetworks: boolean;
  /** `<slug> <host>:<port>` */
  private readonly places = new Set<string>();
  private readonly production: boolean;

  constructor(env: Env) {
    this.production = env.production;
    const { networks, places } = env.get('WEBHOOK_PRIVATE_NETWORKS');
    this.admitsNetworks = networks.length > 0;
    for (const { address, prefix } of networks)
      this.networks.addSubnet(address, prefix, isIP(address) === 4 ? 'ipv4' : 'ipv6');
    for (const place of places) this.places.add(place);
  }

  /**
   * The URL as it is stored. Names are not resolved: they may lead elsewhere tomorrow, so that each call checks again.
   *
   * @param slug of the organization @throws RangeError with a message for users
   */
  check(text: string, slug: string): string {
    const href = hookUrl(text);
    const url = new URL(href);
    if (href.length > 2_000) throw new RangeError('The URL can have at most 2000 characters.');
    const host = hostOf(url);
    if (isIP(host) !== 0 && !this.admits(host, url, slug))
      throw new RangeError('The address must be on the public internet.');
    if (isIP(host) === 0 && !this.admitsNetworks && !this.takes(url, slug))
      throw new RangeError('The URL must begin with https:// and use port 443 or 8443.');
    return href;
  }

  /** Whether this organization's URL may be called at this address, which its host resolved to. */
  admits(address: string, url: URL, slug: string | null): boolean {
    if (isIP(address) === 0 || isAgent(address)) return false;
    if (checks(this.networks, plain(address))) return true;
    return this.takes(url, slug) && (!this.production || this.isAdmitted(url, slug) || isPublic(address));
  }

  /** Whether the scheme and the port are allowed. */
  private takes(url: URL, slug: string | null): boolean {
    if (!this.production || this.isAdmitted(url, slug)) return true;
    return url.protocol === 'https:' && PORTS.includes(url.port);
  }

  private isAdmitted(url: URL, slug: string | null): boolean {
    const port = url.port || (url.protocol === 'https:' ? '443' : '80');
    return slug !== null && this.places.has(`${slug} ${hostOf(url)}:${port}`);
  }
}
