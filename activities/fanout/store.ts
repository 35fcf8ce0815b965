/** What a batch keeps in the result store, and reads there when it is resumed. */
import { posix } from 'node:path';
import { heartbeat } from '@temporalio/activity';
import { fanoutPlaces } from '../../src/contract/fanout-addresses.js';
import { machineSeconds } from '../../src/contract/machine-types.js';
import {
  type FanoutPlace,
  fanoutItemResults,
  readChunk,
  readKnownItem,
  readListedChunk,
  readSeal,
  storedChunks,
} from '../../src/result-store/fanout-objects.js';
import type { ListedObject, ResultStore } from '../../src/result-store/index.js';
import type { KnownItem, SealRequest, StoredChunk } from '../../workflows/fanout/protocol.js';
import type { FanoutResult, ItemOutcome, ItemResult } from '../../workflows/fanout/types.js';
import type { DeletionResult, JobError, LeftBehind, StopResult } from '../../workflows/job/types.js';
import { withHeartbeat } from '../retry/attempt.js';

export interface ReadChunkInput {
  readonly place: FanoutPlace;
  readonly chunk: number;
  /** False leaves out what its items have done. */
  readonly withKnown: boolean;
}

export interface ReadChunk {
  readonly items: StoredChunk['items'];
  /** One for each item; null where it has left no result. Empty where it was not asked for. */
  readonly known: readonly (KnownItem | null)[];
}

/** A chunk of an earlier execution of the batch. Its size does not depend on the number of items. */
export interface SurveyedChunk {
  readonly chunk: number;
  readonly firstIndex: number;
  readonly items: number;
  readonly digest: string;
  /** Items by how their newest generation ended; those that left no result, or a fork to be ended, are not among them. */
  readonly byOutcome: Readonly<Partial<Record<ItemOutcome, number>>>;
  readonly spentSeconds: number;
}

export interface Survey {
  readonly chunks: readonly SurveyedChunk[];
  readonly seal: SealRequest | null;
}

export interface AssembleInput {
  readonly place: FanoutPlace;
  readonly result: Omit<FanoutResult, 'resultsRef'>;
}

/** What became of the fork of an item whose work was stored before. */
export interface ItemEnding {
  readonly stop: StopResult | null;
  readonly deletion: DeletionResult | null;
  readonly left: readonly LeftBehind[];
  readonly apiCalls: number;
  readonly error: JobError | null;
  readonly endedAt: string;
}

export interface SettleItemInput {
  /** Of the item's result in the result store. */
  readonly key: string;
  readonly ending: ItemEnding;
}

export function createFanoutStore(results: ResultStore) {
  async function survey(place: FanoutPlace, object: ListedObject): Promise<SurveyedChunk> {
    const { chunk, items, firstIndex, digest } = await readListedChunk(results, object);
    const byOutcome: Partial<Record<ItemOutcome, number>> = {};
    let spentSeconds = 0;
    for (const at of items.keys()) {
      const known = await readKnownItem(results, place, firstIndex + at);
      // One whose fork is left to be ended has its turn once more.
      if (!known || known.toEnd) continue;
      byOutcome[known.outcome] = (byOutcome[known.outcome] ?? 0) + 1;
      spentSeconds += known.machineSeconds;
    }
    return { chunk, firstIndex, items: items.length, digest, byOutcome, spentSeconds };
  }

  return {
    /** The items of a chunk as they were submitted, and what is known of each. Safe to repeat. */
    async readFanoutChunk({ place, chunk, withKnown }: ReadChunkInput): Promise<ReadChunk> {
      return withHeartbeat(async () => {
        const { items, firstIndex } = await readChunk(results, place, chunk);
        const known: (KnownItem | null)[] = [];
        for (const at of withKnown ? items.keys() : []) {
          known.push(await readKnownItem(results, place, firstIndex + at));
        }
        return { items, known };
      });
    },

    /** What an item has left; null where none of its generations has ended. Safe to repeat. */
    async readFanoutItem(place: FanoutPlace, index: number): Promise<KnownItem | null> {
      return readKnownItem(results, place, index);
    },

    /**
     * Stores the result of an item anew, with the end of its fork. Safe to repeat.
     * @returns what the fork cost in all, where that can be known
     */
    async settleFanoutItem({ key, ending }: SettleItemInput) {
      const object = (await results.list(posix.dirname(key))).find((listed) => listed.key === key);
      if (!object) return { machineSeconds: 0, resultRef: null };
      const item = settled(JSON.parse((await results.get(object.ref)).toString('utf8')) as ItemResult, ending);
      const { ref: resultRef } = await results.put(key, Buffer.from(JSON.stringify(item)));
      return { machineSeconds: item.machineSeconds, resultRef };
    },

    /** What earlier executions of a batch have left. Safe to repeat. */
    async surveyFanout(place: FanoutPlace): Promise<Survey> {
      return withHeartbeat(async () => {
        const chunks: SurveyedChunk[] = [];
        for (const object of (await storedChunks(results, place)).values()) chunks.push(await survey(place, object));
        return { chunks, seal: await readSeal(results, place) };
      });
    },

    /**
     * Puts `results.jsonl` together from the items' objects, one after the other, and writes `batch.json`. Safe to
     * repeat.
     * @returns the reference of `results.jsonl`
     */
    async assembleFanout({ place, result }: AssembleInput): Promise<string> {
      const places = fanoutPlaces(place);
      let lines = 0;
      async function* content(): AsyncGenerator<Buffer> {
        for await (const item of fanoutItemResults(results, place)) {
          lines += 1;
          if (lines % 50 === 0) heartbeat(lines);
          yield Buffer.from(`${JSON.stringify(item)}\n`);
        }
      }
      return withHeartbeat(
        async () => {
          const { ref: resultsRef } = await results.putStream(places.results, content());
          await results.put(places.summary, Buffer.from(`${JSON.stringify({ ...result, resultsRef }, null, 2)}\n`));
          return resultsRef;
        },
        () => lines,
      );
    },
  };
}

function settled(item: ItemResult, { endedAt, apiCalls, error, ...ending }: ItemEnding): ItemResult {
  const { job, times, type } = item;
  // It was settled before, by an attempt whose answer was lost.
  if (job === null || times.endedAt !== null) return item;
  const from = Date.parse(times.forkedAt ?? times.queuedAt ?? endedAt);
  return {
    ...item,
    times: { ...times, endedAt },
    machineSeconds: machineSeconds(type, Date.parse(endedAt) - from),
    job: { ...job, ...ending, apiCalls: job.apiCalls + apiCalls, error: job.error ?? error },
  };
}
