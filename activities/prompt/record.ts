/**
 * The record of a prompt, written before the first byte of the prompt is sent. It lists earlier events of the history
 * that queued a prompt, because these could be mistaken for this prompt. It is in the result store, so that a reset
 * job, a second run of an item, and the activity that follows the prompt can read it.
 *
 *     sending ──accepted──► accepted
 *        └──certainly not──► not_sent
 */
import { createHash, randomUUID } from 'node:crypto';
import type { SandboxHistoryEvent } from '../../src/contract/records/sandbox-records.js';
import type { ResultStore } from '../../src/result-store/index.js';
import { putAfter } from '../../src/result-store/put-after.js';
import { findStoredJson, storedJson } from '../../src/result-store/stored-json.js';
import { whileAttemptLives } from '../retry/attempt.js';

/** The ids of an accepted prompt; null if the service returned none. */
export interface PromptEvidence {
  readonly promptId: string | null;
  readonly conversationId: string | null;
}

export interface PromptRecord {
  readonly phase: 'sending' | 'not_sent' | 'accepted';
  /** The activity that wrote the record. */
  readonly by: string;
  /** The answer of the service, once there is one. */
  readonly accepted: PromptEvidence | null;
  /** Digests of the ids of earlier events that queued a prompt, oldest first; only the newest if there are too many. */
  readonly seen: readonly string[];
  /**
   * False if older events were left out of `seen`. Then every event before the newest event in `seen` counts as old.
   */
  readonly seenAll: boolean;
  /**
   * Id of the event after which the history was read: all events up to it are old. Null if the whole history was read.
   */
  readonly since: string | null;
  /**
   * Id of the newest event at which no prompt was queued or running. For the next prompt of the same conversation, the
   * read begins here. If it began later, in a history without prompt ids, the end of a missed prompt would look like
   * the end of another one.
   */
  readonly rest: string | null;
  /** The history before the prompt could not be read, so nothing in it can be taken for this prompt without its id. */
  readonly unread?: true;
}

/** What was read of the history before a prompt. */
export interface HistoryBefore extends Pick<PromptRecord, 'since' | 'rest' | 'unread'> {
  /** The events that queued a prompt, oldest first. */
  readonly queued: readonly SandboxHistoryEvent[];
  /** There are events that could not be read. */
  readonly isPart?: boolean;
}

export interface PromptRecords {
  /** Reads the record; null if there is none. */
  read(key: string): Promise<PromptRecord | null>;
  /**
   * Replaces the record, as long as no other attempt may have replaced it.
   * @param options.after not before this has resolved; see `putAfter`. Default: at once
   * @param options.withinMs time limit, in ms
   */
  write(
    key: string,
    record: PromptRecord,
    options: { readonly after?: Promise<void>; readonly withinMs: number },
  ): Promise<void>;
}

/** 1,000 digests are 15 kB, small enough to be the details of a heartbeat. */
const maxSeen = 1_000;
const digestLength = 12;

export function createPromptRecords(results: ResultStore): PromptRecords {
  return {
    read: (key) => findStoredJson<PromptRecord>(results, `${key}/record.json`),
    async write(key, record, { after = Promise.resolve(), withinMs }) {
      // If two writes had the same bytes, a late one could take the second for the first, and replace what came between.
      const content = storedJson({ ...record, write: randomUUID() });
      const put = (signal: AbortSignal) => putAfter(results, after, `${key}/record.json`, content, { signal });
      await whileAttemptLives(put, { withinMs });
    },
  };
}

/**
 * The record of a prompt that is about to be sent. It also contains the events of the previous record, because a later
 * answer may contain events up to `since`. For example, a service may ignore where a read begins.
 */
export function recordOf(
  { queued, since, rest, isPart: _, ...unread }: HistoryBefore,
  previous: Pick<PromptRecord, 'seen' | 'seenAll'> | null,
): Omit<PromptRecord, 'by'> {
  const seen = [...new Set([...(previous?.seen ?? []), ...queued.map(({ id }) => digestOf(id))])];
  const seenAll = seen.length <= maxSeen && (since === null || previous?.seenAll !== false);
  return { phase: 'sending', accepted: null, seen: seen.slice(-maxSeen), seenAll, since, rest, ...unread };
}

/**
 * The events, oldest first, that are not in the record. Without a record: all of them; none if it could not be made.
 * @param queued all events that queued a prompt, with any text
 */
export function newTo(
  record: Pick<PromptRecord, 'seen' | 'seenAll' | 'unread'> | null,
  queued: readonly SandboxHistoryEvent[],
): SandboxHistoryEvent[] {
  if (!record) return [...queued];
  if (record.unread) return [];
  const seen = new Set(record.seen);
  const isSeen = ({ id }: SandboxHistoryEvent) => seen.has(digestOf(id));
  return queued.slice(record.seenAll ? 0 : queued.findLastIndex(isSeen) + 1).filter((event) => !isSeen(event));
}

function digestOf(id: string): string {
  return createHash('sha256').update(id).digest('hex').slice(0, digestLength);
}
