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
  const nowhere = (reason: string): ChosenNetwork => ({
    networks: createSamePlace({ kind: 'none' }),
    // Without a network, the ports of `allowHost` cannot be opened either. The user did not choose this.
    description: { kind: 'none', reason, wished: !internet && ports.length === 0, allowHost: [] },
  });
  const tools = await findTools(programPath);
  if (typeof tools === 'string') return nowhere(tools);
  const { slirp4netns, ...others } = tools;
  const chosen = async (kind: 'internet' | 'none', reason?: string): Promise<ChosenNetwork> => {
    const used = kind === 'internet' ? tools : others;
    const open = () => openNamespace({ tools: used, allowHost: ports, allowNetworks });
    // A first network is opened as a test. The first sandbox then uses it.
    return {
      networks: createSandboxNetworks(open, { spare: await open(), log }),
      description: { kind, reason, wished: !internet, allowHost },
    };
  };
  try {
    if (!internet) return await chosen('none', 'the settings have "internet": false');
    if (!slirp4netns) return await chosen('none', 'slirp4netns is not installed');
    try {
      return await chosen('internet');
    } catch (error) {
      return await chosen('none', problemOf(error));
    }
  } catch (error) {
    return nowhere(problemOf(error));
  }
}

async function findTools(programPath: string): Promise<NetworkTools | string> {
  const [unshare, nsenter, ip, slirp4netns] = await Promise.all(
    ['unshare', 'nsenter', 'ip', 'slirp4netns'].map((name) => findProgram(name, programPath)),
  );
  if (!unshare || !nsenter) return 'unshare and nsenter (package util-linux) are not installed';
  if (!ip) return 'ip (package iproute2) is not installed';
  return { unshare, nsenter, ip, slirp4netns };
}

function problemOf(error: unknown): string {
  const reason = reasonOf(error);
  const isDevice = /\/dev\/net\/tun/.test(reason);
  return isDevice ? `this user cannot open /dev/net/tun, which slirp4netns requires (${reason})` : reason;
}
