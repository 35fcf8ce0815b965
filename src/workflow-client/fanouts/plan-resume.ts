/** Plans a resume that changes items or runs only some: which items run, and with what. Starts and stores nothing. */
import type { Client } from '@temporalio/client';
import { chunkWorkflowId } from '../../addresses/fanout-addresses.js';
import { SandflowError } from '../../errors/sandflow-error.js';
import type { ChangedChunk, ChangedItem, KnownItem, StoredChunk } from '../../protocol/fanout/batch-parts.js';
import type { FanoutItem, FanoutPolicy, FanoutSource, ItemOutcome } from '../../protocol/fanout/fanout-input.js';
import { turnOf } from '../../protocol/fanout/next-turn.js';
import {
  type FanoutPlace,
  readChanged,
  readKnownItem,
  readListedChunk,
  readSeal,
  sentGenerations,
  storedChunks,
} from '../../result-store/fanout-objects.js';
import type { ResultStore } from '../../result-store/index.js';
import { requireClient } from '../../temporal/own-copy.js';
import { editsBetween } from '../../texts/edits.js';
import { contentDigest } from '../input-digest.js';
import { isRunning } from '../is-running.js';
import { earlierExecution, heldSoUnchanged, stillRuns } from './earlier-execution.js';
import { type FanoutAddress, fanoutProgress } from './fanout-client.js';
import { bad } from './fanout-input.js';
import { changedItem } from './pack-items.js';
import { runningItems } from './running-items.js';

/** Options of planning a resume. */
export interface PlanResumeOptions {
  /** The result store, which the workers use too. */
  readonly results: ResultStore;
  /** Whether items that failed are tried again. Default: true. */
  readonly retryFailed?: boolean;
  /**
   * Ids of the items to run, also of completed ones; no other item runs. An entry may have several, separated by commas.
   * Default: all that have not completed.
   */
  readonly only?: readonly string[];
  /**
   * What an item is to run with. Default: the item does not change.
   * @param item what it ran with last
   * @param submitted what it was when the batch was submitted
   */
  readonly change?: (item: FanoutItem, submitted: FanoutItem) => FanoutItem | Promise<FanoutItem>;
}

/** An item that a resume runs. */
export interface PlannedItem {
  /** What it runs with. */
  readonly item: FanoutItem;
  /** How its newest attempt ended; `not_started` if none has ended. */
  readonly before: ItemOutcome;
  /** The source of its fork; undefined for that of the batch. */
  readonly source?: FanoutSource;
}

/** What a resume does. */
export interface ResumePlan {
  /** The items that run, in the order of the batch. */
  readonly items: readonly PlannedItem[];
  /** Ids of named items that do not run: the same command has named each before, and it has completed since. */
  readonly done: readonly string[];
  /** What is stored of the changes, by the number of the chunk; null if nothing changes and no item is named. */
  readonly changes: ReadonlyMap<number, ChangedChunk> | null;
  /** True if only named items run. */
  readonly only: boolean;
  /** The policy and the source of the batch, if it has one. */
  readonly policy: FanoutPolicy;
  readonly source?: FanoutSource;
}

/**
 * Plans the resume of a batch. Safe to repeat: it only reads, and moves long texts into the result store.
 * @throws SandflowError `bad_fanout_input` for an unknown id, or a change of an item whose last attempt left no result;
 *   `fanout_runs` if the batch or one of its items still runs; `fanout_not_found`
 * @example
 * const plan = await planResume(client, { deployment, batchId: 'issues' }, { results, only: ['3'] });
 * await resumeFanout(client, { deployment, batchId: 'issues' }, { taskQueue, results, plan });
 */
