/** Knows in which sandboxes something may run, so that the many in which nothing does need not be looked at. */
import type { MachineHost } from '../machine-host.js';

export interface StartWatch {
  /** The host, with its starts noted. */
  readonly host: MachineHost;
  /** Sandboxes in which something was started and has not been seen to be gone. */
  running(): string[];
  /**
   * Looks at one of them. It counts as running from then on only if `look` finds something, or a command is under way.
   * @param look gives how many processes there are
   */
  look(sandboxId: string, look: () => Promise<number>): Promise<void>;
}

export function createStartWatch(host: MachineHost): StartWatch {
  const underWay = new Map<string, number>();
  /** What a command that has ended may have left in the background. */
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
      openShell: (sandboxId, spec) => during(sandboxId, () => host.openShell(sandboxId, spec)),
    },
    running: () => [...new Set([...underWay.keys(), ...leftOver])],
    async look(sandboxId, look) {
      leftOver.delete(sandboxId);
      if ((await look()) > 0) leftOver.add(sandboxId);
    },
  };
}
