/**
 * Starts sandboxes with bubblewrap. All processes of a sandbox see the machine's programs (read-only), the disk at
 * `/home/sandbox`, their own /tmp and their own process table, and nothing else of the machine. None has a capability,
 * even if the service runs as root. Commands are started inside, by the first program of the sandbox.
 */
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import type { CopyCall } from '../disk/copy-tree.js';
import type { MachineDirectories } from '../disk/directories.js';
import type { NetworkPlace } from '../network/sandbox-networks.js';
import { defaultProgramPath } from '../program.js';
import { initCommand, shownPipes } from '../running/init.js';
import { diskArguments, resolverArguments } from './mounts.js';
import { filterArguments, type Restrictions } from './restrictions.js';
import { spawnShell } from './spawn-shell.js';

export interface BubblewrapOptions extends Restrictions {
  /** The absolute path of `bwrap`. */
  readonly program: string;
  /** A file that replaces /etc/resolv.conf if the sandbox has its own network. */
  readonly resolverFile: string;
}

export interface MachineSurroundings {
  readonly place: NetworkPlace;
  /** Arguments that put the sandbox into its control groups. */
  readonly enter: readonly string[];
  /** The folders of the pipes of commands. */
  readonly pipes: readonly string[];
}

export interface BubblewrapLaunch {
  readonly isolation: 'bubblewrap';
  /**
   * Starts a sandbox, which reads from its input where the pipes of commands are. If the program cannot be started, the
   * process has no `pid` and emits `error`.
   */
  boot(sandboxId: string, around: MachineSurroundings): ChildProcessWithoutNullStreams;
  /** Copies a disk that its sandbox may be changing. */
  readonly copyCall: CopyCall;
}

export function createBubblewrap(
  directories: MachineDirectories,
  { program, restrictions, machine: seen, systemCalls, resolverFile }: BubblewrapOptions,
): BubblewrapLaunch {
  const machine = [...restrictions, ...seen];
  const filtered = systemCalls === undefined ? [] : filterArguments;
  const shared = resolverArguments();
  const own = resolverArguments(resolverFile);
  return {
    isolation: 'bubblewrap',
    boot(sandboxId, { place, enter, pipes }) {
      const mounts = pipes.flatMap((folder, index) => ['--ro-bind', folder, shownPipes(String(index))]);
      mounts.push(...diskArguments(directories.disk(sandboxId), directories.temporary(sandboxId)));
      const name = ['--hostname', sandboxId.replaceAll('_', '-'), '--setenv', 'PATH', defaultProgramPath];
      const network = place.kind === 'own' ? own : shared;
      const options = [...filtered, ...machine, ...network, ...unshared(place), ...mounts, ...name];
      const outside = [...enter, ...(place.kind === 'own' ? place.enter : [])];
      const [file = program, ...before] = [...outside, program];
      return spawnShell({
        file,
        args: [...before, ...options, '--', ...initCommand],
        cwd: '/',
        env: {},
        descriptor5: systemCalls,
      });
    },
    copyCall(options, source, target) {
      const mounts = ['--unshare-net', '--ro-bind', source, '/from', '--bind', target, '/to'];
      return { file: program, args: [...machine, ...mounts, '--', 'cp', ...options, '--', '/from/.', '/to'] };
    },
  };
}

function unshared(place: NetworkPlace): string[] {
  return place.kind === 'none' ? ['--unshare-net'] : [];
}
