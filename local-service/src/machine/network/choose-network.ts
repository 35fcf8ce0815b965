/** Finds out which network sandboxes can have on this machine. */
import { reasonOf } from '../../log.js';
import { findProgram } from '../program.js';
import { type NetworkTools, openNamespace } from './namespace.js';
import { type NetworkSetting, parseHostPort } from './network-setting.js';
import { createSamePlace, createSandboxNetworks, type SandboxNetworks } from './sandbox-networks.js';

/** What a sandbox can reach. */
export interface NetworkDescription {
  /**
   * `host`: everything that this machine can reach, and this machine itself. `internet`: the internet, not this
   * machine.
   */
  readonly kind: 'host' | 'internet' | 'none';
  /** Why a sandbox has no internet, or why it has the network of this machine. */
  readonly reason?: string;
  /** What gives a sandbox the internet, as a sentence; undefined if nothing is wrong, or nothing is known to help. */
  readonly mend?: string;
  /** True if the user has chosen this kind of network. */
  readonly wished: boolean;
  /** Ports that are opened to each sandbox. */
  readonly allowHost: readonly string[];
}

interface ChosenNetwork {
  readonly networks: SandboxNetworks;
  readonly description: NetworkDescription;
}

interface NetworkOptions {
  /** Folders to search for programs. */
  readonly programPath: string;
  /** Receives a warning for each network that ends while commands use it. */
  readonly log: (message: string) => void;
}

export async function chooseNetwork(
  setting: NetworkSetting,
  { programPath, log }: NetworkOptions,
): Promise<ChosenNetwork> {
  if (setting === 'host') {
    const reason = 'the settings have "network": "host"';
    return {
      networks: createSamePlace({ kind: 'host' }),
      description: { kind: 'host', reason, wished: true, allowHost: [] },
    };
  }
  const { internet = true, allowHost = [], allowNetworks = [] } = setting;
  const ports = allowHost.flatMap((text) => parseHostPort(text) ?? []);
  const nowhere = ({ reason, mend }: Problem): ChosenNetwork => ({
    networks: createSamePlace({ kind: 'none' }),
    // Without a network, the ports of `allowHost` cannot be opened either. The user did not choose this.
    description: { kind: 'none', reason, mend, wished: !internet && ports.length === 0, allowHost: [] },
  });
  const tools = await findTools(programPath, { internet });
  if ('reason' in tools) return nowhere(tools);
  const { slirp4netns, ...others } = tools;
  const chosen = async (kind: 'internet' | 'none', { reason, mend }: Partial<Problem> = {}): Promise<ChosenNetwork> => {
    const used = kind === 'internet' ? tools : others;
    const open = () => openNamespace({ tools: used, allowHost: ports, allowNetworks });
    // A first network is opened as a test. The first sandbox then uses it.
    return {
      networks: createSandboxNetworks(open, { spare: await open(), log }),
      description: { kind, reason, mend, wished: !internet, allowHost },
    };
  };
  try {
    if (!internet) return await chosen('none', { reason: 'the settings have "internet": false' });
    if (!slirp4netns) return await chosen('none', missing(['slirp4netns']));
    try {
      return await chosen('internet');
    } catch (error) {
      return await chosen('none', problemOf(error));
    }
  } catch (error) {
    return nowhere(problemOf(error));
  }
}

/** Why sandboxes have no internet, and what would change that. */
interface Problem {
  readonly reason: string;
  readonly mend?: string;
}

/** The package of each program that a network needs. */
const packages = { unshare: 'util-linux', nsenter: 'util-linux', ip: 'iproute2', slirp4netns: 'slirp4netns' } as const;

async function findTools(
  programPath: string,
  { internet }: { readonly internet: boolean },
): Promise<NetworkTools | Problem> {
  const [unshare, nsenter, ip, slirp4netns] = await Promise.all([
    findProgram('unshare', programPath),
    findProgram('nsenter', programPath),
    findProgram('ip', programPath),
    findProgram('slirp4netns', programPath),
  ]);
  if (unshare && nsenter && ip) return { unshare, nsenter, ip, slirp4netns };
  const found = { unshare, nsenter, ip, slirp4netns };
  const names = Object.keys(packages) as (keyof typeof packages)[];
  return missing(names.filter((name) => !found[name] && (internet || name !== 'slirp4netns')));
}

/** Names what is missing, and nothing that is installed. */
function missing(programs: readonly (keyof typeof packages)[]): Problem {
  const needed = [...new Set(programs.map((name) => packages[name]))];
  return {
    reason: `${programs.join(' and ')} ${programs.length > 1 ? 'are' : 'is'} not installed`,
    mend: `Install ${needed.join(' and ')}.`,
  };
}

/** Everything is installed, and this machine or user may not use it. */
function problemOf(error: unknown): Problem {
  const reason = reasonOf(error);
  if (/\/dev\/net\/tun/.test(reason)) {
    return /No such (?:file|device)/.test(reason)
      ? {
          reason: `/dev/net/tun does not exist, which slirp4netns requires (${reason})`,
          mend: 'Load the kernel module tun, or give this container the device /dev/net/tun.',
        }
      : {
          reason: `this user cannot open /dev/net/tun, which slirp4netns requires (${reason})`,
          mend: 'Let this user read and write /dev/net/tun.',
        };
  }
  if (/a network namespace does not start/.test(reason)) {
    return { reason, mend: 'Let this user create user and network namespaces.' };
  }
  return { reason };
}
