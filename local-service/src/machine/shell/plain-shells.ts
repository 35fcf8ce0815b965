/** Shells without isolation: each is a process group of the machine. */
import type { MachineDirectories } from '../disk/directories.js';
import type { PlainLaunch } from '../isolation/plain-shell.js';
import { MachineError } from '../machine-error.js';
import { connectHere } from '../network/connect-port.js';
import type { ProcessGroups } from '../processes/groups.js';
import { listProcesses } from '../processes/list.js';
import type { ShellExit, Shells } from './shells.js';

export function createPlainShells(launch: PlainLaunch, directories: MachineDirectories, groups: ProcessGroups): Shells {
  return {
    limits: { memory: 'none', processes: 'none' },
    lacks: [],
    async start(sandboxId, spec) {
      const child = launch.start(sandboxId, spec);
      if (child.pid === undefined) {
        const cause = await new Promise<Error>((resolve) => child.once('error', resolve));
        throw new MachineError('bad_command', `${child.spawnfile} could not be started: ${cause.message}`, { cause });
      }
      const group = groups.add(sandboxId, child.pid, false, spec.commandId);
      return {
        stdin: child.stdin,
        stdout: child.stdout,
        stderr: child.stderr,
        exited: new Promise<ShellExit>((resolve) => {
          child.once('exit', (exitCode, signal) => resolve({ exitCode, signal }));
        }),
        closed: new Promise<void>((resolve) => child.once('close', () => resolve())),
        end: () => groups.end(group),
        wasEnded: () => groups.wasEnded(group),
        settle: () => groups.settle(group),
      };
    },
    // Its network is that of this machine.
    connect: async (_sandboxId, port) => await connectHere(port),
    list: (sandboxId) => listProcesses(groups.ofSandbox(sandboxId), directories.disk(sandboxId)),
    endAll: groups.endAll,
    recover: groups.recover,
  };
}
