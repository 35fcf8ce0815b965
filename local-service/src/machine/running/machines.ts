/**
 * The running sandboxes. Each starts with its first command and runs until it is ended, with its network, its limits
 * and everything that its commands leave in the background. If it ends by itself, the next command starts it again.
 */
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { shortageOf, systemReason } from '../../../../src/os/start-program.js';
import { removeTree } from '../disk/copy-tree.js';
import type { MachineDirectories } from '../disk/directories.js';
import type { BubblewrapLaunch } from '../isolation/bubblewrap.js';
import type { CommandSpec } from '../isolation/launch.js';
import { createSandboxLimits, type SandboxLimitsOptions, type TakenLimits } from '../limits/sandbox-limits.js';
import { endedMeanwhile, MachineError } from '../machine-error.js';
import { notListening } from '../network/connect-port.js';
import type { NetworkHold, SandboxNetworks } from '../network/sandbox-networks.js';
import { defaultGraceMs, type EndingOptions, endProcessesMatching } from '../processes/end-processes.js';
import type { ProcessGroups } from '../processes/groups.js';
import { sampleOf } from '../processes/list.js';
import { type ProcessEntry, readProcessTable } from '../processes/table.js';
import type { Shells, StartedShell } from '../shell/shells.js';
import { createRunningMachine, type PipesPlace, type RunningMachine } from './machine.js';
import { createPipeMaker } from './pipe-maker.js';
import { isPrivateFolder, makePipesFolders } from './pipes-folder.js';

interface MachinesOptions extends Pick<SandboxLimitsOptions, 'sizeOf' | 'log' | 'reserve'> {
  readonly directories: MachineDirectories;
  readonly launch: BubblewrapLaunch;
  readonly networks: SandboxNetworks;
  readonly groups: ProcessGroups;
}

/** A sandbox that starts or runs. */
interface Place {
  readonly booted: Promise<Booted>;
  machine?: RunningMachine;
  /** True once the sandbox was told to end. */
  ended: boolean;
}

interface Booted {
  readonly machine: RunningMachine;
  readonly limits: TakenLimits;
  readonly network: NetworkHold;
}

