/**
 * Obtains the sources of a batch, and ends each once no item needs it:
 *
 *     waiting ─► preparing ─► ready ─► ended
 *                    └──────────┴── failed ─► ended
 *
 * At most `sourcesAtOnce` are prepared or ready, in the order of the chunks that name them first. The batch's own source
 * is obtained at once, because items arrive meanwhile. It counts too, and ends with the batch unless others wait.
 */
import { CancellationScope } from '@temporalio/workflow';
import { defaultSourcesAtOnce } from '../../../src/job-settings/batch-settings.js';
import { bulk } from '../../shared/activity-options.js';
import { toJobTermination } from '../../shared/job-termination.js';
import { type BatchState, cutError } from '../batch/batch-state.js';
import { endUnstarted } from '../batch/chunk-record.js';
import { renewLeases } from '../batch/timers.js';
import { knowsLosses } from '../markers.js';
import { endSource } from './end.js';
import { changeSinceEarlier, obtainSource } from './obtain.js';
import { hasFailed, isHeld, isOwn, numberOf, type SourceSlot } from './source-slot.js';

/** Obtains the batch's own source in parallel, because items arrive in the meantime. */
export function obtainMain(batch: BatchState): void {
  const { carried, input, main } = batch;
  if (!input.source || carried.source !== null || carried.ending !== null) return;
  const needing = batch.ownSlots.length > 0 && knowsLosses() ? batch.recordsOf(main) : batch.records;
  const isDone = carried.seal !== null && needing.every(({ state }) => state === 'ended');
  if (!isDone) obtain(batch, main);
}

/** Cancels what is being obtained. The next run, if there is one, goes on with it. */
export function stopObtaining({ slots }: BatchState): void {
  for (const { obtaining } of slots) obtaining?.cancel();
}

/** @param clocks the scope of what ends with this run */
export function tendSources(batch: BatchState, clocks: CancellationScope): void {
  const { carried, ownSlots } = batch;
  if (ownSlots.length === 0) return;
  endChunksOfFailed(batch);
  const needed = neededSources(batch);
  const isNeeded = (slot: SourceSlot) => needed.has(numberOf(slot));
  const { sourcesAtOnce = defaultSourcesAtOnce } = batch.input.policy;
  let ends = sourcesAtOnce - batch.slots.filter((slot) => slot.ending && !slot.carried.isSourceEnded).length;
  for (const slot of batch.slots) {
    if (mayEnd(batch, slot) && !isNeeded(slot)) {
      // A resume knows only by looking whether an earlier execution has ended them.
      const mustLook = isOwn(slot) && !isHeld(slot) && slot.carried.end !== undefined;
      if (!mustLook || ends > 0) end(batch, slot);
      if (mustLook) ends -= 1;
    } else if (isOwn(slot)) keepLeased(batch, slot, clocks);
  }
  if (carried.ending !== null) return;
  // An earlier run was obtaining them.
  for (const slot of ownSlots) if (slot.carried.isBegun && isMissing(slot)) obtain(batch, slot);
  let room = sourcesAtOnce - batch.slots.filter(isHeld).length;
  for (const slot of carried.held ? [] : ownSlots) {
    if (room <= 0) return;
    if (slot.carried.isBegun || !isMissing(slot) || !isNeeded(slot)) continue;
    obtain(batch, slot);
    room -= 1;
  }
}

function isMissing(slot: SourceSlot): boolean {
  return slot.carried.source === null && !slot.carried.isSourceEnded && !hasFailed(slot) && !slot.obtaining;
}

/** Chunks that may run end their items themselves. */
function endChunksOfFailed(batch: BatchState): void {
  for (const record of batch.records) {
    if (!hasFailed(batch.slotOf(record))) continue;
    if (record.state === 'ended' || batch.hasNothing(record)) endUnstarted(record);
  }
}

/** The numbers of the sources of all chunks that have not ended; undefined for that of the batch. */
function neededSources(batch: BatchState): ReadonlySet<number | undefined> {
  const isEnding = batch.carried.ending !== null;
  const open = batch.records.filter((one) => one.state !== 'ended' && !(isEnding && batch.hasNothing(one)));
  return new Set(open.map(({ source }) => source));
}

/** True unless chunks may come that need the source. */
function mayEnd({ carried }: BatchState, slot: SourceSlot): boolean {
  if (slot.carried.isSourceEnded || slot.obtaining || slot.isRenewing || slot.ending) return false;
  return carried.seal !== null || carried.ending !== null || hasFailed(slot);
}

function obtain(batch: BatchState, slot: SourceSlot): void {
  const { carried, input, place } = batch;
  const scope = new CancellationScope();
  slot.obtaining = scope;
  if (isOwn(slot)) slot.carried.isBegun = true;
  batch.inBackground(async () => {
    try {
      const source = await scope.run(async () => {
        const named = isOwn(slot) ? await bulk.readFanoutSource(place, slot.carried.number) : input.source;
        if (isOwn(slot) && named?.kind === 'prepare') slot.carried.end = named.end;
        return named && obtainSource(batch, slot, named);
      });
      if (!source) return;
      slot.carried.sourceChange ??= changeSinceEarlier(carried.startedFrom, source);
      slot.carried.source = source;
      batch.enterFor(slot, 'running');
    } catch (error) {
      if (!scope.consideredCancelled) batch.failSource(slot, toJobTermination(error).jobError);
    } finally {
      slot.obtaining = null;
    }
  });
}

function end(batch: BatchState, slot: SourceSlot): void {
  slot.leasing?.cancel();
  const ending = endSource(batch, slot);
  slot.ending = ending;
  batch.inBackground(async () => {
    try {
      const error = await ending;
      if (error) batch.carried.sourceLeft ??= cutError(error);
    } finally {
      slot.carried.isSourceEnded = true;
      if (isOwn(slot)) slot.carried.source = null;
    }
  });
}

function keepLeased(batch: BatchState, slot: SourceSlot, clocks: CancellationScope): void {
  if (slot.carried.source === null || slot.leasing || slot.ending) return;
  clocks.run(() => renewLeases(batch, slot)).catch(() => undefined);
}
