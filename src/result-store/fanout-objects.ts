/** Reads the objects of a batch from the result store: its chunks as submitted, and the results of its items. */

import { type FanoutPlace, fanoutPlaces, itemRecords } from '../addresses/fanout-addresses.js';
import type { SourceState } from '../contract/workflow-safe/source-state.js';
import { SandflowError } from '../errors/sandflow-error.js';
import { isExcused } from '../protocol/failure-class.js';
import type { ChangedChunk, ChangedItem, KnownItem, SealRequest, StoredChunk } from '../protocol/fanout/batch-parts.js';
import type { FanoutItem, ItemToEnd } from '../protocol/fanout/fanout-input.js';
import type { EarlierAttempt, ItemResult } from '../protocol/fanout/fanout-result.js';
import type { ListedObject, ResultStore } from './result-store.js';
import { findStoredJson, readStoredJson } from './stored-json.js';

export type { FanoutPlace };

/** The chunks that are stored, by number. */
export async function storedChunks(store: ResultStore, place: FanoutPlace): Promise<ReadonlyMap<number, ListedObject>> {
  const found = new Map<number, ListedObject>();
  for (const object of await store.list(fanoutPlaces(place).chunks)) {
    const number = /\/(\d+)\.json$/.exec(object.key)?.[1];
    if (number !== undefined) found.set(Number(number), object);
  }
  return new Map([...found].sort(([a], [b]) => a - b));
}

/** Reads a chunk that `storedChunks` has listed. */
export function readListedChunk(store: ResultStore, object: ListedObject): Promise<StoredChunk> {
  return readStoredJson<StoredChunk>(store, object.ref);
}

/** @throws SandflowError `result_not_found` */
export async function readChunk(store: ResultStore, place: FanoutPlace, chunk: number): Promise<StoredChunk> {
  const object = (await storedChunks(store, place)).get(chunk);
  if (!object)
    throw new SandflowError('result_not_found', `The result store has no chunk ${chunk} of ${place.batchId}.`);
  return readStoredJson<StoredChunk>(store, object.ref);
}

/** The items of a chunk that a resume has changed, by their place in it. Empty if there are none. */
export async function readChanged(
  store: Pick<ResultStore, 'get' | 'find'>,
  place: FanoutPlace,
  { set, chunk }: { readonly set: string | undefined; readonly chunk: number },
): Promise<ReadonlyMap<number, ChangedItem>> {
  if (set === undefined) return new Map();
  const found = await findStoredJson<ChangedChunk>(store, fanoutPlaces(place).changedChunk(set, chunk));
  return new Map((found?.items ?? []).map((item) => [item.at, item]));
}

/** The total number of chunks and items of a batch; null while it is not known. */
export function readSeal(store: ResultStore, place: FanoutPlace): Promise<SealRequest | null> {
  return findStoredJson<SealRequest>(store, fanoutPlaces(place).seal);
}

/** The results of an item's generations, oldest first. Empty if no generation has ended. */
export async function itemGenerations(store: ResultStore, place: FanoutPlace, index: number): Promise<ListedObject[]> {
  const objects = await itemResultObjects(store, place, fanoutPlaces(place).item(index));
  return objects.sort((a, b) => generationOf(a) - generationOf(b));
}

const generationOf = ({ key }: ListedObject) => Number(/(\d+)\.json$/.exec(key)?.[1]);

/**
 * The results below a folder of the batch: of one item or, by default, of all items. The folder of an item has other
 * objects too, such as the keys of its forks.
 */
export async function itemResultObjects(
  store: Pick<ResultStore, 'list'>,
  place: FanoutPlace,
  folder: string = fanoutPlaces(place).items,
): Promise<ListedObject[]> {
  const { items } = fanoutPlaces(place);
  return (await store.list(folder)).filter(({ key }) => /^\/\d+\/\d+\.json$/.test(key.slice(items.length)));
}

/**
 * The newest result of an item; null if no generation ended.
 * @example
 * const item = await readItemResult(results, { deployment, batchId: 'issues', batchKey }, 0);
 */
export async function readItemResult(
  store: ResultStore,
  place: FanoutPlace,
  index: number,
): Promise<ItemResult | null> {
  const newest = (await itemGenerations(store, place, index)).at(-1);
  return newest ? readStoredJson<ItemResult>(store, newest.ref) : null;
}

/** The state that a fork of an item without a result was to start from; null if no fork was sent, or any state was fine. */
export async function stateOfSentFork(
  store: ResultStore,
  place: FanoutPlace,
  index: number,
): Promise<SourceState | null> {
  for (const { ref } of await store.list(itemRecords(fanoutPlaces(place).item(index)).keys)) {
    const { state, startsFrom } = await readStoredJson<SentFork>(store, ref);
    if (state === 'sent' && startsFrom) return startsFrom;
  }
  return null;
}

/** The generations of an item whose forks were sent. */
export async function sentGenerations(
  store: Pick<ResultStore, 'get' | 'list'>,
  place: FanoutPlace,
  index: number,
): Promise<number[]> {
  const sent: number[] = [];
  for (const object of await store.list(itemRecords(fanoutPlaces(place).item(index)).keys)) {
    const { state } = await readStoredJson<SentFork>(store, object.ref);
    if (state === 'sent') sent.push(generationOf(object));
  }
  return sent;
}