export async function createMachines(options: MachinesOptions): Promise<Shells> {
  const { directories, launch, networks, groups } = options;
  const places = new Map<string, Place>();
  const pipesFolders = await makePipesFolders(directories.root);
  const pipesPlaces = pipesFolders.map((folder) => ({ folder, maker: createPipeMaker(folder) }));
  const limits = await createSandboxLimits({
    ...options,
    atWork() {
      const table = readProcessTable();
      const pidsOf = (place: Place): number[] => place.machine?.commands.pidsAtWork(table) ?? [];
      return new Map(
        [...places].map(([id, place]) => [id, pidsOf(place)] as const).filter(([, { length }]) => length > 0),
      );
    },
    // A grace period would let the sandbox fill the disk.
    end: (id) => endProcesses(id, { graceMs: 0 }),
  });

  const boot = async (sandboxId: string, isEnded: () => boolean): Promise<Booted> => {
    const network = await networks.take(sandboxId);
    let release = network.release;
    try {
      const taken = limits.take(sandboxId);
      release = () => {
        network.release();
        taken.release();
      };
      // Not that of an earlier start, whose last commands may still remove pipes of the same numbers.
      const pipes = await makePlaces(pipesPlaces, sandboxId);
      const folders = pipes.map(({ folder }) => folder);
      release = () => {
        network.release();
        taken.release();
        for (const folder of folders) void rm(folder, { recursive: true, force: true }).catch(() => undefined);
      };
      await mkdir(directories.temporary(sandboxId), { recursive: true });
      if (isEnded()) throw endedMeanwhile();
      const child = launch.boot(sandboxId, { place: network.place, enter: taken.enter, pipes: folders });
      if (child.pid === undefined) {
        const cause = await new Promise<Error>((resolve) => child.once('error', resolve));
        throw new MachineError('isolation_unavailable', `The sandbox could not be started: ${systemReason(cause)}.`, {
          cause,
        });
      }
      const group = groups.add(sandboxId, child.pid, true);
      const machine = createRunningMachine({ sandboxId, child, pipes });
      void machine.gone.then(() => {
        release();
        groups.settle(group);
      });
      return { machine, limits: taken, network };
    } catch (error) {
      release();
      throw error;
    }
  };

  const start = (sandboxId: string): Place => {
    const booted = boot(sandboxId, () => place.ended).catch((cause: unknown) => {
      const shortage = cause instanceof MachineError ? undefined : shortageOf(cause);
      if (shortage === undefined) throw cause;
      throw new MachineError('isolation_unavailable', `The sandbox could not be started: ${shortage}.`, { cause });
    });
    const place: Place = { booted, ended: false };
    places.set(sandboxId, place);
    const forget = (): void => {
      if (places.get(sandboxId) === place) places.delete(sandboxId);
    };
    booted.then(({ machine }) => {
      place.machine = machine;
      void machine.gone.then(forget);
    }, forget);
    return place;
  };

  /** Ends one start of a sandbox, and not a later one. */
  const leave = async (sandboxId: string, { machine }: Booted): Promise<void> => {
    if (places.get(sandboxId)?.machine === machine) places.delete(sandboxId);
    await machine.end();
  };

  /** A sandbox that has ended, or whose network has failed, is started again. */
  const take = async (sandboxId: string): Promise<Booted> => {
    for (;;) {
      const booted = await (places.get(sandboxId) ?? start(sandboxId)).booted;
      if (!booted.network.isBroken() && !booted.machine.isGone()) return booted;
      await leave(sandboxId, booted);
    }
  };

  const run = async (sandboxId: string, spec: CommandSpec): Promise<StartedShell> => {
    for (let attempt = 1; ; attempt += 1) {
      const booted = await take(sandboxId);
      const { machine } = booted;
      const shell = await machine.start(spec, await booted.limits.shell());
      if (shell) return shell;
      if (machine.wasEnded()) throw endedMeanwhile();
      if (attempt === 2) {
        const why = machine.problem() || 'it ends at once, or has too many processes';
        throw new MachineError('isolation_unavailable', `The sandbox cannot start the command: ${why}`);
      }
      // The command has not begun: the processes of the sandbox have ended it, or are too many.
      await leave(sandboxId, booted);
    }
  };

  async function endProcesses(sandboxId: string | undefined, { graceMs }: EndingOptions): Promise<void> {
    const chosen = [...places].filter(([id]) => sandboxId === undefined || id === sandboxId);
    for (const [id, place] of chosen) {
      place.ended = true;
      places.delete(id);
    }
    const machines = chosen.flatMap(([, { machine }]) => machine ?? []);
    for (const machine of machines) machine.markEnded();
    await terminate(machines, graceMs);
    for (const machine of machines) machine.kill();
    await groups.endAll(sandboxId, { graceMs: 0 });
  }

  return {
    limits: limits.description,
    lacks: limits.lacks,
    start: run,
    async connect(sandboxId, port) {
      const place = places.get(sandboxId);
      // A sandbox that does not run has no server.
      if (place?.machine === undefined) throw notListening(port);
      return await (await place.booted).network.connect(port);
    },
    async list(sandboxId) {
      const commands = places.get(sandboxId)?.machine?.commands;
      if (commands === undefined) return { processes: [], total: 0 };
      const found = commands.found();
      const byPid = new Map(found.map((entry) => [entry.pid, entry]));
      return await sampleOf(found, (entry) => commands.commandIdOf(entry, byPid));
    },
    async endAll(sandboxId) {
      await endProcesses(sandboxId, {});
      networks.end(sandboxId);
      if (sandboxId !== undefined) return limits.remove(sandboxId);
      limits.removeAll();
      await Promise.all(pipesPlaces.map(({ maker }) => maker.end()));
      // What a process still writes into it is removed at the next start.
      for (const folder of pipesFolders) await removeTree(folder).catch(() => undefined);
    },
    async recover() {
      await groups.recover();
      limits.removeAll();
      for (const folder of pipesFolders) for (const name of await readdir(folder)) await removeTree(join(folder, name));
    },
  };
}

/** Makes a folder in each place, for one start of a sandbox. Memory may be full, or have been cleared. */
async function makePlaces(places: readonly PipesPlace[], sandboxId: string): Promise<PipesPlace[]> {
  const made: PipesPlace[] = [];
  let failure: unknown = new Error('The folders of pipes were removed, or others may enter them. Restart the service.');
  for (const { folder, maker } of places) {
    if (!(await isPrivateFolder(folder))) continue;
    try {
      made.push({ folder: await mkdtemp(join(folder, `${sandboxId}-`)), maker });
    } catch (error) {
      failure = error;
    }
  }
  if (made.length === 0) throw failure;
  return made;
}

/** Asks all commands of these sandboxes to end. Returns when they have, or at the end of the grace period. */
async function terminate(machines: readonly RunningMachine[], graceMs = defaultGraceMs): Promise<void> {
  if (machines.length === 0) return;
  const untilMs = performance.now() + graceMs;
  const find = (): readonly ProcessEntry[] => {
    if (performance.now() >= untilMs) return [];
    const table = readProcessTable();
    return machines.flatMap((machine) => (machine.isGone() ? [] : machine.commands.found(table)));
  };
  // The first processes must not be signalled: the others would end with them, without a grace period.
  await endProcessesMatching({ find, groupsWithoutTable: [], monitors: new Set() }, { graceMs: Infinity });
}
