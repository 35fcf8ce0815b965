/** Makes the entries of a transcript from the data of a job and the history of its sandbox. */

import type { SandboxHistoryEvent } from '../../contract/records/sandbox-records.js';
import { endStatuses } from '../../contract/workflow-safe/states.js';
import type { EnteredPhase } from '../../protocol/job/job-phases.js';
import type { JobProgress } from '../../protocol/job/job-progress.js';
import type { PromptResult, Wake } from '../../protocol/job/job-result.js';
import { numberIn, stringIn } from '../error-fields.js';
import type { TranscriptEntry } from '../output/transcript-entry.js';

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
    const { id, type, data = {}, conversationId } = event;
    const at = event.createdAt ?? null;
    if (conversationId != null && !conversations.has(conversationId)) return [];
    const prompt = numberOf(event);
    const endStatus = endStatuses[type];
    if (endStatus !== undefined) {
      // If the history does not name the prompt, its end comes from the job itself.
      if (prompt === null) return [];
      const error = stringIn(data, 'error') ?? null;
      return [{ key: `end of ${prompt}`, entry: { kind: 'prompt_ended', prompt, status: endStatus, error, at } }];
    }
    if (type === 'prompt.queued') {
      const key = prompt === null ? id : `prompt ${prompt}`;
      return [{ key, entry: { kind: 'prompt', prompt, text: stringIn(data, 'prompt') ?? '', at } }];
    }
    if (type === 'agent.message') {
      const text = stringIn(data, 'text');
      const part = data.part === true ? ({ part: true } as const) : {};
      return text === undefined ? [] : [{ key: id, entry: { kind: 'message', prompt, text, ...part, at } }];
    }
    const entry = entryOfWork(type, data);
    return entry ? [{ key: id, entry: { ...entry, prompt, at } }] : [];
  });
}

type Work = Extract<TranscriptEntry, { kind: 'command' | 'tool' | 'usage' }>;
type WithoutPlace<Entry> = Entry extends unknown ? Omit<Entry, 'prompt' | 'at'> : never;

/** What an agent did, or used. Undefined for an event of another type, and for one that says neither. */
function entryOfWork(type: string, data: Readonly<Record<string, unknown>>): WithoutPlace<Work> | undefined {
  if (type === 'agent.usage') {
    const [inputTokens, cachedInputTokens, outputTokens] = [
      numberIn(data, 'inputTokens') ?? 0,
      numberIn(data, 'cachedInputTokens') ?? 0,
      numberIn(data, 'outputTokens') ?? 0,
    ];
    const of = data.of === 'conversation' ? 'conversation' : 'prompt';
    return { kind: 'usage', of, inputTokens, cachedInputTokens, outputTokens };
  }
  if (type !== 'agent.tool') return undefined;
  const output = stringIn(data, 'output') ?? '';
  const command = stringIn(data, 'command');
  if (command !== undefined) return { kind: 'command', command, exitCode: numberIn(data, 'exitCode') ?? null, output };
  const tool = stringIn(data, 'tool');
  if (tool === undefined) return undefined;
  return { kind: 'tool', tool, detail: stringIn(data, 'detail') ?? '', failed: data.failed === true, output };
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
