/**
 * The processes of a sandbox: live, or from the last kept sample (specification, GET /sandboxes/{sandboxId}/processes).
 */
import { assume } from '../core/assume.js';
import type { Core } from '../core/context.js';
import { acceptsWork } from '../core/machine-states.js';
import type { SandboxProcess } from '../machine/processes/ps-listing.js';
import type { SampledProcess } from '../store/sample-store.js';
import type { SandboxRecord } from '../store/sandbox-record.js';

/** A sample keeps only this many processes: the busiest. */
const keptProcesses = 12;

export interface ProcessList {
  readonly live: boolean;
  /** Null if no sample is kept. */
  readonly sampledAt: string | null;
  readonly total: number;
  readonly processes: readonly SampledProcess[];
}

type Needs = Pick<Core, 'stores' | 'host' | 'clock' | 'timings'>;

/** The processes of a sandbox that can work, at most 500. For any other sandbox, the last kept sample. */
export async function listProcesses(core: Needs, sandbox: SandboxRecord): Promise<ProcessList> {
  if (acceptsWork(sandbox)) {
    const { processes, total } = await core.host.processes(sandbox.id);
    return { live: true, sampledAt: core.clock.iso(), total, processes: processes.map((entry) => shown(core, entry)) };
  }
  assume('A-process-samples');
  const kept = core.stores.samples.get(sandbox.id);
  if (!kept || kept.sampledAt < core.clock.now() - core.timings.processSampleKeptMs) {
    return { live: false, sampledAt: null, total: 0, processes: [] };
  }
  const { sampledAt, total, processes } = kept;
  return { live: false, sampledAt: new Date(sampledAt).toISOString(), total, processes };
}

/**
 * Keeps a sample of the processes that run in a sandbox now. If monitoring is off, nothing is kept (assumption).
 * @param options.atStop true if an empty sample must not replace an earlier sample
 * @returns the number of processes
 */
export async function keepSample(
  core: Needs,
  sandbox: SandboxRecord,
  { atStop = false }: { readonly atStop?: boolean } = {},
): Promise<number> {
  const { stores, host, clock } = core;
  if (!sandbox.monitoring) return 0;
  const { processes, total } = await host.processes(sandbox.id);
  if (atStop && total === 0 && stores.samples.get(sandbox.id)) return 0;
  stores.samples.put({
    sandboxId: sandbox.id,
    sampledAt: clock.now(),
    total,
    processes: processes.slice(0, keptProcesses).map((entry) => shown(core, entry)),
  });
  return total;
}

/** The process with its start time by the clock of the service, which may differ from the clock of the machine. */
function shown({ clock }: Needs, { ageMs, commandId, startedAt: _, ...entry }: SandboxProcess): SampledProcess {
  const startedAt = new Date(clock.now() - ageMs).toISOString();
  return { ...entry, startedAt, ...(commandId === null ? {} : { commandId }) };
}
