/** What people are told of the isolation of sandboxes. */
import type { MachineDescription } from '../machine-host.js';
import type { IsolationDescription } from './choose-isolation.js';

/** One line, such as "bubblewrap, a network of its own that leads to the internet", and what is lacking. */
export function isolationText({ isolation, network, lacks }: MachineDescription): string {
  if (isolation === 'plain') return 'none: plain processes of this user, with the network of this machine';
  const ports = network.allowHost.length > 0 ? `, and of this machine ${network.allowHost.join(', ')}` : '';
  const reach = {
    host: 'the network of this machine, what listens on it included',
    internet: `a network of its own that leads to the internet${ports}`,
    none: `no network${ports}`,
  };
  return [`bubblewrap, ${reach[network.kind]}`, ...lacks].join('; ');
}

/** What nobody asked for and everybody should know; empty if all is well. */
export function isolationWarnings({ isolation, reason, network }: IsolationDescription): string[] {
  if (isolation === 'plain') {
    const why = reason === undefined ? '' : `${reason}. `;
    return [`${why}Sandboxes are NOT isolated: their commands can read and change whatever this user can.`];
  }
  if (network.kind !== 'none' || network.wished) return [];
  return [
    `Sandboxes have NO network: ${network.reason}. Install slirp4netns and iproute2, or write "network": "host" to give them that of this machine.`,
  ];
}
