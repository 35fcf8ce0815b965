/** Sends items to batches and seals batches. Retries after failures that pass by themselves. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, WorkflowUpdateFailedError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import type { ChunkSubmission, SealRequest } from '../../protocol/fanout/batch-parts.js';
import type { FanoutItem } from '../../protocol/fanout/fanout-input.js';
import { addChunkUpdate, notStored, sealUpdate } from '../../protocol/messages.js';
import type { ResultStore } from '../../result-store/index.js';
import { withAnswerTimeout } from '../../temporal/calls.js';
import { isBusy, isClosing, isSlow } from '../../temporal/errors.js';
import { describeReadable } from '../../temporal/readable-memos.js';
import { explainError } from '../ask-workflow.js';
import { askedBatch, type FanoutAddress, fanoutHandle } from './fanout-client.js';
import { checkChunk, itemsDigest, itemToSubmit } from './pack-items.js';

const defaultPatienceMs = 30_000;
const pauseMs = 500;

/**
 * Sends items to a batch. Returns when they are stored. Safe to repeat: a chunk that the batch already has changes
 * nothing.
 * @param chunk numbered from 0; no number may be missing when the batch is sealed. At most 100 items and 1 MB:
 *   `submitFanout` packs items this way
 * @param options `results` as for `startFanout`
 * @throws SandflowError `bad_fanout_input`; `refused` if the batch has other items under this number, or the batch is
 *   ending or sealed; `fanout_not_found`, `fanout_ended`, `no_worker`
 * @example
 * const items = [{ id: 'first', prompts: [{ prompt: 'Fix the first issue.' }] }];
 * await addFanoutChunk(client, { deployment, batchId: 'issues' }, { chunk: 0, firstIndex: 0, items });
 */
export async function addFanoutChunk(
  client: Client,
  batch: FanoutAddress,
  chunk: { readonly chunk: number; readonly firstIndex: number; readonly items: readonly FanoutItem[] },
  options: { readonly results?: ResultStore } = {},
): Promise<void> {
  const items: FanoutItem[] = [];
  for (const [at, item] of chunk.items.entries()) items.push(await itemToSubmit(item, chunk.firstIndex + at, options));
  checkChunk(chunk.chunk, items);
  await sendChunk(client, batch, { ...chunk, items, digest: itemsDigest(items) });
}

/**
 * Declares that a batch has all its items. Safe to repeat.
 * @throws SandflowError `refused` if a chunk is missing; `fanout_not_found`, `fanout_ended`, `no_worker`
 * @example
 * await sealFanout(client, { deployment, batchId: 'issues' }, { chunks: 1, items: 1 });
 */
export async function sealFanout(
  client: Client,
  batch: FanoutAddress,
  seal: { readonly chunks: number; readonly items: number },
): Promise<void> {
  await sendSeal(client, batch, seal);
}

/** How long to send what is not accepted at once. */
export interface Persistence {
  /** How long to retry while no worker answers, in ms. Default: 30 000. */
  readonly patienceMs?: number;
  /** Ends the retries. The caller ends the calls themselves, with `abortable`. Default: never. */
  readonly signal?: AbortSignal | undefined;
}

/** Safe to repeat. */
export async function sendChunk(
  client: Client,
  batch: FanoutAddress,
  chunk: ChunkSubmission,
  persistence?: Persistence,
): Promise<void> {
  // The id does not contain the digest of the items. Ids are not encrypted, so anyone could confirm a guess of the
  // items.
  const updateId = `chunk-${chunk.chunk}-${randomUUID()}`;
  const send = () => fanoutHandle(client, batch).executeUpdate(addChunkUpdate, { args: [chunk], updateId });
  await persist(client, batch, send, persistence);
}

/** Safe to repeat. */
export async function sendSeal(
  client: Client,
  batch: FanoutAddress,
  seal: SealRequest,
  persistence?: Persistence,
): Promise<void> {
  await persist(
    client,
    batch,
    () => fanoutHandle(client, batch).executeUpdate(sealUpdate, { args: [seal] }),
    persistence,
  );
}

/**
 * Sends an update, and repeats it after a temporary failure. There are four such failures: a run that continues as new
 * may refuse an update, or not wait for the result store, Temporal accepts only ten updates at once, and a busy worker may
 * answer late.
 */
async function persist<T>(
  client: Client,
  batch: FanoutAddress,
  send: () => Promise<T>,
  { patienceMs = defaultPatienceMs, signal }: Persistence = {},
): Promise<T> {
  const untilMs = Date.now() + patienceMs;
  for (;;) {
    try {
      return await withAnswerTimeout(client, send);
    } catch (error) {
      signal?.throwIfAborted();
      const passes =
        isBusy(error) || isSlow(error) || isNotStored(error) || (isClosing(error) && (await runs(client, batch)));
      if (!passes || Date.now() + pauseMs >= untilMs) throw await explainError(error, client, askedBatch(batch));
      await sleep(pauseMs);
    }
  }
}

function isNotStored(error: unknown): boolean {
  if (!(error instanceof WorkflowUpdateFailedError)) return false;
  return error.cause instanceof ApplicationFailure && error.cause.type === notStored;
}

async function runs(client: Client, batch: FanoutAddress): Promise<boolean> {
  try {
    return (await describeReadable(client, fanoutHandle(client, batch).workflowId)).status.name === 'RUNNING';
  } catch {
    return false;
  }
}
