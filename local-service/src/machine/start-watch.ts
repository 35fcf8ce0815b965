/** Records which sandboxes may have processes, so that only these need to be checked. */
import type { MachineHost } from './machine-host.js';

export interface StartWatch {
  /** The host, which also records each start of a command or a shell. */
  readonly host: MachineHost;
  /** Sandboxes in which something was started, unless a later check found no process. */
  running(): string[];
  /**
   * Counts the processes of a sandbox. After that it is in `running` only if it has processes, or if a command runs.
   * @param count returns the number of processes
   */
  check(sandboxId: string, count: () => Promise<number>): Promise<void>;
}

export function createStartWatch(host: MachineHost): StartWatch {
  const underWay = new Map<string, number>();
  /** Sandboxes in which an ended command may have left processes in the background. */
  const leftOver = new Set<string>();

  async function during<Result>(sandboxId: string, work: () => Promise<Result>): Promise<Result> {
    underWay.set(sandboxId, (underWay.get(sandboxId) ?? 0) + 1);
    try {
      return await work();
    } finally {
      const left = (underWay.get(sandboxId) ?? 1) - 1;
      if (left === 0) underWay.delete(sandboxId);
      else underWay.set(sandboxId, left);
      leftOver.add(sandboxId);
    }
  }

  return {
    host: {
      ...host,
      run: (sandboxId, spec, watch) => during(sandboxId, () => host.run(sandboxId, spec, watch)),
      openDesktop: (sandboxId, isPublic) => during(sandboxId, () => host.openDesktop(sandboxId, isPublic)),
      openShell: (sandboxId, spec) => during(sandboxId, () => host.openShell(sandboxId, spec)),
    },
    running: () => [...new Set([...underWay.keys(), ...leftOver])],
    async check(sandboxId, count) {
      leftOver.delete(sandboxId);
      if ((await count()) > 0) leftOver.add(sandboxId);
    },
  };
}
