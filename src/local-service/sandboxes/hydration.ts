/** The background copy of a restored sandbox, and its progress (specification, "Sandbox", field `hydration`). */
import { setTimeout as delay } from 'node:timers/promises';
import { isCreating } from '../../contract/workflow-safe/states.js';
import { changeSandbox } from '../core/change-sandbox.js';
import type { Context } from '../core/context.js';
import type { SandboxRecord } from '../store/sandbox-record.js';
import type { Work } from '../store/work-store.js';

export interface Hydration {
  readonly phase: string;
  readonly entriesDone: number;
  readonly entriesTotal: number | null;
  readonly percent: number | null;
}

/** How long the sandbox may take to answer; after that `hydration` is null (specification, "Limits": 1.5 s). */
const answerWithinMs = 1_500;
/** The number of entries that is assumed for a disk with too many entries to count. */
const uncountedEntries = 100_000;

/** The share of the copy at which each phase ends. */
const phases = [
  { phase: 'dvol', until: 0.1 },
  { phase: 'sysdelta', until: 0.25 },
  { phase: 'images', until: 0.4 },
  { phase: 'hydrating', until: 0.9 },
  { phase: 'reconciling', until: 1 },
] as const;
/** Up to this share, only system files are counted, so the total and the percentage are not shown. */
const countedFrom = 0.25;
/** The share of the copy at which a fault makes a step fail. */
const setbackAt = 0.5;

/** Plans a copy that begins now. Uses up a fault if one is armed. */
export function planHydration({ faults, timings }: Context): {
  readonly setback: SandboxRecord['hydrationSetback'];
  readonly durationMs: number;
} {
  const degraded = faults.take('hydration_degraded');
  const fault = degraded ?? faults.take('hydration_stuck');
  if (!fault) return { setback: null, durationMs: timings.hydrationMs };
  const phase = degraded ? 'degraded' : 'stuck';
  return { setback: { phase, ms: fault.ms }, durationMs: timings.hydrationMs + fault.ms };
}

/**
 * The progress of a sandbox that is not hydrated; null once it is hydrated, or if it does not answer in time. All files
 * exist from the start. The progress is only the fraction of the configured time that has passed.
 */
export async function hydrationOf(context: Context, sandboxId: string): Promise<Hydration | null> {
  const { faults, closing, stores, clock, timings } = context;
  const late = faults.take('hydration_late');
  if (late) {
    await delay(Math.min(late.ms, answerWithinMs), undefined, { signal: closing });
    if (late.ms > answerWithinMs) return null;
  }
  const record = stores.sandboxes.get(sandboxId);
  if (!record || record.hydrated || record.hydrationStartedAt === null) return null;
  return progress(record, {
    passedMs: clock.now() - Date.parse(record.hydrationStartedAt),
    hydrationMs: timings.hydrationMs,
  });
}

function progress(
  { hydrationSetback: setback, hydrationEntries }: SandboxRecord,
  { passedMs, hydrationMs }: { readonly passedMs: number; readonly hydrationMs: number },
): Hydration {
  const setbackFromMs = setbackAt * hydrationMs;
  const setbackMs = setback && passedMs > setbackFromMs ? Math.min(setback.ms, passedMs - setbackFromMs) : 0;
  const share = Math.max(0, Math.min(0.999, (passedMs - setbackMs) / hydrationMs));
  const phase = phases.find(({ until }) => share < until)?.phase ?? 'reconciling';
  const failing = setback !== null && setbackMs > 0 && setbackMs < setback.ms;
  const counted = share >= countedFrom;
  return {
    phase: failing ? setback.phase : phase,
    entriesDone: Math.floor(share * (hydrationEntries ?? uncountedEntries)),
    entriesTotal: counted ? hydrationEntries : null,
    percent: counted ? Math.floor(100 * share) : null,
  };
}

/** The work `hydrate`: ends the background copy of a restored sandbox. */
export function hydrate(context: Context, { subject, token }: Work): void {
  const sandbox = context.stores.sandboxes.get(subject);
  if (!sandbox || sandbox.hydrated || String(sandbox.epoch) !== token || isCreating(sandbox.state)) return;
  changeSandbox(context, sandbox, {
    hydrated: true,
    hydratedAt: context.clock.iso(),
    hydrationStartedAt: null,
    hydrationSetback: null,
  });
}

/** How many files, folders and links a snapshot holds; null if it has too many to count. */
export async function countEntries({ host }: Context, snapshotId: string): Promise<number | null> {
  try {
    return (await host.tree(snapshotId)).length;
  } catch {
    // Only the shown progress depends on the count.
    return null;
  }
}
