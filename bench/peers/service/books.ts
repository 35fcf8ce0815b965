/** What the bench's service has seen, for the bench. */
import type { SentTimes } from './deliveries.js';
import type { SandboxEntry } from './sandboxes.js';

export interface SandboxBook {
  readonly id: string;
  readonly name: string;
  readonly state: string;
  /** When the first webhook of each kind was sent, in ms since the epoch. */
  readonly readySentAtMs: number | null;
  readonly archivedSentAtMs: number | null;
  /** When each prompt was received, in ms since the epoch. */
  readonly promptsAtMs: readonly number[];
}

export interface Books {
  /** The number of calls of each endpoint, by the key of the caller. */
  readonly calls: Readonly<Record<string, Readonly<Record<string, number>>>>;
  readonly sandboxes: readonly SandboxBook[];
}

/** What the bench can switch on. Each applies until it is switched off. */
export interface ServiceFaults {
  readonly webhooks: 'none' | 'lost' | 'doubled';
  /** The answer to the first create of each name, or to the first prompt of each text, is lost after acceptance. */
  readonly loseFirstAnswer: 'createSandbox' | 'sendPrompt' | null;
}

/** A sandbox with this name outlives `take`, because forks need it. */
export const sourceName = 'source';

export function createBooks() {
  let calls: Record<string, Record<string, number>> = {};
  return {
    count(key: string, endpoint: string): void {
      calls[key] ??= {};
      const of = calls[key];
      of[endpoint] = (of[endpoint] ?? 0) + 1;
    },
    read(entries: Iterable<SandboxEntry>, sent: SentTimes): Books {
      const sandboxes = [...entries].map(({ id, name, state, prompts }) => ({
        id,
        name,
        state,
        readySentAtMs: sent.ready.get(id) ?? null,
        archivedSentAtMs: sent.archived.get(id) ?? null,
        promptsAtMs: prompts.map(({ receivedAtMs }) => receivedAtMs),
      }));
      return { calls, sandboxes };
    },
    /** Forgets all calls, and all sandboxes that are archived. */
    forget(byId: Map<string, SandboxEntry>): void {
      calls = {};
      for (const [id, { state, name }] of byId) if (state === 'archived' && name !== sourceName) byId.delete(id);
    },
  };
}
