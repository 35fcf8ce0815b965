/**
 * The routes of a sandbox's network, as lines for `ip -batch`. They block the addresses that a sandbox may not reach.
 */
import { readFileSync } from 'node:fs';

export const tapDevice = 'tap0';
/** Addresses of slirp4netns: the gateway, and a resolver that uses the resolver of this machine. */
const gatewayAddress = '10.0.2.2';
const resolverAddress = '10.0.2.3';

/**
 * Private and special networks (RFC 6890). They include this machine's neighbours, its containers, and the metadata
 * services of clouds; some clouds have a special address for those.
 */
const notTheInternet = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '168.63.129.16/32',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '255.255.255.255/32',
  `${gatewayAddress}/32`,
];

export const loopbackOnly = ['link set lo up'];

/**
 * Routes for a network that leads to the internet. slirp4netns opens connections from this machine, so the machine's
 * own addresses are closed one by one.
 */
export function internetRoutes(allowedNetworks: readonly string[], ownNetworks: readonly string[]): string[] {
  return [
    ...loopbackOnly,
    // Only DNS queries reach the resolver, even if other services listen at the address of this machine's resolver.
    `rule add pref 10 to ${resolverAddress}/32 ipproto udp dport 53 lookup main`,
    `rule add pref 11 to ${resolverAddress}/32 ipproto tcp dport 53 lookup main`,
    `rule add pref 12 to ${resolverAddress}/32 unreachable`,
    // These routes must be set before the gateway itself becomes unreachable.
    ...allowedNetworks.map((network) => `route replace ${network} via ${gatewayAddress} dev ${tapDevice}`),
    ...notTheInternet.filter((network) => !allowedNetworks.includes(network)).map(unreachable),
    ...ownNetworkRoutes(ownNetworks),
  ];
}

/**
 * These routes take precedence over those of allowed networks, because they are more specific or replace them. Safe to
 * repeat.
 */
export function ownNetworkRoutes(ownNetworks: readonly string[]): string[] {
  return ownNetworks.map(unreachable);
}

function unreachable(network: string): string {
  return `route replace unreachable ${network}`;
}

/**
 * The IPv4 networks that lead to this machine itself. 127.0.0.0/8 is excluded, because every sandbox's network has its
 * own.
 */
export function readOwnNetworks(): string[] {
  return parseOwnNetworks(readFileSync('/proc/net/fib_trie', 'latin1'));
}

/**
 * @param trie the content of /proc/net/fib_trie: each address is followed by lines with a prefix length and its type
 */
function parseOwnNetworks(trie: string): string[] {
  const found = new Set<string>();
  let address = '';
  for (const line of trie.split('\n')) {
    address = /\|-- (\d+\.\d+\.\d+\.\d+)/.exec(line)?.[1] ?? address;
    const bits = /\/(\d+) host LOCAL/.exec(line)?.[1];
    if (bits !== undefined && !address.startsWith('127.')) found.add(`${address}/${bits}`);
  }
  return [...found].sort();
}

/** @param own the content of this machine's /etc/resolv.conf; by default, the file is read */
export function resolverText(own = readOwn()): string {
  const kept = own.split('\n').filter((line) => /^\s*(search|domain|options)\s/.test(line));
  return `${[`nameserver ${resolverAddress}`, ...kept].join('\n')}\n`;
}

function readOwn(): string {
  try {
    return readFileSync('/etc/resolv.conf', 'utf8');
  } catch {
    return '';
  }
}
