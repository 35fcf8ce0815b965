/** Starts a batch with its items, and waits for it. */

import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, WorkflowFailedError, WorkflowNotFoundError } from '@temporalio/client';
import { ActivityFailure, ApplicationFailure } from '@temporalio/common';
import { SandflowError } from '../../errors/sandflow-error.js';
import type { ChunkSubmission } from '../../protocol/fanout/batch-parts.js';
import type { FanoutInput, NewFanoutItem } from '../../protocol/fanout/fanout-input.js';
import type { FanoutProgress } from '../../protocol/fanout/fanout-progress.js';
import type { FanoutResult } from '../../protocol/fanout/fanout-result.js';
import { requireOptions } from '../../settings/required-options.js';
import { abortable } from '../../temporal/calls.js';
import { reasonOf } from '../../temporal/errors.js';
import { requireClient } from '../../temporal/own-copy.js';
import { notFoundError } from '../ask-workflow.js';
import {
  askedBatch,
  describeFanout,
  type FanoutAddress,
  fanoutHandle,
  fanoutPlaces,
  fanoutProgress,
  prepareFanout,
  type StartedFanout,
  type StartFanoutOptions,
  startPrepared,
} from './fanout-client.js';
import { bad, type NewFanout, parseFanoutInput } from './fanout-input.js';
import { packItems } from './pack-items.js';
import { sendChunk, sendSeal } from './updates.js';

/** How long to retry, in ms: a worker that is busy with the first items accepts the next items late. */
const patienceMs = 300_000;

/** Options of submitting a batch with its items. */
export interface SubmitFanoutOptions extends StartFanoutOptions {
  /** Called once the first items were read, just before the batch starts: after an earlier error, it has not. Default: none. */
  readonly onStart?: () => void;
  /** Called after each chunk that the batch accepts. Default: none. */
  readonly onProgress?: (sent: { readonly chunks: number; readonly items: number }) => void;
  /** Ends the sending. What was sent stays sent, and the call can be repeated. Default: never. */
  readonly signal?: AbortSignal;
}

/**
 * Starts a batch and sends it all its items, in chunks. The batch begins its work when it has the first chunk. Items that
 * name a `source` of their own are sent source by source, in the order in which the sources first appear. Safe to repeat with the same items in the same order, also after a submitter crashed: a chunk that the batch already has
 * changes nothing.
 * @returns the batch; sends nothing if the batch already has all its items or has ended
 * @throws SandflowError `bad_fanout_input`; `fanout_differs` if the id belongs to a batch with other settings or items;
 *   `not_a_fanout` if it belongs to a job; `refused`, `no_worker`; the reason of `signal`
 * @example
 * const source = { kind: 'sandbox', sandboxId: 'bx_2345abcd', allowStale: false } as const;
 * const items = ['Fix the first.', 'Fix the second.'].map((prompt, at) => ({ id: `${at}`, prompts: [{ prompt }] }));
 * await submitFanout(client, { deployment, batchId: 'issues', source }, items, { taskQueue });
 */
export async function submitFanout(
  client: Client,
  input: NewFanout,
  items: Iterable<NewFanoutItem> | AsyncIterable<NewFanoutItem>,
  given: SubmitFanoutOptions,
): Promise<StartedFanout> {
  requireClient(client);
  requireOptions({ items }, { items: 'an object' });
  requireOptions(given, { taskQueue: 'a text' });
  const { signal } = given;
  const submit = () => submitTo(client, parseFanoutInput(input), items, given);
  return signal ? abortable(client, signal, submit) : submit();
}

async function submitTo(
  client: Client,
  checked: FanoutInput,
  items: Iterable<NewFanoutItem> | AsyncIterable<NewFanoutItem>,
  { onStart, onProgress, signal, ...options }: SubmitFanoutOptions,
): Promise<StartedFanout> {
  const packed = packItems(items, { policy: checked.policy, source: checked.source, results: options.results });
  // An error in the first items must be thrown before the batch starts.
  const first = await packed.next();
  if (first.done) throw bad('The batch has no items.');
  const prepared = await prepareFanout(client, checked, options);
  onStart?.();
  const started = await startPrepared(client, prepared, options);
  if (!started.started) {
    const { sealed, phase } = await fanoutProgress(client, checked);
    if (sealed || phase === 'ending' || phase === 'ended') {
      await requireSameItems(client, checked, { first: first.value, packed, sealed });
      return started;
    }
  }
  await sendItems(client, checked, startingWith(first.value, packed), { onProgress, signal });
  return started;
}

async function* startingWith<T>(first: T, others: AsyncIterable<T>): AsyncGenerator<T> {
  yield first;
  yield* others;
}

/**
 * Sends all items of a batch, and seals it. Safe to repeat with the same chunks. Does nothing to a batch that ends, or
 * has ended.
 * @throws SandflowError as `sendChunk` and `sendSeal`
 */
