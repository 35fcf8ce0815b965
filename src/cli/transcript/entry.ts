/** The entries of a transcript: what a job did and what its agents said. `--json` prints them in this form. */

import type { SandboxHistoryEvent } from '../../contract/records/sandbox-records.js';
import type { EnteredPhase, JobPhase } from '../../protocol/job/job-phases.js';
import type { JobProgress } from '../../protocol/job/job-progress.js';
import type { JobError, PromptResult, Wake } from '../../protocol/job/job-result.js';

/** `at` is an ISO 8601 time; null if it is unknown. `prompt` is the number of the prompt in the job, from 1. */
export type TranscriptEntry = { readonly at: string | null } & (
  | { readonly kind: 'phase'; readonly phase: JobPhase }
  | { readonly kind: 'wake'; readonly wake: Wake }
  | { readonly kind: 'blocked'; readonly step: string; readonly message: string }
  | { readonly kind: 'prompt'; readonly prompt: number | null; readonly text: string }
  | { readonly kind: 'message'; readonly prompt: number | null; readonly text: string }
  | {
      readonly kind: 'command';
      readonly prompt: number | null;
      readonly command: string;
      readonly exitCode: number | null;
      readonly output: string;
    }
  | {
      readonly kind: 'prompt_ended';
      readonly prompt: number | null;
      readonly status: string;
      readonly error: string | null;
    }
  | { readonly kind: 'ended'; readonly outcome: string | null; readonly error: JobError | null }
);

/** An entry with a key. Two entries with the same key are equal. */
export interface KeyedEntry {
  readonly key: string;
  readonly entry: TranscriptEntry;
}

/** The data of a job from its workflow, while it runs and after its end. */
export interface KnownOfJob {
  readonly phases?: readonly EnteredPhase[];
  readonly wakes: readonly Wake[];
  readonly prompts: readonly PromptResult[];
  readonly blocked?: JobProgress['blocked'];
}

const endStatuses: Readonly<Record<string, string>> = {
  'prompt.completed': 'completed',
  'prompt.failed': 'failed',
  'prompt.interrupted': 'interrupted',
};

/** The entries of the job: its wakes, its phases, the reasons why it is blocked, and the ends of its prompts. */
export function entriesOfJob({ phases = [], wakes, prompts, blocked }: KnownOfJob): KeyedEntry[] {
  return [
    ...wakes.map((wake) => ({
      key: `wake ${wake.at} ${wake.waitedFor}`,
      entry: { kind: 'wake', wake, at: wake.at } as const,
    })),
    ...phases.map(({ phase, at }) => ({ key: `phase ${at} ${phase}`, entry: { kind: 'phase', phase, at } as const })),
    ...(blocked
      ? [
          {
            key: `blocked ${blocked.since}`,
            entry: { kind: 'blocked', step: blocked.step, message: blocked.message, at: blocked.since } as const,
          },
        ]
      : []),
    ...prompts.flatMap(({ status, error, endedAt }, index) =>
      Object.values(endStatuses).includes(status)
        ? [
            {
              key: `end of ${index + 1}`,
              entry: { kind: 'prompt_ended', prompt: index + 1, status, error, at: endedAt } as const,
            },
          ]
        : [],
    ),
  ];
}

/** The entries of a sandbox's history that belong to the job. */
export function entriesOfEvents(
  events: readonly SandboxHistoryEvent[],
  { prompts }: Pick<KnownOfJob, 'prompts'>,
): KeyedEntry[] {
  const conversations = new Set(prompts.map(({ conversationId }) => conversationId));
  const numberOf = ({ promptId }: SandboxHistoryEvent) => {
    if (promptId == null) return prompts.length === 1 ? 1 : null;
    const index = prompts.findIndex((prompt) => prompt.promptId === promptId);
    return index < 0 ? null : index + 1;
  };
  return events.flatMap((event): KeyedEntry[] => {
    const { id, type, createdAt: at, data = {}, conversationId } = event;
    if (conversationId != null && !conversations.has(conversationId)) return [];
    const prompt = numberOf(event);
    const endStatus = endStatuses[type];
    if (endStatus !== undefined) {
      // If the history does not name the prompt, its end comes from the job itself.
      if (prompt === null) return [];
      const error = textIn(data.error) ?? null;
      return [{ key: `end of ${prompt}`, entry: { kind: 'prompt_ended', prompt, status: endStatus, error, at } }];
    }
    if (type === 'prompt.queued') {
      const key = prompt === null ? id : `prompt ${prompt}`;
      return [{ key, entry: { kind: 'prompt', prompt, text: textIn(data.prompt) ?? '', at } }];
    }
    if (type === 'agent.message') {
      const text = textIn(data.text);
      return text === undefined ? [] : [{ key: id, entry: { kind: 'message', prompt, text, at } }];
    }
    const command = type === 'agent.tool' ? textIn(data.command) : undefined;
    if (command === undefined) return [];
    const exitCode = typeof data.exitCode === 'number' ? data.exitCode : null;
    return [{ key: id, entry: { kind: 'command', prompt, command, exitCode, output: textIn(data.output) ?? '', at } }];
  });
}

/** Entries for prompts whose history cannot be read: their text and their answer, from the job. */
export function entriesWithoutHistory({ prompts }: Pick<KnownOfJob, 'prompts'>): KeyedEntry[] {
  return prompts.flatMap(({ prompt: text, result, status, queuedAt, endedAt }, index): KeyedEntry[] => {
    if (status === 'not_sent') return [];
    const prompt = index + 1;
    const asked: KeyedEntry = { key: `prompt ${prompt}`, entry: { kind: 'prompt', prompt, text, at: queuedAt } };
    if (result === null) return [asked];
    return [asked, { key: `answer of ${prompt}`, entry: { kind: 'message', prompt, text: result, at: endedAt } }];
  });
}

/** Orders entries by time. An entry without a time keeps its place after the previous entry. */
export function inOrder(entries: readonly KeyedEntry[]): KeyedEntry[] {
  let latestMs = Number.NEGATIVE_INFINITY;
  const timed = entries.map((one) => {
    const ms = Date.parse(one.entry.at ?? '');
    if (!Number.isNaN(ms)) latestMs = ms;
    return { one, ms: Number.isNaN(ms) ? latestMs : ms };
  });
  return timed.sort((a, b) => a.ms - b.ms).map(({ one }) => one);
}

function textIn(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