export async function planResume(
  client: Client,
  batch: FanoutAddress,
  options: PlanResumeOptions,
): Promise<ResumePlan> {
  requireClient(client);
  const { results, retryFailed = true, only, change } = options;
  const { input, batchKey, isRunning } = await earlierExecution(client, batch);
  if (isRunning) {
    const progress = await fanoutProgress(client, batch).catch(() => null);
    throw progress?.held ? heldSoUnchanged(batch) : stillRuns(batch);
  }
  const place = { deployment: batch.deployment, batchId: batch.batchId, batchKey };
  const chunks = await storedChunks(results, place);
  const isChanging = only !== undefined || change !== undefined;
  if (isChanging) {
    await requireSealed(results, place);
    await requireNothingRuns(client, batch, [...chunks.keys()]);
  }
  const named = only && namedIds(only, await idsOf(results, chunks), batch);
  const plan = { items: [] as PlannedItem[], done: [] as string[] };
  const changes = new Map<number, ChangedChunk>();
  const earlier = input.resume?.changed;
  for (const [chunk, object] of chunks) {
    const stored = await readListedChunk(results, object);
    const found = await readChanged(results, place, { set: earlier?.set, chunk });
    const before = earlier?.only ? found : unnamed(found);
    const items = await planChunk(stored, { before, place, named, results, retryFailed, change, plan });
    if (items.length > 0) changes.set(chunk, { items });
  }
  const { policy, source } = input;
  return { ...plan, changes: isChanging ? changes : null, only: only !== undefined, policy, ...(source && { source }) };
}

/** A resume without names came in between, so names that come now are not the repetition of those. */
function unnamed(items: ReadonlyMap<number, ChangedItem>): ReadonlyMap<number, ChangedItem> {
  return new Map([...items].map(([at, item]) => [at, { ...item, isNamed: false }]));
}

interface PlanningChunk extends Pick<PlanResumeOptions, 'results' | 'change'> {
  readonly before: ReadonlyMap<number, ChangedItem>;
  readonly place: FanoutPlace;
  readonly named: ReadonlySet<string> | undefined;
  readonly retryFailed: boolean;
  /** Receives what runs and what does not. */
  readonly plan: { readonly items: PlannedItem[]; readonly done: string[] };
}

/** @returns the changed items of the chunk, also those that an earlier resume has changed */
async function planChunk({ items, firstIndex, source }: StoredChunk, planning: PlanningChunk): Promise<ChangedItem[]> {
  const { before, place, named, results, retryFailed, plan } = planning;
  const changed: ChangedItem[] = [];
  for (const [at, submitted] of items.entries()) {
    const last = before.get(at);
    const index = firstIndex + at;
    const turn = { isNamed: named?.has(submitted.id), retryFailed };
    const known = turn.isNamed === false ? null : await readKnownItem(results, place, index);
    const current = last?.item ?? submitted;
    const next = mayRun(known, last, turn)
      ? await changedFrom(current, { submitted, known, index, itemsInChunk: items.length }, planning)
      : current;
    const planned = plannedTurn(known, last, { ...turn, next });
    if (planned === 'done') plan.done.push(submitted.id);
    if (planned === 'run') {
      plan.items.push({ item: next, before: known?.outcome ?? 'not_started', ...(source && { source }) });
      changed.push({ at, item: next, after: known?.generation ?? 0, isNamed: named !== undefined });
      // An item that is done stays named: the same command may come a third time.
    } else if (last) changed.push({ ...last, isNamed: planned === 'done' });
  }
  return changed;
}

interface ItemInChunk {
  readonly submitted: FanoutItem;
  readonly known: KnownItem | null;
  readonly index: number;
  readonly itemsInChunk: number;
}

async function changedFrom(
  current: FanoutItem,
  { submitted, known, index, itemsInChunk }: ItemInChunk,
  { change, results, place }: PlanningChunk,
): Promise<FanoutItem> {
  if (!change) return current;
  const refuse = (why: string) => bad(`The item "${submitted.id}" cannot be changed: ${why}.`);
  const next = await changedItem(await change(current, submitted), { results, itemsInChunk, refuse });
  if (contentDigest(next) === contentDigest(current)) return current;
  if (await isOpen(results, place, index, known)) {
    throw refuse(
      `its last attempt did not end. \`sandflow fanout resume ${place.batchId}\` without changes ends it first`,
    );
  }
  return next;
}