export async function sendItems(
  client: Client,
  batch: FanoutAddress,
  submissions: AsyncIterable<ChunkSubmission>,
  { onProgress, signal }: Pick<SubmitFanoutOptions, 'onProgress' | 'signal'> = {},
): Promise<void> {
  let chunks = 0;
  let items = 0;
  let newest: ChunkSubmission | undefined;
  const persistence = { patienceMs, signal };
  try {
    for await (newest of submissions) {
      await sendChunk(client, batch, newest, persistence);
      chunks += 1;
      items += newest.items.length;
      onProgress?.({ chunks, items });
    }
    await sendSeal(client, batch, { chunks, items }, persistence);
  } catch (error) {
    signal?.throwIfAborted();
    // A batch may end while its items are sent, if its source fails or it is cancelled; its result says why.
    const phase = (await fanoutProgress(client, batch).catch(() => undefined))?.phase;
    if (phase !== 'ending' && phase !== 'ended') throw error;
    const known = newest && (await digestsOf(client, batch)).get(newest.chunk);
    if (known !== undefined && known !== newest?.digest) throw otherItems(batch);
  }
}

interface RepeatedItems {
  readonly first: ChunkSubmission;
  /** The chunks after the first one. */
  readonly packed: AsyncIterable<ChunkSubmission>;
  readonly sealed: boolean;
}

/** A batch that ended before it was sealed may lack the last chunks. */
async function requireSameItems(
  client: Client,
  batch: FanoutAddress,
  { first, packed, sealed }: RepeatedItems,
): Promise<void> {
  const digests = await digestsOf(client, batch);
  const check = ({ chunk, digest }: ChunkSubmission): void => {
    const known = digests.get(chunk);
    if (known === undefined ? sealed : known !== digest) throw otherItems(batch);
    digests.delete(chunk);
  };
  check(first);
  for await (const next of packed) check(next);
  if (digests.size > 0) throw otherItems(batch);
}

/** The digests of the items that a batch has, by chunk. */
async function digestsOf(client: Client, batch: FanoutAddress): Promise<Map<number, string>> {
  return new Map((await fanoutPlaces(client, batch)).map(({ chunk, digest }) => [chunk, digest]));
}

function otherItems({ batchId }: FanoutAddress): SandflowError {
  const message = `The batch "${batchId}" already exists with other items. \`sandflow fanout watch ${batchId}\` prints its results; choose another id for a new batch.`;
  return new SandflowError('fanout_differs', message);
}

/** Options of waiting for a batch. */
export interface AwaitFanoutOptions {
  /** Called after every change. Default: none. */
  readonly onProgress?: (progress: FanoutProgress) => void;
  /** Ends the wait; the batch continues. Default: never. */
  readonly signal?: AbortSignal;
  /** Poll interval in ms. Default: 1 000. */
  readonly lookEveryMs?: number;
}

/**
 * Waits until a batch has ended. If the wait is interrupted, the batch continues, and the wait can be repeated.
 * @throws SandflowError `fanout_not_found`; `fanout_lost` if somebody terminated it; `result_of_other_version` if a resume
 *   cannot read what the batch has stored; the reason of `signal`
 * @example
 * const signal = AbortSignal.timeout(60_000);
 * const { counts } = await awaitFanout(client, { deployment, batchId: 'issues' }, { signal });
 */
export async function awaitFanout(
  client: Client,
  batch: FanoutAddress,
  options: AwaitFanoutOptions = {},
): Promise<FanoutResult> {
  const { signal, onProgress } = options;
  signal?.throwIfAborted();
  await describeFanout(client, batch);
  const over = new AbortController();
  const watching = onProgress && watch(client, batch, { ...options, onProgress, signal: over.signal });
  try {
    signal?.throwIfAborted();
    const result = () => fanoutHandle(client, batch).result() as Promise<FanoutResult>;
    return await (signal ? abortable(client, signal, result) : result());
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof WorkflowNotFoundError) throw notFoundError(askedBatch(batch), error);
    if (!(error instanceof WorkflowFailedError)) throw error;
    const unreadable = unreadableOf(error);
    if (unreadable) throw new SandflowError('result_of_other_version', unreadable.message, { cause: error });
    const message = `The workflow of the batch "${batch.batchId}" was ended outside sandflow: ${reasonOf(error)}. \`sandflow fanout resume ${batch.batchId}\` continues it.`;
    throw new SandflowError('fanout_lost', message, { cause: error });
  } finally {
    over.abort();
    await watching;
  }
}

/** Why a resume could not read what the batch had stored; undefined if it ended for another reason. */
function unreadableOf({ cause }: WorkflowFailedError): ApplicationFailure | undefined {
  const failure = cause instanceof ActivityFailure ? cause.cause : cause;
  const isOfOtherVersion = failure instanceof ApplicationFailure && failure.type === 'result_of_other_version';
  return isOfOtherVersion ? failure : undefined;
}

async function watch(
  client: Client,
  batch: FanoutAddress,
  options: Required<Pick<AwaitFanoutOptions, 'onProgress' | 'signal'>> & AwaitFanoutOptions,
): Promise<void> {
  const { onProgress, signal, lookEveryMs = 1_000 } = options;
  let seen = '';
  while (!signal.aborted) {
    try {
      const progress = await abortable(client, signal, () => fanoutProgress(client, batch));
      const now = JSON.stringify(progress);
      if (now !== seen) onProgress(progress);
      seen = now;
      await sleep(lookEveryMs, undefined, { signal });
    } catch {
      // The wait for the result reports the error.
      if (!signal.aborted) await sleep(lookEveryMs);
    }
  }
}
