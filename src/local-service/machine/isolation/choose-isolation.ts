/** Finds how commands can be isolated on this machine, and which network they get. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { MachineDirectories } from '../disk/directories.js';
import { MachineError } from '../machine-error.js';
import { chooseNetwork, type NetworkDescription } from '../network/choose-network.js';
import type { NetworkSetting } from '../network/network-setting.js';
import { resolverText } from '../network/resolver-text.js';
import { createSamePlace, type SandboxNetworks } from '../network/sandbox-networks.js';
import type { ShellLaunch } from '../shell/launch.js';
import { createPlainShell } from '../shell/plain-shell.js';
import { defaultProgramPath, findProgram } from '../shell/program.js';
import { createBubblewrap } from './bubblewrap.js';
import { chooseRestrictions } from './restrictions.js';

export interface IsolationOptions {
  /** `auto`, the default, takes bubblewrap where it works and says so where it does not. */
  readonly isolation?: 'auto' | 'bubblewrap' | 'plain';
  /** Default: a network of its own for each sandbox, which leads to the internet where slirp4netns works. */
  readonly network?: NetworkSetting;
  /** Where `bwrap`, `slirp4netns`, `setpriv` and others are looked for, separated by colons; the system's own folders by default. */
  readonly programPath?: string;
  /** Gets a warning for each network that ends while commands use it. */
  readonly log?: (message: string) => void;
}

/** What is promised of each sandbox. */
export interface IsolationDescription {
  /** `bubblewrap` where the machine has it and it works; otherwise `plain`, which isolates nothing. */
  readonly isolation: 'bubblewrap' | 'plain';
  /** Why there is none, where nobody asked for that. */
  readonly reason?: string;
  readonly network: NetworkDescription;
  /** What bubblewrap does not keep from commands on this machine and does elsewhere, for people. */
  readonly lacks: readonly string[];
}

export interface ChosenIsolation {
  readonly launch: ShellLaunch;
  readonly networks: SandboxNetworks;
  readonly description: IsolationDescription;
}

/** @throws MachineError `isolation_unavailable` where bubblewrap was asked for and does not work */
export async function chooseIsolation(
  directories: MachineDirectories,
  { isolation = 'auto', network = {}, programPath = defaultProgramPath, log = () => undefined }: IsolationOptions,
): Promise<ChosenIsolation> {
  let reason: string | undefined;
  if (isolation !== 'plain') {
    const program = await findProgram('bwrap', programPath);
    const found = program ? await chooseRestrictions(directories, program) : { problem: 'it is not installed' };
    if (program && 'restrictions' in found) {
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
  const shared: NetworkDescription = { kind: 'host', reason: 'nothing isolates it', wished: false, allowHost: [] };
  return {
    launch: await createPlainShell(directories, programPath),
    networks: createSamePlace({ kind: 'host' }),
    description: { isolation: 'plain', reason, network: shared, lacks: [] },
  };
}
