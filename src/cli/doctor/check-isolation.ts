/** Says what keeps sandboxes of a local service from this machine. */
import type { SandboxIsolation } from '../connect/isolation.js';
import { type Check, ok, skipped, warning } from './check.js';

const mends = {
  plain: 'Install bubblewrap, or allow it to make namespaces; see docs/security.md, "Sandboxes".',
  none: 'Install slirp4netns and iproute2, and let this user open /dev/net/tun; or write "network": "host".',
  host: 'Remove "network": "host" and open single ports by "allowHost".',
};

/** @param isolation null where the service is no local one */
export function checkIsolation(isolation: SandboxIsolation | null): Check {
  if (isolation === null) return skipped('isolation', 'The service is not a local one of this version.');
  const { network, text } = isolation;
  const why = isolation.reason ?? network.reason;
  const message = `${text}${why === undefined ? '' : ` (${why})`}.`;
  if (isolation.isolation === 'plain') return warning('isolation', message, mends.plain);
  if (network.kind === 'host') return warning('isolation', message, mends.host);
  return network.kind === 'none' && !network.wished
    ? warning('isolation', message, mends.none)
    : ok('isolation', message);
}
