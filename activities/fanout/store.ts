/** Reads and writes the objects of a batch in the result store. */
import { heartbeat } from '@temporalio/activity';
import { fanoutPlaces } from '../../src/addresses/fanout-addresses.js';
import { machineSeconds } from '../../src/contract/workflow-safe/machine-types.js';
import { isSameSource, type SourceState } from '../../src/contract/workflow-safe/source-state.js';
import { type ByClass, classCounts } from '../../src/protocol/failure-class.js';
import type {
  ChangedItem,
  ChangedItems,
  ChunkPlace,
  KnownItem,
  NextRun,
  SealRequest,
  StoredChunk,
} from '../../src/protocol/fanout/batch-parts.js';
import type { FanoutItem, FanoutSource, ItemOutcome } from '../../src/protocol/fanout/fanout-input.js';
import type { FanoutResult, ItemEnding, ItemResult } from '../../src/protocol/fanout/fanout-result.js';
import { turnOf } from '../../src/protocol/fanout/next-turn.js';
import type { JobError, JobResult } from '../../src/protocol/job/job-result.js';
import { lacksAnswer, missingFilesOf, shortfallOf } from '../../src/protocol/shortfall.js';
import {
  type FanoutPlace,
  fanoutItemResults,
  readChanged,
  readChunk,
  readKnownItem,
  readListedChunk,
  readSeal,
  stateOfSentFork,
  storedChunks,
} from '../../src/result-store/fanout-objects.js';
import type { ListedObject, ResultStore } from '../../src/result-store/index.js';
import { findStoredJson, storedJson } from '../../src/result-store/stored-json.js';
import { contentDigest } from '../../src/workflow-client/input-digest.js';
import { whileAttemptLives, withHeartbeat } from '../retry/attempt.js';
import { storeObjectActivity } from '../store/texts.js';

export interface ReadChunkInput {
  readonly place: FanoutPlace;
  readonly chunk: number;
  /** If false, the known results of the chunk's items are omitted. */
  readonly withKnown: boolean;
  /** Default: the items are as submitted. */
  readonly changed?: ChangedItems;
}

export interface SurveyInput {
  readonly place: FanoutPlace;
  /** As in `ReadChunkInput`. */
  readonly changed?: ChangedItems;
}

/** Summary of a chunk of an earlier execution of the batch. Its size does not depend on the number of items. */
export interface SurveyedChunk extends ChunkPlace {
  /** Absent if the chunk has the source of the batch. */
  readonly sourceDigest?: string;
  /** What is to be done with the sandbox that is prepared for it. Absent: none is. */
  readonly sourceEnd?: 'stop' | 'delete';
  /**
   * Number of items by outcome of their newest generation. Excludes items without a result, items whose fork must still
   * be ended, and changed items that are to run again.
   */
  readonly byOutcome: Readonly<Partial<Record<ItemOutcome, number>>>;
  /** The same for items that this execution leaves as they are, also those without a result. Absent if it runs all. */
  readonly leftAlone?: Readonly<Partial<Record<ItemOutcome, number>>>;
  /** The failed items among these, and among those left alone, by whose failure it is. */
  readonly byClass?: ByClass;
  readonly leftAloneByClass?: ByClass;
  readonly spentSeconds: number;
}

export interface Survey {
  readonly chunks: readonly SurveyedChunk[];
  /** The states that the forks started from: one for each source. */
  readonly startedFrom: readonly SourceState[];
  readonly seal: SealRequest | null;
}

export interface AssembleInput {
  readonly place: FanoutPlace;
  readonly result: Omit<FanoutResult, 'resultsRef' | 'shortfall'>;
}

/** How the fork of an item ended. The result of the item's work is already stored. */
export interface ForkEnding extends Pick<JobResult, 'stop' | 'deletion' | 'left' | 'apiCalls' | 'error'> {
  readonly endedAt: string;
}

export interface SettleItemInput {
  /** Key of the item's result in the result store. */
  readonly key: string;
  readonly ending: ForkEnding;
}

