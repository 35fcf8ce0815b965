/**
 * Recognizes public addresses, and creates lookups that accept no other address (specification, "Delivery semantics").
 */
import { lookup } from 'node:dns/promises';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { ServiceError } from '../service-error.js';

/**
 * The networks of IANA's special-purpose registry that are not globally reachable, and those for relays and multicast.
 */
const notPublic4 = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  // Shared by customers of one carrier.
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  // Link-local; the metadata service of most clouds is here.
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
] as const;

/**
 * Global unicast. All other addresses are not public: mapped IPv4, NAT64, unique local and link-local ones among them.
 */
const globalUnicast6 = ['2000::', 3] as const;

/** The networks of global unicast that tunnel IPv4, or that are reserved for protocols or documentation. */
const notPublic6 = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const;

const blocked4 = blockListOf(notPublic4, 'ipv4');
const global6 = blockListOf([globalUnicast6], 'ipv6');
const blocked6 = blockListOf(notPublic6, 'ipv6');

function blockListOf(networks: readonly (readonly [string, number])[], family: 'ipv4' | 'ipv6'): BlockList {
  const list = new BlockList();
  for (const [network, prefix] of networks) list.addSubnet(network, prefix, family);
  return list;
}

/**
 * True for a public address. False also for text that is no address, and for an address with a zone, which leads
 * nowhere beyond this machine's networks.
 */
export function isPublicAddress(address: string): boolean {
  if (address.includes('%')) return false;
  switch (isIP(address)) {
    case 4:
      return !blocked4.check(address, 'ipv4');
    case 6:
      return global6.check(address, 'ipv6') && !blocked6.check(address, 'ipv6');
    default:
      return false;
  }
}

/** The addresses of a name; rejects if it has none. */
export type ResolveHost = (hostname: string) => Promise<readonly string[]>;

/**
 * How long a registration waits for the resolver, in ms. A resolver that works takes less. A name that cannot be
 * resolved yet may be registered nevertheless.
 */
const registrationPatienceMs = 2_000;

export const resolveBySystem: ResolveHost = async (hostname) =>
  (await lookup(hostname, { all: true })).map(({ address }) => address);

/**
 * Creates a lookup that the connection itself uses. So the addresses that are checked are those that are used, and a
 * name that changes a moment later (DNS rebinding) does not matter. Fails if any of the addresses is not public.
 */
export function createPublicLookup(resolve: ResolveHost): LookupFunction {
  return (hostname, options, done) => {
    publicAddresses(hostname, resolve).then(
      (addresses) => {
        const found = addresses.map((address) => ({ address, family: isIP(address) }));
        if (options.all) return done(null, found);
        const first = found[0];
        done(first ? null : new Error(`${hostname} has no address`), first?.address ?? '', first?.family);
      },
      (cause: unknown) => done(cause instanceof Error ? cause : new Error(String(cause)), ''),
    );
  };
}

async function publicAddresses(hostname: string, resolve: ResolveHost): Promise<readonly string[]> {
  const addresses = await resolve(hostname);
  if (addresses.length === 0) throw new Error(`${hostname} has no address`);
  if (!addresses.every(isPublicAddress)) throw new Error(`${hostname} resolves to an address that is not public`);
  return addresses;
}

/**
 * Refuses, at registration, a name that resolves to an address that is not public. A name that cannot be resolved now
 * is accepted: each delivery resolves it again.
 * @throws ServiceError `invalid_url`
 */
export async function requirePublicHost(url: URL, resolve: ResolveHost): Promise<void> {
  const abort = new AbortController();
  const tooLate = delay(registrationPatienceMs, [] as string[], { signal: abort.signal }).catch(() => []);
  const addresses = await Promise.race([resolve(url.hostname.replace(/^\[|\]$/g, '')).catch(() => []), tooLate]);
  abort.abort();
  if (addresses.every(isPublicAddress)) return;
  throw new ServiceError(400, 'invalid_url', 'The webhook URL resolves to an address that is not public.');
}
