/** Chooses the isolation and the network of commands, depending on what this machine supports. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { MachineDirectories } from '../disk/directories.js';
import { lowLimits } from '../limits/process-limits.js';
import { MachineError } from '../machine-error.js';
import { chooseNetwork, type NetworkDescription } from '../network/choose-network.js';
import type { NetworkSetting } from '../network/network-setting.js';
import { resolverText } from '../network/routes.js';
import { createSamePlace, type SandboxNetworks } from '../network/sandbox-networks.js';
import { defaultProgramPath, findProgram } from '../program.js';
import { type BubblewrapLaunch, createBubblewrap } from './bubblewrap.js';
import { requireExecutable } from './noexec-mount.js';
import { createPlainShell, type PlainLaunch } from './plain-shell.js';
import { checkedProgramFolders } from './program-folders.js';
import { chooseRestrictions } from './restrictions.js';

export interface IsolationOptions {
  /** Default: `auto`, which uses bubblewrap if it works and logs a warning if not. */
  readonly isolation?: 'auto' | 'bubblewrap' | 'plain';
  /** Default: each sandbox has its own network, which leads to the internet if slirp4netns works. */
  readonly network?: NetworkSetting;
  /**
   * Further folders of the machine that sandboxes see at the same place, read-only, such as one with the programs of
   * agents. Default: none.
   */
  readonly programs?: readonly string[] | undefined;
  /** Folders to search for programs such as `bwrap`, separated by colons. Default: the system's folders. */
  readonly programPath?: string;
  /** Receives a warning for each network that ends while commands use it. */
  readonly log?: (message: string) => void;
}

/** The isolation that each sandbox has. */
export interface IsolationDescription {
  /** `bubblewrap` if it works on this machine; otherwise `plain`, which isolates nothing. */
  readonly isolation: 'bubblewrap' | 'plain';
  /** Why there is no isolation; undefined if `plain` was requested. */
  readonly reason?: string;
  readonly network: NetworkDescription;
  /** Human-readable descriptions of the restrictions of bubblewrap that this machine does not support. */
  readonly lacks: readonly string[];
}

interface ChosenIsolation {
  readonly launch: BubblewrapLaunch | PlainLaunch;
  readonly networks: SandboxNetworks;
  readonly description: IsolationDescription;
}

/**
 * @throws MachineError `isolation_unavailable` if bubblewrap was requested and does not work; `bad_programs` for a folder
 *   that sandboxes must not see; `noexec`
 */
export async function chooseIsolation(
  directories: MachineDirectories,
  {
    isolation = 'auto',
    network = {},
    programs,
    programPath = defaultProgramPath,
    log = () => undefined,
  }: IsolationOptions,
): Promise<ChosenIsolation> {
  let reason: string | undefined;
  if (isolation !== 'plain') {
    const program = await findProgram('bwrap', programPath);
    const found = program
      ? await chooseRestrictions(directories, program, { programs: checkedProgramFolders(programs ?? [], directories) })
      : { problem: 'it is not installed' };
    if (program && 'restrictions' in found) {
      requireExecutable(directories.root);
      const resolverFile = join(directories.root, 'resolv.conf');
      await writeFile(resolverFile, resolverText(), { mode: 0o644 });
      const chosen = await chooseNetwork(network, { programPath, log });
      return {
        launch: createBubblewrap(directories, { program, resolverFile, ...found }),
        networks: chosen.networks,
        description: { isolation: 'bubblewrap', network: chosen.description, lacks: found.lacks },
      };
    }
    reason = `bubblewrap does not work here: ${'problem' in found ? found.problem : ''}`;
    if (isolation === 'bubblewrap') throw new MachineError('isolation_unavailable', `${reason}.`);
  }
  const shared: NetworkDescription = {
    kind: 'host',
    reason: 'the sandbox is not isolated',
    wished: false,
    allowHost: [],
  };
  return {
    launch: await createPlainShell(directories, programPath),
    networks: createSamePlace({ kind: 'host' }),
    description: { isolation: 'plain', reason, network: shared, lacks: [] },
  };
}

/** One line, such as "bubblewrap, its own network, which may reach the internet". It ends with the entries of `lacks`. */
export function isolationText({ isolation, network, lacks }: IsolationDescription): string {
  if (isolation === 'plain')
    return ['none: sandboxes run as plain processes of this user, in the network of this machine', ...lacks].join('; ');
  const ports = network.allowHost.length > 0 ? ` and can reach ${network.allowHost.join(', ')} on this machine` : '';
  // Whether this machine has the internet was not tried.
  const reach = {
    host: 'the network of this machine, including its local ports',
    internet: `its own network, which may reach the internet${ports}`,
    none: `no network${ports}`,
  };
  return [`bubblewrap, ${reach[network.kind]}`, ...lacks].join('; ');
}

/** Warnings that isolation or network is missing although nobody requested that, and of low limits; empty if there are none. */
export function isolationWarnings(description: IsolationDescription): string[] {
  return [...warningsOf(description), ...lowLimits().map((limit) => `The local service has ${limit}.`)];
}

function warningsOf({ isolation, reason, network }: IsolationDescription): string[] {
  if (isolation === 'plain') {
    const why = reason === undefined ? '' : `${reason}. `;
    return [`${why}Sandboxes are NOT isolated. Their commands can read and change everything that this user can.`];
  }
  if (network.kind !== 'none' || network.wished) return [];
  const mend = network.mend === undefined ? '' : `${network.mend} `;
  return [
    `Sandboxes have NO network: ${network.reason}. ${mend}Or set "network": "host" to use the network of this machine.`,
  ];
}