export function createFanoutStore(results: ResultStore) {
  async function survey(
    { place, changed }: SurveyInput,
    object: ListedObject,
    startedFrom: SourceState[],
  ): Promise<SurveyedChunk> {
    const { chunk, items, firstIndex, digest, source } = await readListedChunk(results, object);
    const next = await readChanged(results, place, { set: changed?.set, chunk });
    const byOutcome: Partial<Record<ItemOutcome, number>> = {};
    const leftAlone: Partial<Record<ItemOutcome, number>> = {};
    const classes: KnownItem['failureClass'][] = [];
    const leftAloneClasses: KnownItem['failureClass'][] = [];
    let spentSeconds = 0;
    for (const at of items.keys()) {
      const known = await readKnownItem(results, place, firstIndex + at);
      const state = known ? known.startsFrom : await stateOfSentFork(results, place, firstIndex + at);
      if (state && !startedFrom.some((other) => isSameSource(state, other))) startedFrom.push(state);
      // An item whose fork must still be ended does not count, because it will be started again.
      if (known?.toEnd) continue;
      spentSeconds += known?.machineSeconds ?? 0;
      const turn = turnOf(known, { next: next.get(at) ?? null, only: changed?.only === true });
      if (turn === 'again' || (turn === 'as_ever' && !known)) continue;
      const counts = turn === 'as_ever' ? byOutcome : leftAlone;
      (turn === 'as_ever' ? classes : leftAloneClasses).push(known?.failureClass);
      const outcome = known?.outcome ?? 'not_started';
      counts[outcome] = (counts[outcome] ?? 0) + 1;
    }
    const byClass = classCounts(classes);
    const ofChunk = { chunk, firstIndex, items: items.length, digest };
    const found = {
      ...ofChunk,
      ...(source && { sourceDigest: contentDigest(source) }),
      ...(source?.kind === 'prepare' && { sourceEnd: source.end }),
      byOutcome,
      byClass,
      spentSeconds,
    };
    return changed?.only ? { ...found, leftAlone, leftAloneByClass: classCounts(leftAloneClasses) } : found;
  }

  const storeObject = storeObjectActivity(results);

  return {
    /** Stores a chunk that names its source. @returns the digest of the source. Safe to repeat */
    async storeFanoutChunk(key: string, chunk: StoredChunk): Promise<string> {
      await storeObject(key, chunk);
      return contentDigest(chunk.source);
    },

    /** Reads the source that a chunk names. Safe to repeat. */
    async readFanoutSource(place: FanoutPlace, chunk: number): Promise<FanoutSource> {
      return withHeartbeat(async () => (await readChunk(results, place, chunk)).source as FanoutSource);
    },

    /**
     * Reads the items of a chunk as they are to run. Safe to repeat.
     * @returns also, if requested, the known result of each item, and its next run: null without a result, without a change
     */
    async readFanoutChunk({ place, chunk, withKnown, changed }: ReadChunkInput) {
      return withHeartbeat(async () => {
        const { items: submitted, firstIndex } = await readChunk(results, place, chunk);
        const changes = await readChanged(results, place, { set: changed?.set, chunk });
        const items = submitted.map((item, at) => withoutColumns(changes.get(at)?.item ?? item));
        const known: (KnownItem | null)[] = [];
        for (const at of withKnown ? items.keys() : []) {
          known.push(await readKnownItem(results, place, firstIndex + at));
        }
        return { items, known, next: known.map((_, at) => nextRunOf(changes.get(at))) };
      });
    },

    /** Reads the stored result of an item; null if none of its generations has ended. Safe to repeat. */
    async readFanoutItem(place: FanoutPlace, index: number): Promise<KnownItem | null> {
      return readKnownItem(results, place, index);
    },

    /**
     * Replaces the stored result of an item, to add the end of its fork. Safe to repeat.
     * @returns the machine time of the fork, and the reference of the result; 0 and null if no result is stored
     */
    async settleFanoutItem({ key, ending }: SettleItemInput) {
      return whileAttemptLives(async (signal) => {
        const stored = await findStoredJson<ItemResult>(results, key);
        if (!stored) return { machineSeconds: 0, resultRef: null };
        const item = settled(stored, ending);
        const { ref: resultRef } = await results.put(key, storedJson(item), { signal });
        return { machineSeconds: item.machineSeconds, resultRef };
      });
    },

    /** Stores the result of an item that has stored none, also none that this version cannot read. Safe to repeat. */
    async storeLostItem(key: string, item: ItemResult): Promise<void> {
      await withHeartbeat(() =>
        whileAttemptLives(async (signal) => {
          if ((await results.find(key)) === null) await results.put(key, storedJson(item), { signal });
        }),
      );
    },

    /** Adds to the stored results of items how they ended. Safe to repeat. */
    async addItemEndings(endings: readonly ItemEnding[]): Promise<void> {
      await withHeartbeat(() =>
        whileAttemptLives(async (signal) => {
          for (const ending of endings) {
            const stored = await findStoredJson<ItemResult>(results, ending.key);
            if (stored) await results.put(ending.key, storedJson(withEnding(stored, ending)), { signal });
          }
        }),
      );
    },

    /** Reads what earlier executions of a batch stored. Safe to repeat. */
    async surveyFanout(input: SurveyInput): Promise<Survey> {
      return withHeartbeat(async () => {
        const chunks: SurveyedChunk[] = [];
        const startedFrom: SourceState[] = [];
        const { place } = input;
        for (const object of (await storedChunks(results, place)).values()) {
          chunks.push(await survey(input, object, startedFrom));
        }
        return { chunks, startedFrom, seal: await readSeal(results, place) };
      });
    },

    /**
     * Assembles `results.jsonl` from the items' objects, and writes `batch.json`. Safe to repeat.
     * @returns the reference of `results.jsonl`, the error of the batch, and what it lacks
     */
    async assembleFanout({
      place,
      result,
    }: AssembleInput): Promise<Pick<FanoutResult, 'resultsRef' | 'error' | 'shortfall'>> {
      const places = fanoutPlaces(place);
      let lines = 0;
      let missingFiles = 0;
      let missingAnswers = 0;
      const unreadable: ItemResult[] = [];
      async function* content(): AsyncGenerator<Buffer> {
        for await (const item of fanoutItemResults(results, place)) {
          lines += 1;
          if (lines % 50 === 0) heartbeat(lines);
          if (item.unreadable !== undefined) unreadable.push(item);
          missingFiles += missingFilesOf({ outcome: item.outcome, files: item.job?.files ?? [] });
          missingAnswers += (item.job?.prompts ?? []).filter(lacksAnswer).length;
          yield Buffer.from(`${JSON.stringify(item)}\n`);
        }
      }
      return withHeartbeat(
        async () => {
          const { ref: resultsRef } = await results.putStream(places.results, content());
          const error = result.error ?? unreadableError(unreadable);
          const leftBehind = result.left.length + result.leftMore;
          const shortfall = shortfallOf({ outcome: result.outcome, missingFiles, missingAnswers, leftBehind, error });
          const ended = { resultsRef, error, shortfall };
          await results.put(places.summary, Buffer.from(`${JSON.stringify({ ...result, ...ended }, null, 2)}\n`));
          return ended;
        },
        () => lines,
      );
    },
  };
}

