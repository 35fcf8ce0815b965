/** Starts batches, hands them their items, and talks to those that run. */
import {
  type Client,
  WorkflowExecutionAlreadyStartedError,
  type WorkflowExecutionDescription,
  WorkflowIdReusePolicy,
} from '@temporalio/client';
import type { FanoutInput, FanoutItem, FanoutProgress } from '../../../workflows/fanout/types.js';
import { fanoutProgressQuery, workflowTypes } from '../../../workflows/messages.js';
import { SandflowError } from '../../contract/sandflow-error.js';
import type { ResultStore } from '../../result-store/index.js';
import { firstQueryTimeoutMs, withAnswerTimeout } from '../answer-timeout.js';
import { contentDigest } from '../input-digest.js';
import { describeReadable } from '../readable-memos.js';
import { keepFanoutTexts } from '../store-texts.js';
import { explainFanoutError, fanoutEnded, fanoutNotFound, notAFanout } from './errors.js';
import { fanoutHandle } from './handle.js';
import { badBatch, checkFanoutSize, parseFanoutInput } from './input.js';
import { launchBatch } from './launch.js';
import { checkChunk, itemsDigest, itemToSubmit } from './pack-items.js';
import { sendChunk, sendSeal } from './updates.js';

/** How long to wait for a worker that takes an update, in ms. */
const patienceMs = 30_000;

/** Which batch. */
export interface FanoutAddress {
  /** Name of the deployment. */
  readonly deployment: string;
  /** Id of the batch, unique within the deployment. */
  readonly batchId: string;
}

/** Options of starting a batch. */
export interface StartFanoutOptions {
  /** Task queue of the workers that run jobs. */
  readonly taskQueue: string;
  /**
   * The result store that the workers use too. Prompts, scripts, commands and files that are too long for Temporal go
   * there; without it they are refused.
   */
  readonly results?: ResultStore;
}

/** The result of starting a batch. */
export interface StartedFanout {
  /** False if the batch already exists: it runs, or it has ended. */
  readonly started: boolean;
  /** Temporal run id of the batch. */
  readonly runId: string;
}

/** What a batch's memo holds. */
export interface FanoutMemo {
  readonly title: string | null;
  /** Digest that shows whether a second start with the same id has the same input. */
  readonly inputDigest: string;
  /** Of a resumed batch: run id of its first execution. */
  readonly batchKey?: string;
}

/**
 * Starts a batch, which then waits for its items, or finds the one that has its id already. Safe to repeat and to race:
 * Temporal itself decides who starts it.
 * @throws SandflowError `bad_fanout_input` before anything is started; `fanout_differs` if the id belongs to a batch
 *   with other settings; `not_a_fanout` where it belongs to a job
 */
export async function startFanout(
  client: Client,
  input: FanoutInput,
  { taskQueue, results }: StartFanoutOptions,
): Promise<StartedFanout> {
  const checked = await keepFanoutTexts(parseFanoutInput(input), { results, refuse: badBatch });
  checkFanoutSize(checked);
  const memo: FanoutMemo = { title: checked.title ?? null, inputDigest: fanoutDigest(checked) };
  try {
    const workflowIdReusePolicy = WorkflowIdReusePolicy.REJECT_DUPLICATE;
    return await launchBatch(client, checked, { taskQueue, memo, workflowIdReusePolicy });
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    const there = await describeFanout(client, checked);
    const known = there.memo?.inputDigest;
    if (known === undefined || known === memo.inputDigest) return { started: false, runId: there.runId };
    const message = `There is a batch "${checked.batchId}" with other settings. Give the same settings to go on with it, or choose another id.`;
    throw new SandflowError('fanout_differs', message);
  }
}

/**
 * Hands a batch some of its items. Answers when they are stored. Safe to repeat: a chunk that the batch knows changes
 * nothing.
 * @param chunk from 0; in the end there must be no gap. At most 100 items and 1 MB: `submitFanout` packs them
 * @param options `results` as for `startFanout`
 * @throws SandflowError `bad_fanout_input`; `refused` if the number holds other items, or the batch is ending or sealed;
 *   `fanout_not_found`, `fanout_ended`, `no_worker`
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
  await sendChunk(client, batch, { ...chunk, items, digest: itemsDigest(items) }, { patienceMs });
}

/**
 * Says that a batch has all its items. Safe to repeat.
 * @throws SandflowError `refused` if a chunk is missing; `fanout_not_found`, `fanout_ended`, `no_worker`
 */
export async function sealFanout(
  client: Client,
  batch: FanoutAddress,
  seal: { readonly chunks: number; readonly items: number },
): Promise<void> {
  await sendSeal(client, batch, seal, { patienceMs });
}

/**
 * The progress of a batch, also after its end. Cheap, whatever the number of items. Needs a worker.
 * @throws SandflowError `fanout_not_found`, or `no_worker` if no worker answers within 30 s
 */
export function fanoutProgress(client: Client, batch: FanoutAddress): Promise<FanoutProgress> {
  return answered(client, batch, () => fanoutHandle(client, batch).query(fanoutProgressQuery), firstQueryTimeoutMs);
}

/**
 * Asks a batch to end: it interrupts its items, stops or deletes their forks as it was told, confirms it, and ends as
 * `cancelled`. Returns when Temporal has taken the request. Safe to repeat.
 * @throws SandflowError `fanout_not_found`, `fanout_ended`
 */
export async function cancelFanout(client: Client, batch: FanoutAddress): Promise<void> {
  // Temporal takes the request for a closed workflow without a word.
  const { status } = await describeFanout(client, batch);
  if (status.name !== 'RUNNING') throw fanoutEnded(batch);
  await answered(client, batch, () => fanoutHandle(client, batch).cancel());
}

/**
 * What Temporal knows of a batch without asking it. Needs no worker.
 * @throws SandflowError `fanout_not_found`, `not_a_fanout`
 */
export async function describeFanout(client: Client, batch: FanoutAddress): Promise<WorkflowExecutionDescription> {
  const there = await answered(client, batch, () => describeReadable(client, fanoutHandle(client, batch).workflowId));
  if (there.type === workflowTypes.forkFanout) return there;
  throw there.type === workflowTypes.createThenPrompt ? notAFanout(batch) : fanoutNotFound(batch);
}

/** A digest of a batch's input, without its id. */
export function fanoutDigest(input: FanoutInput): string {
  const { batchId: _, deployment: __, ...rest } = input;
  return contentDigest(rest);
}

/** @param firstTimeoutMs how long to wait before a question is asked again; by default it is asked once */
export async function answered<T>(
  client: Client,
  batch: FanoutAddress,
  ask: () => Promise<T>,
  firstTimeoutMs?: number,
): Promise<T> {
  try {
    return await withAnswerTimeout(client, ask, firstTimeoutMs);
  } catch (error) {
    throw await explainFanoutError(error, client, batch);
  }
}
