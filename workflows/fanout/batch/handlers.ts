/** The message handlers of a batch: items, their seal, and the reports of chunks. */
import { ApplicationFailure, CancellationScope, condition, setHandler } from '@temporalio/workflow';
import { maxChunks, maxItemsInChunk } from '../../../src/contract/fanout-addresses.js';
import {
  addChunkUpdate,
  chunkReportSignal,
  fanoutProgressQuery,
  sandboxEventSignal,
  sealUpdate,
} from '../../messages.js';
import { storing } from '../../shared/proxies.js';
import type { ChunkSubmission, SealRequest } from '../protocol.js';
import { newRecord } from './chunk-record.js';
import type { BatchState } from './state.js';
import { placeProblem, sealProblem } from './validate-seal.js';

export function handleBatchMessages(run: BatchState): void {
  setHandler(fanoutProgressQuery, () => run.progress());
  setHandler(chunkReportSignal, (report) => {
    run.messages += 1;
    run.hear(report);
  });
  setHandler(sandboxEventSignal, (event) => run.sourceJob?.inbox.record(event));
  setHandler(addChunkUpdate, (wish) => CancellationScope.nonCancellable(() => addChunk(run, wish)), {
    validator: (wish) => refuseNonsense(wish),
  });
  setHandler(sealUpdate, (wish) => CancellationScope.nonCancellable(() => seal(run, wish)));
}

/** Stores the items before it answers, so that they survive whatever happens next. */
async function addChunk(run: BatchState, wish: ChunkSubmission): Promise<{ readonly isNew: boolean }> {
  run.messages += 1;
  await condition(() => run.isSurveyed && !run.arriving.has(wish.chunk));
  const known = run.known.get(wish.chunk);
  if (known) {
    if (known.digest === wish.digest) return { isNew: false };
    throw refused(`chunk ${wish.chunk} holds other items already. Items of a batch cannot be changed: use another id.`);
  }
  if (run.seal) throw refused(`the batch has all its items since it was sealed with ${run.seal.chunks} chunks.`);
  if (!run.takesItems) throw refused('the batch is ending and takes no items any more.');
  const record = newRecord({ ...wish, items: wish.items.length }, Date.now());
  const problem = placeProblem([...run.known.values()], record);
  if (problem) throw refused(problem);
  run.arriving.add(wish.chunk);
  run.arrivedAtMs = Date.now();
  try {
    const summary = `chunk ${wish.chunk}: ${wish.items.length} items`;
    await storing.storeObject.executeWithOptions({ summary }, [run.places.chunk(wish.chunk), wish]);
    run.take(record);
    run.tellNews();
    return { isNew: true };
  } finally {
    run.arriving.delete(wish.chunk);
  }
}

async function seal(run: BatchState, wish: SealRequest): Promise<{ readonly isNew: boolean }> {
  run.messages += 1;
  await condition(() => run.isSurveyed && run.arriving.size === 0);
  if (run.seal?.chunks === wish.chunks && run.seal.items === wish.items) return { isNew: false };
  if (run.seal) throw refused(`the batch was sealed with ${run.seal.items} items, not ${wish.items}.`);
  const problem = sealProblem([...run.known.values()], wish);
  if (problem) throw refused(problem);
  await storing.storeObject.executeWithOptions({ summary: 'seal' }, [run.places.seal, wish]);
  run.seal = wish;
  run.tellNews();
  return { isNew: true };
}

function refuseNonsense({ chunk, items, firstIndex }: ChunkSubmission): void {
  if (!(Number.isInteger(chunk) && chunk >= 0 && chunk < maxChunks)) {
    throw refused(`a batch has at most ${maxChunks} chunks, numbered from 0.`);
  }
  if (!(items.length >= 1 && items.length <= maxItemsInChunk)) {
    throw refused(`a chunk has 1 to ${maxItemsInChunk} items.`);
  }
  if (!(Number.isInteger(firstIndex) && firstIndex >= 0)) throw refused('the first item has an index from 0.');
}

function refused(message: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(message, 'refused');
}
