/** The message handlers of a batch: items, their seal, and the reports of chunks. */
import {
  ApplicationFailure,
  type CancellationScope,
  condition,
  isCancellation,
  setHandler,
} from '@temporalio/workflow';
import type { ChunkRecord, ChunkSubmission, SealRequest } from '../../../src/protocol/fanout/batch-parts.js';
import { maxChunks, maxItemsInChunk } from '../../../src/protocol/limits.js';
import {
  addChunkUpdate,
  chunkReportSignal,
  fanoutPlacesQuery,
  fanoutProgressQuery,
  goOnUpdate,
  notStored,
  sandboxEventSignal,
  sealUpdate,
} from '../../../src/protocol/messages.js';
import { storing } from '../../shared/activity-options.js';
import type { BatchState } from './batch-state.js';
import { newRecord } from './chunk-record.js';
import { letGoOn } from './hold.js';

const endingMessage = 'the batch is ending and accepts no items.';

/** @param untilPause the scope of what may wait for the result store; cancelled when the run must end */
export function handleBatchMessages(batch: BatchState, untilPause: CancellationScope): void {
  setHandler(fanoutProgressQuery, () => batch.progress());
  setHandler(fanoutPlacesQuery, () =>
    [...batch.known.values()].map(({ chunk, firstIndex, items, digest }) => ({ chunk, firstIndex, items, digest })),
  );
  setHandler(chunkReportSignal, (report) => {
    batch.messages += 1;
    batch.receiveReport(report);
  });
  setHandler(sandboxEventSignal, (event) => {
    for (const { job } of batch.slots) job?.inbox.record(event);
  });
  setHandler(addChunkUpdate, (submission) => within(batch, untilPause, () => addChunk(batch, submission)), {
    validator: (submission) => refuseNonsense(submission),
  });
  setHandler(goOnUpdate, () => {
    batch.messages += 1;
    return letGoOn(batch);
  });
  setHandler(sealUpdate, (request) => within(batch, untilPause, () => seal(batch, request)));
}

/** Handles a request that may wait for the result store. @throws `notStored` if the run must end before that, or `refused` if no run follows */
async function within<Answer>(
  batch: BatchState,
  untilPause: CancellationScope,
  handle: () => Promise<Answer>,
): Promise<Answer> {
  try {
    return await untilPause.run(handle);
  } catch (error) {
    if (!isCancellation(error)) throw error;
    if (!batch.carried.isSurveyed && !batch.takesItems) throw refused(endingMessage);
    const message = 'the result store did not take this in time. Send it again.';
    throw ApplicationFailure.nonRetryable(message, notStored);
  }
}

/** Stores the items before it answers, so that an accepted item is never lost. */
async function addChunk(batch: BatchState, submission: ChunkSubmission): Promise<{ readonly isNew: boolean }> {
  batch.messages += 1;
  await condition(() => batch.carried.isSurveyed && !batch.arriving.has(submission.chunk));
  const known = batch.known.find(({ chunk }) => chunk === submission.chunk);
  if (known) {
    if (known.digest === submission.digest) return { isNew: false };
    throw refused(
      `chunk ${submission.chunk} already holds other items. The items of a batch cannot be changed: use another batch id.`,
    );
  }
  const { carried } = batch;
  if (carried.seal) throw refused(`the batch is sealed with ${carried.seal.chunks} chunks.`);
  if (!batch.takesItems) throw refused(endingMessage);
  if (!submission.source && !batch.input.source) throw refused('the batch has no source, and the chunk names none.');
  const record = newRecord({ ...submission, items: submission.items.length }, Date.now());
  const problem = placeProblem(batch.known, record);
  if (problem) throw refused(problem);
  batch.arriving.add(submission.chunk);
  carried.arrivedAtMs = Date.now();
  try {
    const summary = `chunk ${submission.chunk}: ${submission.items.length} items`;
    const stored = [batch.places.chunk(submission.chunk), submission] as const;
    if (submission.source) {
      batch.take(record, { digest: await storing.storeFanoutChunk.executeWithOptions({ summary }, [...stored]) });
    } else {
      await storing.storeObject.executeWithOptions({ summary }, [...stored]);
      batch.take(record);
    }
    batch.noteChange();
    return { isNew: true };
  } finally {
    batch.arriving.delete(submission.chunk);
  }
}

async function seal(batch: BatchState, request: SealRequest): Promise<{ readonly isNew: boolean }> {
  batch.messages += 1;
  await condition(() => batch.carried.isSurveyed && batch.arriving.size === 0);
  const { carried } = batch;
  if (carried.seal?.chunks === request.chunks && carried.seal.items === request.items) return { isNew: false };
  if (carried.seal) throw refused(`the batch was sealed with ${carried.seal.items} items, not ${request.items}.`);
  const problem = sealProblem(batch.known, request);
  if (problem) throw refused(problem);
  await storing.storeObject.executeWithOptions({ summary: 'seal' }, [batch.places.seal, request]);
  carried.seal = request;
  batch.noteChange();
  return { isNew: true };
}

function refuseNonsense({ chunk, items, firstIndex }: ChunkSubmission): void {
  if (!(Number.isInteger(chunk) && chunk >= 0 && chunk < maxChunks)) {
    throw refused(`a batch has at most ${maxChunks} chunks, numbered from 0.`);
  }
  if (!(items.length >= 1 && items.length <= maxItemsInChunk)) {
    throw refused(`a chunk must have 1 to ${maxItemsInChunk} items.`);
  }
  if (!(Number.isInteger(firstIndex) && firstIndex >= 0))
    throw refused('the index of the first item must be 0 or more.');
}

function refused(message: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(message, 'refused');
}

type Place = Pick<ChunkRecord, 'chunk' | 'firstIndex' | 'items'>;

/**
 * Why the items of a chunk cannot have the submitted positions, or undefined if they can. Positions of two chunks must
 * not overlap.
 */
export function placeProblem(records: readonly Place[], added: Place): string | undefined {
  const ordered = [...records, added].sort((a, b) => a.chunk - b.chunk);
  for (const [at, record] of ordered.entries()) {
    const before = ordered[at - 1];
    const isNext = before ? before.chunk === record.chunk - 1 : record.chunk === 0;
    const end = before ? before.firstIndex + before.items : 0;
    if (isNext ? record.firstIndex === end : record.firstIndex >= end) continue;
    return `chunk ${record.chunk} begins at item ${record.firstIndex}, but the chunk before it ends at ${end}.`;
  }
  return undefined;
}

/** Why the batch cannot be sealed, or undefined if it can. */
export function sealProblem(records: readonly Place[], { chunks, items }: SealRequest): string | undefined {
  const known = new Map(records.map((record) => [record.chunk, record]));
  const missing = Array.from({ length: chunks }, (_, chunk) => chunk).filter((chunk) => !known.has(chunk));
  if (missing.length > 0)
    return `these chunks are missing: ${missing.slice(0, 20).join(', ')}. Submit them, then seal.`;
  const surplus = records.filter(({ chunk }) => chunk >= chunks).map(({ chunk }) => chunk);
  if (surplus.length > 0) return `there are chunks beyond the ${chunks} of the seal: ${surplus.join(', ')}.`;
  let next = 0;
  for (let chunk = 0; chunk < chunks; chunk += 1) {
    const record = known.get(chunk);
    if (record?.firstIndex !== next) return `chunk ${chunk} begins at item ${record?.firstIndex}, not at ${next}.`;
    next += record.items;
  }
  return next === items ? undefined : `the chunks hold ${next} items, not ${items}.`;
}
