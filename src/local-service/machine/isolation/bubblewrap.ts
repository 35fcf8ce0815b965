/**
 * Commands in a bubblewrap sandbox: the machine's programs to read, the disk at `/home/sandbox`, a /tmp and a process table of
 * its own, and nothing else of the machine. No command has a capability, even if the service runs as root. Each has a
 * process namespace of its own, so what it leaves in the background ends with it.
 */
import type { MachineDirectories } from '../disk/directories.js';
import { sandboxHome } from '../disk/directories.js';
import { MachineError } from '../machine-error.js';
import type { NetworkPlace } from '../network/sandbox-networks.js';
import { type ShellLaunch, sandboxEnvironment, shellArguments } from '../shell/launch.js';
import { diskArguments, resolverArguments } from './mounts.js';
import { filterArguments, type Restrictions } from './restrictions.js';

export interface BubblewrapOptions extends Restrictions {
  /** The absolute path of `bwrap`. */
  readonly program: string;
  /** A file that takes the place of /etc/resolv.conf in a network of a sandbox's own. */
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
    call(sandboxId, spec, { place, limits }) {
      const mounts = diskArguments(directories.disk(sandboxId), directories.temporary(sandboxId));
      const shell = ['--hostname', sandboxId.replaceAll('_', '-'), '--', '/bin/sh'];
      const network = place.kind === 'own' ? own : shared;
      const options = ['--args', '3', ...filtered, ...machine, ...network, ...unshared(place), ...mounts];
      const enter = [...limits.enter, ...(place.kind === 'own' ? place.enter : [])];
      const [file = program, ...before] = [...enter, program];
      return {
        file,
        args: [...before, ...options, ...shell, ...shellArguments(spec.command, spec.cwd, limits.shell)],
        cwd: '/',
        // Variables such as LD_PRELOAD would act on bubblewrap itself, outside of the sandbox; on its command line they would
        // be for everybody on the machine to read.
        env: {},
        descriptor3: variableArguments(sandboxEnvironment(sandboxId, sandboxHome, spec)),
        descriptor5: systemCalls,
      };
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

/** Arguments that end with NUL each, as bubblewrap reads them from a descriptor. */
function variableArguments(variables: Readonly<Record<string, string>>): string {
  const args = Object.entries(variables).flatMap(([name, value]) => ['--setenv', name, value]);
  if (args.some((arg) => arg.includes('\0'))) {
    throw new MachineError('bad_command', 'The environment holds a NUL character, which no variable can.');
  }
  return args.map((arg) => `${arg}\0`).join('');
}
