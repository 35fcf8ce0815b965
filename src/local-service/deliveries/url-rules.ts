/** Where webhooks may go (specification, "Delivery semantics"; assumptions, last section; trap S9). */
import { type LookupAddress, type LookupOptions, lookup } from 'node:dns';
import { BlockList, isIP } from 'node:net';
import { ServiceError } from '../service-error.js';

const notPublic = new BlockList();
for (const [network, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
] as const) {
  notPublic.addSubnet(network, prefix, 'ipv4');
}

/** Global unicast is 2000::/3; what maps or tunnels IPv4 and what is for documents is left out. */
const globalUnicast = new BlockList();
globalUnicast.addSubnet('2000::', 3, 'ipv6');
const notPublic6 = new BlockList();
for (const [network, prefix] of [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
] as const) {
  notPublic6.addSubnet(network, prefix, 'ipv6');
}

function isPublicAddress(address: string): boolean {
  if (isIP(address) === 4) return !notPublic.check(address, 'ipv4');
  return globalUnicast.check(address, 'ipv6') && !notPublic6.check(address, 'ipv6');
}

const loopbackHosts: ReadonlySet<string> = new Set(['127.0.0.1', '[::1]', 'localhost']);

/** True for the addresses of this machine that the local mode accepts. */
export function isLoopbackUrl(url: URL): boolean {
  return url.protocol === 'http:' && loopbackHosts.has(url.hostname);
}

/**
 * Checks the URL of a webhook.
 * @param strict true refuses loopback addresses too, as the real service does
 * @throws ServiceError `invalid_url`
 */
export function requireWebhookUrl(text: string, strict: boolean): URL {
  let url: URL;
  try {
    url = new URL(text);
  } catch (cause) {
    throw new ServiceError(400, 'invalid_url', 'The webhook URL is not a URL.', { cause });
  }
  if (url.username !== '' || url.password !== '') {
    throw new ServiceError(400, 'invalid_url', 'The webhook URL must hold no user name and no password.');
  }
  if (!strict && isLoopbackUrl(url)) return url;
  if (url.protocol !== 'https:' || url.port !== '') {
    const local = strict ? '' : ' Here http to 127.0.0.1, [::1] or localhost is accepted too.';
    throw new ServiceError(400, 'invalid_url', `The webhook URL must be https on port 443.${local}`);
  }
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (host === 'localhost' || host.endsWith('.localhost') || (isIP(host) !== 0 && !isPublicAddress(host))) {
    throw new ServiceError(400, 'invalid_url', 'The webhook URL must lead to a public address.');
  }
  return url;
}

type LookupResult = (error: NodeJS.ErrnoException | null, address: string | LookupAddress[], family?: number) => void;

/** Resolves a name for a delivery, and fails where any of its addresses is not public. */
export function lookupPublic(hostname: string, options: LookupOptions, done: LookupResult): void {
  lookup(hostname, { ...options, all: true }, (error, addresses) => {
    const first = addresses?.[0];
    if (error || !first) return done(error ?? new Error(`${hostname} has no address`), []);
    if (!addresses.every(({ address }) => isPublicAddress(address))) {
      return done(new Error(`${hostname} leads to an address that is not public`), []);
    }
    if (options.all) done(null, addresses);
    else done(null, first.address, first.family);
  });
}