/** No workflow needs them, and they can be as long as the prompts. */
function withoutColumns({ columns: _, ...item }: FanoutItem): FanoutItem {
  return item;
}

function nextRunOf(changed: ChangedItem | undefined): NextRun | null {
  return changed ? { after: changed.after, isNamed: changed.isNamed } : null;
}

function unreadableError([first, ...more]: readonly ItemResult[]): JobError | null {
  if (first === undefined) return null;
  const others = more.length === 0 ? '' : ` The same holds for ${more.length} others.`;
  const message = `The result of the item ${first.itemId} cannot be read: ${first.unreadable}${others}`;
  return { code: 'result_of_other_version', message, status: null, requestId: null, details: null };
}

export function withEnding(stored: ItemResult, { item, job }: ItemEnding): ItemResult {
  return { ...stored, ...item, job: stored.job && { ...stored.job, ...job } };
}

function settled(item: ItemResult, { endedAt, apiCalls, error, ...ending }: ForkEnding): ItemResult {
  const { job, times, type } = item;
  // There is nothing to store: the item has no job, or an earlier attempt has already stored the end of the fork.
  if (job === null || times.endedAt !== null) return item;
  const from = Date.parse(times.forkedAt ?? times.queuedAt ?? endedAt);
  return {
    ...item,
    times: { ...times, endedAt },
    machineSeconds: machineSeconds(type, Date.parse(endedAt) - from),
    job: { ...job, ...ending, apiCalls: job.apiCalls + apiCalls, error: job.error ?? error },
  };
}
