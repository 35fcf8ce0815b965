/** Which addresses are public (specification, "Delivery semantics": endpoints resolve only to public IP addresses). */
import { BlockList, isIP } from 'node:net';

/** IANA's special-purpose registry, as far as it is not globally reachable, and what is for relays and multicast. */
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

/** Global unicast: everything else, with mapped IPv4, NAT64, unique local and link-local addresses, is not public. */
const globalUnicast6 = ['2000::', 3] as const;

/** What of global unicast tunnels IPv4, is for protocols or is for documents. */
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

/** False also for what is no address, and for one with a zone, which leads nowhere beyond this machine's networks. */
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
