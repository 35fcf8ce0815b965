/** Sends items to batches and seals batches. Retries after failures that pass by themselves. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, WorkflowUpdateFailedError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import type { ChunkSubmission, SealRequest } from '../../protocol/fanout/batch-parts.js';
import { addChunkUpdate, goOnUpdate, notStored, sealUpdate } from '../../protocol/messages.js';
import { withAnswerTimeout } from '../../temporal/calls.js';
import { isBusy, isClosing, isSlow } from '../../temporal/errors.js';
import { explainError } from '../ask-workflow.js';
import { isRunning } from '../is-running.js';
import { askedBatch, type FanoutAddress, fanoutHandle } from './fanout-client.js';

const pauseMs = 500;

/** How long to send what is not accepted at once. */
interface Persistence {
  /** How long to retry while no worker answers, in ms. */
  readonly patienceMs: number;
  /** Ends the retries. The caller ends the calls themselves, with `abortable`. Default: never. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Sends items to a batch. Returns when they are stored. Safe to repeat: a chunk that the batch already has changes
 * nothing.
 * @throws SandflowError `refused` if the batch has other items under this number, or the batch is ending or sealed;
 *   `fanout_not_found`, `fanout_ended`, `no_worker`
 */
export async function sendChunk(
  client: Client,
  batch: FanoutAddress,
  chunk: ChunkSubmission,
  persistence: Persistence,
): Promise<void> {
  // The id does not contain the digest of the items. Ids are not encrypted, so anyone could confirm a guess of the
  // items.
  const updateId = `chunk-${chunk.chunk}-${randomUUID()}`;
  const send = () => fanoutHandle(client, batch).executeUpdate(addChunkUpdate, { args: [chunk], updateId });
  await persist(client, batch, send, persistence);
}

/**
 * Declares that a batch has all its items. Safe to repeat.
 * @throws SandflowError `refused` if a chunk is missing; `fanout_not_found`, `fanout_ended`, `no_worker`
 */
export async function sendSeal(
  client: Client,
  batch: FanoutAddress,
  seal: SealRequest,
  persistence: Persistence,
): Promise<void> {
  const send = () => fanoutHandle(client, batch).executeUpdate(sealUpdate, { args: [seal] });
  await persist(client, batch, send, persistence);
}

/** Lets a held batch start items again. Safe to repeat. @returns false if it was not held, perhaps any more */
export async function sendGoOn(client: Client, batch: FanoutAddress, persistence: Persistence): Promise<boolean> {
  // A repeated request must not let go on what was held again meanwhile.
  const updateId = `go-on-${randomUUID()}`;
  const send = () => fanoutHandle(client, batch).executeUpdate(goOnUpdate, { updateId });
  return (await persist(client, batch, send, persistence)).wasHeld;
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
  { patienceMs, signal }: Persistence,
): Promise<T> {
  const untilMs = Date.now() + patienceMs;
  for (;;) {
    try {
      return await withAnswerTimeout(client, send);
    } catch (error) {
      signal?.throwIfAborted();
      const isOpen = () => isRunning(client, fanoutHandle(client, batch).workflowId).catch(() => false);
      const passes = isBusy(error) || isSlow(error) || isNotStored(error) || (isClosing(error) && (await isOpen()));
      if (!passes || Date.now() + pauseMs >= untilMs) throw await explainError(error, client, askedBatch(batch));
      await sleep(pauseMs);
    }
  }
}

function isNotStored(error: unknown): boolean {
  if (!(error instanceof WorkflowUpdateFailedError)) return false;
  return error.cause instanceof ApplicationFailure && error.cause.type === notStored;
}
