/**
 * Runs commands in a bubblewrap sandbox. A command sees the machine's programs (read-only), its disk at
 * `/home/sandbox`, its own /tmp and its own process table, and nothing else of the machine. No command has a
 * capability, even if the service runs as root. Each command has its own process namespace, so the processes that it
 * leaves in the background end with it.
 */
import type { MachineDirectories } from '../disk/directories.js';
import { sandboxHome } from '../disk/directories.js';
import { MachineError } from '../machine-error.js';
import type { NetworkPlace } from '../network/sandbox-networks.js';
import { type ShellLaunch, sandboxEnvironment, shellArguments } from './launch.js';
import { diskArguments, resolverArguments } from './mounts.js';
import { filterArguments, type Restrictions } from './restrictions.js';
import { spawnShell } from './spawn-shell.js';

export interface BubblewrapOptions extends Restrictions {
  /** The absolute path of `bwrap`. */
  readonly program: string;
  /** A file that replaces /etc/resolv.conf if the sandbox has its own network. */
  readonly resolverFile: string;
}

export function createBubblewrap(
  directories: MachineDirectories,
  { program, restrictions, machine: seen, systemCalls, resolverFile }: BubblewrapOptions,
): ShellLaunch {
  const machine = [...restrictions, ...seen];
  const filtered = systemCalls === undefined ? [] : filterArguments;
  const shared = resolverArguments();
  const own = resolverArguments(resolverFile);
  return {
    isolation: 'bubblewrap',
    start(sandboxId, spec, { place, limits }) {
      const mounts = diskArguments(directories.disk(sandboxId), directories.temporary(sandboxId));
      const shell = ['--hostname', sandboxId.replaceAll('_', '-'), '--', '/bin/sh'];
      const network = place.kind === 'own' ? own : shared;
      const options = ['--args', '3', ...filtered, ...machine, ...network, ...unshared(place), ...mounts];
      const enter = [...limits.enter, ...(place.kind === 'own' ? place.enter : [])];
      const [file = program, ...before] = [...enter, program];
      return spawnShell({
        file,
        args: [...before, ...options, ...shell, ...shellArguments(spec.command, spec.cwd, limits.shell)],
        cwd: '/',
        // If variables such as LD_PRELOAD were set here, they would affect bubblewrap itself, outside of the sandbox.
        // If they were on its command line, everybody on the machine could read them.
        env: {},
        descriptor3: variableArguments(sandboxEnvironment(sandboxId, sandboxHome, spec)),
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

/** Arguments in the form that bubblewrap reads from a descriptor: each ends with NUL. */
function variableArguments(variables: Readonly<Record<string, string>>): string {
  const args = Object.entries(variables).flatMap(([name, value]) => ['--setenv', name, value]);
  if (args.some((arg) => arg.includes('\0'))) {
    throw new MachineError('bad_command', 'The environment contains a NUL character. Remove it.');
  }
  return args.map((arg) => `${arg}\0`).join('');
}
