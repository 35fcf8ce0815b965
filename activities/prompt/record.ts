/**
 * The record of a prompt, made before its first byte: what the history held that could be confused with it. It is in the
 * result store, where a reset of the job, a second run of an item and a follow find it.
 *
 *     sending ──accepted──► accepted
 *        └──certainly not──► not_sent
 */
import { createHash } from 'node:crypto';
import type { SandboxHistoryEvent } from '../../src/contract/records.js';
import type { ResultStore } from '../../src/result-store/index.js';
import type { PromptEvidence } from './evidence.js';

export interface PromptRecord {
  readonly phase: 'sending' | 'not_sent' | 'accepted';
  /** The activity that made it. */
  readonly by: string;
  /** What the service answered, once it has. */
  readonly accepted: PromptEvidence | null;
  /** Digests of the ids of the events that queued the same text before; the newest where they were too many. */
  readonly seen: readonly string[];
  /** False where `seen` leaves out older ones: then nothing that stands before a seen one is new. */
  readonly seenAll: boolean;
}

export interface PromptRecords {
  /** Null where none was made. */
  read(key: string): Promise<PromptRecord | null>;
  /** Replaces the record. */
  write(key: string, record: PromptRecord): Promise<void>;
}

/** 1,000 digests are 15 kB, small enough to be the details of a heartbeat. */
const maxSeen = 1_000;
const digestLength = 12;

export function createPromptRecords(results: ResultStore): PromptRecords {
  return {
    async read(key) {
      const object = (await results.list(key)).find((listed) => listed.key === `${key}/record.json`);
      return object ? (JSON.parse((await results.get(object.ref)).toString('utf8')) as PromptRecord) : null;
    },
    async write(key, record) {
      await results.put(`${key}/record.json`, Buffer.from(JSON.stringify(record)));
    },
  };
}

/** The record of a prompt that is about to be sent. */
export function recordOf(queued: readonly SandboxHistoryEvent[]): Omit<PromptRecord, 'by'> {
  const seen = queued.map(({ id }) => digestOf(id));
  return { phase: 'sending', accepted: null, seen: seen.slice(-maxSeen), seenAll: seen.length <= maxSeen };
}

/** Those of the events, oldest first, that the record does not know. Without a record: all of them. */
export function newTo(
  record: Pick<PromptRecord, 'seen' | 'seenAll'> | null,
  queued: readonly SandboxHistoryEvent[],
): SandboxHistoryEvent[] {
  if (!record) return [...queued];
  const seen = new Set(record.seen);
  const isSeen = ({ id }: SandboxHistoryEvent) => seen.has(digestOf(id));
  return queued.slice(record.seenAll ? 0 : queued.findLastIndex(isSeen) + 1).filter((event) => !isSeen(event));
}

function digestOf(id: string): string {
  return createHash('sha256').update(id).digest('hex').slice(0, digestLength);
}