/** A fork without a result has perhaps had the earlier prompt. The changed one would be answered by its answer. */
async function isOpen(
  results: ResultStore,
  place: FanoutPlace,
  index: number,
  known: KnownItem | null,
): Promise<boolean> {
  if (known?.toEnd) return true;
  return (await sentGenerations(results, place, index)).some((sent) => sent > (known?.generation ?? 0));
}

interface TurnOptions {
  /** Undefined if no item is named. */
  readonly isNamed: boolean | undefined;
  readonly retryFailed: boolean;
}

/**
 * Whether an item runs: `done` if the newest change named it too, and it has completed with exactly this since. A command
 * that is repeated then prompts nothing twice. Pure.
 */
export function plannedTurn(
  known: Pick<KnownItem, 'generation' | 'outcome'> | null,
  last: ChangedItem | undefined,
  { next, ...options }: TurnOptions & { readonly next: FanoutItem },
): 'run' | 'done' | 'leave' {
  if (!mayRun(known, last, options)) return 'leave';
  const hasRun = last?.isNamed && known?.outcome === 'completed' && known.generation > last.after;
  return options.isNamed && hasRun && contentDigest(next) === contentDigest(last.item) ? 'done' : 'run';
}

function mayRun(
  known: Pick<KnownItem, 'generation' | 'outcome'> | null,
  last: ChangedItem | undefined,
  { isNamed, retryFailed }: TurnOptions,
): boolean {
  if (isNamed !== undefined) return isNamed;
  if (known === null || turnOf(known, { next: last ?? null, only: false }) === 'again') return true;
  if (known.outcome === 'completed') return false;
  return retryFailed || known.outcome === 'cancelled' || known.outcome === 'not_started';
}

async function idsOf(results: ResultStore, chunks: Awaited<ReturnType<typeof storedChunks>>): Promise<Set<string>> {
  const ids = new Set<string>();
  for (const object of chunks.values()) {
    for (const { id } of (await readListedChunk(results, object)).items) ids.add(id);
  }
  return ids;
}

const describedAtOnce = 50;
const suggested = 3;

/** @param given ids, or several ids separated by commas; an id may itself have commas */
export function namedIds(
  given: readonly string[],
  known: ReadonlySet<string>,
  { batchId }: Pick<FanoutAddress, 'batchId'>,
): ReadonlySet<string> {
  const ids = given.flatMap((text) => (known.has(text) ? [text] : text.split(',').map((id) => id.trim())));
  for (const id of ids) {
    if (known.has(id)) continue;
    const near = [...known]
      .map((other) => ({ other, edits: editsBetween(id, other) }))
      .sort((a, b) => a.edits - b.edits)
      .slice(0, suggested)
      .map(({ other }) => other);
    throw bad(`The batch "${batchId}" has no item "${id}". The nearest ids are ${near.join(', ')}.`);
  }
  return new Set(ids);
}

async function requireSealed(results: ResultStore, place: FanoutPlace): Promise<void> {
  if (await readSeal(results, place)) return;
  const { batchId } = place;
  throw bad(
    `The batch "${batchId}" does not have all its items, so they cannot be changed or chosen. Resume it without changes, and send the rest with the command that started it and --id ${batchId}`,
  );
}

/** A changed item must not meet an attempt that runs with what it was before. */
async function requireNothingRuns(client: Client, batch: FanoutAddress, chunks: readonly number[]): Promise<void> {
  let isOpen = (await runningItems(client, batch)).length > 0;
  for (let from = 0; from < chunks.length && !isOpen; from += describedAtOnce) {
    const some = chunks.slice(from, from + describedAtOnce);
    const runs = (chunk: number) => isRunning(client, chunkWorkflowId(batch.deployment, batch.batchId, chunk));
    isOpen = (await Promise.all(some.map(runs))).some(Boolean);
  }
  if (!isOpen) return;
  const { batchId } = batch;
  throw new SandflowError(
    'fanout_runs',
    `Items of the batch "${batchId}" still run, so none can be changed or chosen. \`sandflow fanout resume ${batchId}\` without changes watches them to their end.`,
  );
}
