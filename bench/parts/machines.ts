/**
 * Measures the machines of the local service: how long a command takes to start and end in a sandbox, and how much
 * memory a sandbox takes. Beside it, the same command in a bubblewrap of its own, in the same kind of network.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { createMachineHost } from '../../local-service/src/machine/index.js';
import { chooseNetwork } from '../../local-service/src/machine/network/choose-network.js';
import type { NetworkHold } from '../../local-service/src/machine/network/sandbox-networks.js';
import { defaultProgramPath } from '../../local-service/src/machine/program.js';
import { inParallel } from '../measure/plain-job.js';
import { descendantsPssMb } from '../measure/process-usage.js';
import { quantile } from '../measure/quantiles.js';
import type { Workshop } from '../stand.js';

export interface StartTimes {
  readonly p50Ms: number;
  readonly p95Ms: number;
}

/** A first command opens the network; a later one finds it open. */
export interface StartsOf {
  readonly first: StartTimes;
  readonly later: StartTimes;
}

export interface MachineCost {
  readonly sandboxes: number;
  /** How many commands are under way at the same time. */
  readonly atOnce: number;
  readonly machine: StartsOf;
  readonly bubblewrap: StartsOf;
  /** Of all processes that belong to one sandbox, with the network, as proportional set size. */
  readonly idleMb: number;
  /** The same while a `sleep` runs in it. */
  readonly runningMb: number;
}

interface MachineCase {
  readonly sandboxes: number;
  readonly atOnce: number;
}

interface Runner {
  run(sandboxId: string): Promise<void>;
  close(): Promise<void>;
}

const command = 'true';
const idOf = (number: number): string => `bx_bench${String(number).padStart(4, '0')}`;

/** One after the other; each takes a second to some seconds. */
export async function measureMachines(
  workshop: Pick<Workshop, 'directory' | 'signal'>,
  cases: readonly MachineCase[],
): Promise<MachineCost[]> {
  const measured: MachineCost[] = [];
  for (const one of cases) {
    workshop.signal.throwIfAborted();
    const bubblewrap = await startsOf(await bubblewrapRunner(), one);
    measured.push({ ...one, bubblewrap, ...(await measureHost(workshop, one)) });
  }
  return measured;
}

async function measureHost({ directory }: Pick<Workshop, 'directory'>, one: MachineCase) {
  const host = await createMachineHost({
    directory: await mkdtemp(join(directory, 'machines-')),
    isolation: 'bubblewrap',
  });
  await host.recover();
  const ids = Array.from({ length: one.sandboxes }, (_, number) => idOf(number));
  for (const id of ids) await host.createDisk(id);
  const before = descendantsPssMb(process.pid);
  let [idleMb, runningMb] = [Number.NaN, Number.NaN];
  const machine = await startsOf(
    {
      run: async (id) => void (await host.run(id, { command })),
      async close() {
        const mbEach = (): number => (descendantsPssMb(process.pid) - before) / one.sandboxes;
        idleMb = mbEach();
        await Promise.all(ids.map((id) => host.run(id, { command: 'sleep 1000 >/dev/null 2>&1 &' })));
        runningMb = mbEach();
        await host.close();
      },
    },
    one,
  );
  return { machine, idleMb, runningMb };
}

async function bubblewrapRunner(): Promise<Runner> {
  const { networks } = await chooseNetwork({}, { programPath: defaultProgramPath, log: () => undefined });
  const holds = new Map<string, NetworkHold>();
  const options = ['--unshare-user', '--unshare-pid', '--unshare-ipc', '--unshare-uts', '--cap-drop', 'ALL'];
  options.push('--die-with-parent', '--new-session', '--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc');
  return {
    async run(id) {
      const hold = holds.get(id) ?? (await networks.take(id));
      holds.set(id, hold);
      const enter = hold.place.kind === 'own' ? hold.place.enter : [];
      const [file = 'bwrap', ...args] = [...enter, 'bwrap', ...options, '--', '/bin/sh', '-c', command];
      const child = spawn(file, args, { detached: true });
      await once(child, 'close');
      if (child.exitCode !== 0) throw new Error('bubblewrap does not work here.');
    },
    close: async () => networks.end(),
  };
}

async function startsOf(runner: Runner, { sandboxes, atOnce }: MachineCase): Promise<StartsOf> {
  const round = async (): Promise<StartTimes> => {
    const times: number[] = [];
    await inParallel(sandboxes, atOnce, async (index) => {
      const begunAt = performance.now();
      await runner.run(idOf(index));
      times.push(performance.now() - begunAt);
    });
    return { p50Ms: quantile(times, 0.5), p95Ms: quantile(times, 0.95) };
  };
  const first = await round();
  const later = await round();
  await runner.close();
  return { first, later };
}
