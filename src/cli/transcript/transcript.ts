/** Builds the transcript of a job from the data of its workflow and from the history of its sandbox. */

import { transcriptKey } from '../../addresses/transcript-places.js';
import type { SandboxClient } from '../../client/index.js';
import type { SandboxHistoryEvent } from '../../contract/records/sandbox-records.js';
import { SandflowError } from '../../errors/sandflow-error.js';
import type { ResultStore } from '../../result-store/index.js';
import { findStoredJson } from '../../result-store/stored-json.js';
import type { StoredTranscript } from '../../result-store/stored-transcript.js';
import type { TranscriptEntry } from '../output/transcript-entry.js';
import {
  entriesOfEvents,
  entriesOfJob,
  entriesWithoutHistory,
  inOrder,
  type KeyedEntry,
  type KnownOfJob,
} from './entry.js';
import { createHistoryReader } from './history-reader.js';

/** How long the job's own entries wait for the history that comes before them, in ms. */
const holdMs = 10_000;
/**
 * The longest history that is read after the end of a job, in characters of JSON: a service may send pages without end.
 */
const longestHistory = 64 * 1024 * 1024;

export interface TranscriptSource {
  readonly service: () => Pick<SandboxClient, 'listEvents'>;
  readonly results: Pick<ResultStore, 'get' | 'find'>;
  /** The folder of the stored transcript, once the job has ended. */
  readonly folder: () => Promise<string>;
}

export type LookedAt = KnownOfJob & { readonly sandboxId: string | null };

export type Transcript = ReturnType<typeof createTranscript>;

export function createTranscript({ service, results, folder }: TranscriptSource) {
  const reader = createHistoryReader(service);
  const ownEvents = createOwnEvents();
  const taken = new Set<string>();
  let isComplete = true;
  let unreadRows = 0;
  let hasHistory = false;
  let heldSinceMs: number | undefined;
  let early: readonly SandboxHistoryEvent[] = [];
  let earlySinceMs: number | undefined;

  const take = (entries: readonly KeyedEntry[]): TranscriptEntry[] => {
    const fresh = inOrder(entries).filter(({ key }) => !taken.has(key) && taken.add(key));
    return fresh.map(({ entry }) => entry);
  };

  /**
   * Holds back what the agent said for a prompt whose id the job does not know yet: it would come before its prompt.
   */
  const withoutEarly = (read: readonly SandboxHistoryEvent[], job: LookedAt): readonly SandboxHistoryEvent[] => {
    const events = [...early, ...read];
    const begin = events.findIndex((event) => isEarly(event, job));
    if (begin < 0) earlySinceMs = undefined;
    else earlySinceMs ??= Date.now();
    const isHeld = earlySinceMs !== undefined && Date.now() - earlySinceMs < holdMs;
    early = isHeld ? events.slice(begin) : [];
    return isHeld ? events.slice(0, begin) : events;
  };

  async function readStored(job: LookedAt): Promise<readonly SandboxHistoryEvent[]> {
    const { sandboxId } = job;
    if (sandboxId === null) return [];
    try {
      const transcript = await findStoredJson<StoredTranscript>(results, transcriptKey(await folder(), sandboxId));
      if (!transcript) return [];
      isComplete = transcript.complete;
      unreadRows = transcript.unreadRows ?? 0;
      // It begins where the history begins, and not where this reader is.
      return createOwnEvents()(transcript.events, job);
    } catch (error) {
      if (error instanceof SandflowError && error.code === 'result_of_other_version') throw error;
      return [];
    }
  }

  /** Reads until there is nothing more, the service refuses, or there is too much. */
  async function readRest(job: LookedAt, signal: AbortSignal): Promise<readonly SandboxHistoryEvent[]> {
    const all: SandboxHistoryEvent[] = [];
    let length = 0;
    for (;;) {
      const { events, isCurrent, unreadRows: unread } = await reader.readOn(job, signal);
      unreadRows += unread;
      for (const event of events) length += JSON.stringify(event).length;
      for (const event of ownEvents(events, job)) all.push(event);
      if (isCurrent || events.length === 0 || length > longestHistory) {
        isComplete = isCurrent;
        return all;
      }
    }
  }

  return {
    /** Returns the entries since the last call, in order. Never throws. */
    async readOn(job: LookedAt, signal: AbortSignal): Promise<TranscriptEntry[]> {
      const { events: read, isCurrent } = await reader.readOn(job, signal);
      const events = withoutEarly(ownEvents(read, job), job);
      hasHistory ||= events.length > 0;
      if (isCurrent) heldSinceMs = undefined;
      else heldSinceMs ??= Date.now();
      // Messages of the agent from before the last phase may still arrive.
      const isHeld = heldSinceMs !== undefined && Date.now() - heldSinceMs < holdMs;
      return take([...entriesOfEvents(events, job), ...(isHeld ? [] : entriesOfJob(job))]);
    },
    /**
     * Returns the remaining entries of a job that has ended. It uses the first available source: the stored transcript,
     * the service, the job's own data. Never throws.
     */
    async readEnd(job: LookedAt, signal: AbortSignal): Promise<TranscriptEntry[]> {
      const stored = await readStored(job);
      const events = stored.length > 0 ? stored : [...early, ...(await readRest(job, signal))];
      hasHistory ||= events.length > 0;
      const ofAgents = hasHistory ? entriesOfEvents(events, job) : entriesWithoutHistory(job);
      return take([...ofAgents, ...entriesOfJob(job)]);
    },
    /** False if `readEnd` found no history, in the store or at the service. */
    hasHistory: () => hasHistory,
    /** False if the stored history is cut, or if the service did not give all of it. */
    isComplete: () => isComplete,
    /** Number of rows of the history that `readEnd` could not read. */
    unreadRows: () => unreadRows,
  };
}

/** True for an event of a prompt that may be the one which the job has just sent. */
function isEarly({ promptId }: SandboxHistoryEvent, { prompts }: Pick<KnownOfJob, 'prompts'>): boolean {
  if (promptId == null || prompts.some((prompt) => prompt.promptId === promptId)) return false;
  return prompts.some(
    (prompt) => prompt.promptId === null && (prompt.status === 'not_sent' || prompt.status === 'sending'),
  );
}

/**
 * Returns a filter for the pages of one history, in order: a job may continue the conversation of another one, and what
 * that has from before is left out. A conversation begins for the job with the first event of one of its prompts. Events
 * that name no prompt are kept, and so are all events of a conversation if the job does not know the id of its first
 * prompt there.
 */
function createOwnEvents(): (
  events: readonly SandboxHistoryEvent[],
  { prompts }: Pick<KnownOfJob, 'prompts'>,
) => SandboxHistoryEvent[] {
  const begun = new Set<string>();
  return (events, { prompts }) => {
    const ids = new Set(prompts.flatMap(({ promptId }) => promptId ?? []));
    const isBeginKnown = (conversationId: string) =>
      prompts.find((prompt) => prompt.conversationId === conversationId)?.promptId != null;
    return events.filter(({ promptId, conversationId }) => {
      if (conversationId == null || promptId == null || !isBeginKnown(conversationId)) return true;
      if (ids.has(promptId)) begun.add(conversationId);
      return begun.has(conversationId);
    });
  };
}