/** The part of the record of a fork's key that a resume reads. */
export interface SentFork {
  /** `not_sent`: every call with the key was refused, so none had an effect. */
  readonly state: 'sent' | 'not_sent';
  readonly startsFrom?: SourceState;
}

/** Reads the facts about an item that a restarted chunk needs. */
export async function readKnownItem(store: ResultStore, place: FanoutPlace, index: number): Promise<KnownItem | null> {
  let known: KnownItem | null = null;
  const excused: number[] = [];
  for (const object of await itemGenerations(store, place, index)) {
    const result = await readStoredJson<ItemResult>(store, object.ref);
    const { generation, outcome, failureClass, job, machineSeconds, startsFrom = null } = result;
    const before: number = known?.machineSeconds ?? 0;
    const wasPrompted = result.wasPrompted ?? job?.prompts.some(({ status }) => status !== 'not_sent') ?? true;
    const told = { generation, outcome, failureClass, wasPrompted, errorCode: job?.error?.code ?? null };
    const toEnd = itemToEnd(result, told);
    if (isExcused(told)) excused.push(generation);
    known = {
      index,
      ...told,
      excused,
      machineSeconds: toEnd ? before : before + machineSeconds,
      newestSeconds: toEnd ? 0 : machineSeconds,
      startsFrom,
      toEnd,
    };
  }
  return known;
}

const finalStatuses: ReadonlySet<string> = new Set(['completed', 'failed', 'interrupted', 'not_sent']);

/**
 * Returns what is needed to end the fork of an item. Returns null if there is no fork, or if the result says that it
 * has ended.
 */
function itemToEnd({ job, times }: ItemResult, told: Omit<ItemToEnd, 'sandboxId' | 'running'>): ItemToEnd | null {
  const sandboxId = job?.sandboxId ?? null;
  if (job === null || sandboxId === null || times.endedAt !== null) return null;
  const running = job.prompts.flatMap(({ status, promptId, conversationId }, at) =>
    finalStatuses.has(status) ? [] : { at, promptId, conversationId },
  );
  return { ...told, sandboxId, running };
}

/** The most items whose results are read at once: a store may be far away, and a result as long as the answers. */
const itemsAtOnce = 8;

/**
 * Yields the newest result of every submitted item of a batch, in the order of the batch, as in `results.jsonl`. Works
 * also while the batch runs. Reads a few items at a time, so that the size of the batch does not matter. Writes nothing.
 * If another version wrote a result, `unreadable` says so.
 * @param store the result store that the batch's workers write to
 * @example
 * const failed: string[] = [];
 * for await (const { itemId, outcome } of fanoutItemResults(results, { deployment, batchId: 'issues', batchKey })) {
 *   if (outcome !== 'completed') failed.push(itemId);
 * }
 */
export async function* fanoutItemResults(store: ResultStore, place: FanoutPlace): AsyncGenerator<ItemResult> {
  for (const object of (await storedChunks(store, place)).values()) {
    const { items, firstIndex } = await readStoredJson<StoredChunk>(store, object.ref);
    for (let at = 0; at < items.length; at += itemsAtOnce) {
      const some = items.slice(at, at + itemsAtOnce);
      const results = some.map((item, next) => notStarted(place.batchId, firstIndex + at + next, item));
      yield* await Promise.all(results.map((without) => newestResult(store, place, without)));
    }
  }
}

/**
 * The newest result of an item, with what is known of its earlier attempts. One result that another version wrote must not
 * hide the others.
 * @param without the result of the item without one
 */
async function newestResult(store: ResultStore, place: FanoutPlace, without: ItemResult): Promise<ItemResult> {
  const generations = await itemGenerations(store, place, without.index);
  const newest = generations.at(-1);
  if (!newest) return without;
  const result = await readableResult(store, newest, without);
  const earlier: EarlierAttempt[] = [];
  for (const object of generations.slice(0, -1)) {
    earlier.push(earlierAttempt(await readableResult(store, object, without)));
  }
  return earlier.length === 0 ? result : { ...result, earlier };
}

async function readableResult(store: ResultStore, object: ListedObject, without: ItemResult): Promise<ItemResult> {
  try {
    return await readStoredJson<ItemResult>(store, object.ref);
  } catch (error) {
    if (!(error instanceof SandflowError) || error.code !== 'result_of_other_version') throw error;
    return { ...without, generation: generationOf(object), outcome: 'outcome_unknown', unreadable: error.message };
  }
}

function earlierAttempt({ generation, outcome, job, machineSeconds, unreadable }: ItemResult): EarlierAttempt {
  const prompts = job?.prompts ?? [];
  const reason = unreadable ?? job?.error?.message ?? prompts.find(({ error }) => error !== null)?.error ?? null;
  return {
    generation,
    outcome,
    prompt: prompts[0]?.prompt ?? null,
    error: outcome === 'completed' ? null : reason,
    machineSeconds,
    sandboxId: job?.sandboxId ?? null,
  };
}

function notStarted(batchId: string, index: number, item: FanoutItem): ItemResult {
  const never = { forkedAt: null, usableAt: null, promptedAt: null, answeredAt: null, endingAt: null, endedAt: null };
  return {
    batchId,
    itemId: item.id,
    index,
    generation: 0,
    outcome: 'not_started',
    labels: item.labels ?? {},
    type: item.type ?? 'default',
    times: { queuedAt: null, ...never },
    machineSeconds: 0,
    job: null,
  };
}
