/** Converts the results of items to the data in the page. Removes control characters from texts, and cuts long ones. */

import type { ItemResult, ItemTimes } from '../../protocol/fanout/fanout-result.js';
import { lastDrawn } from '../../texts/terminal-text.js';
import { type CutText, cutText, fairLimit, maxTextBytes, textBytes } from '../cut-text.js';
import { fileMarks } from '../file-marks.js';
import { endOfSandbox, whatIsLeft } from '../left-words.js';
import type { PageDetails, PageItem, PagePrompt, Segment, SegmentKind } from '../page-data.js';
import { plainText } from '../plain-text.js';
import { endedInEarlierRun } from './resumed-batch.js';

const maxLineBytes = 200;
const maxLabels = 24;
const maxLeft = 10;
/** The largest number of characters of a text that are read to find the part that is shown. */
const maxReadLength = 4 * maxTextBytes;

/** The data of an item for the table and the timeline. */
export function pageItem(item: ItemResult, startMs: number, untilMs: number): PageItem {
  const segments = item.job === null && item.times.forkedAt === null ? [] : segmentsOf(item.times, startMs, untilMs);
  const lives = segments.filter(({ kind }) => kind !== 'queued');
  const first = lives[0];
  const last = lives.at(-1);
  return {
    index: item.index,
    id: line(item.itemId),
    outcome: item.outcome,
    generation: item.generation,
    type: item.type,
    labels: Object.fromEntries(
      Object.entries(item.labels)
        .slice(0, maxLabels)
        .map(([name, value]) => [line(name), line(value)]),
    ),
    segments,
    durationMs: first && last ? last.to - first.from : null,
    machineSeconds: item.machineSeconds,
    fileCount: item.job?.files.length ?? 0,
    prompt: line(item.job?.prompts[0]?.prompt ?? ''),
    error: line(errorText(item)),
    earlier: endedInEarlierRun(item, startMs),
  };
}

/**
 * All other data of an item.
 * @param options.limit limit of one text, in bytes
 */
export function pageDetails(
  { job, unreadable, earlier = [] }: ItemResult,
  previews: ReadonlyMap<string, string>,
  { limit, workflowUrl }: { readonly limit: number; readonly workflowUrl: string | null },
): PageDetails {
  const cut = (text: string): CutText => {
    const { text: short, cut: left } = cutText(readable(text), limit);
    return { text: short, cut: left + Math.max(0, text.length - maxReadLength) };
  };
  const orNull = (text: string | null): CutText | null => (text === null ? null : cut(text));
  return {
    workflowUrl,
    prompts: (job?.prompts ?? []).map(
      (prompt): PagePrompt => ({
        prompt: cut(prompt.prompt),
        status: line(prompt.status),
        answer: orNull(prompt.result && lastDrawn(prompt.result)),
        answerRef: prompt.resultRef,
        error: orNull(prompt.error),
      }),
    ),
    files: (job?.files ?? []).map((file) => ({
      path: line(file.path),
      size: file.size,
      error: file.error === null ? null : line(file.error),
      marks: line(fileMarks(file)),
      preview: orNull(file.ref === null ? null : (previews.get(file.ref) ?? null)),
    })),
    sandboxId: job?.sandboxId ?? null,
    sandboxName: job?.sandboxName ?? null,
    error: job?.error
      ? { code: line(job.error.code), message: cut(job.error.message) }
      : unreadable !== undefined
        ? { code: 'result_of_other_version', message: cut(unreadable) }
        : null,
    left: (job?.left ?? []).slice(0, maxLeft).map((one) => line(`${whatIsLeft(one)}: ${one.why}`)),
    end: line((job && endOfSandbox(job)) ?? (job?.sandboxId ? 'kept' : 'not forked')),
    apiCalls: job?.apiCalls ?? 0,
    earlier: earlier.map(({ prompt, error, ...attempt }) => ({
      ...attempt,
      prompt: orNull(prompt),
      error: orNull(error),
    })),
  };
}

/** Limit of one text, in bytes, so that all texts of the batch fit in one file. */
export function textLimit(items: readonly ItemResult[], previews: ReadonlyMap<string, string>): number {
  const sizes: number[] = [];
  const add = (text: string | null | undefined): void => {
    if (text) sizes.push(textBytes(readable(text), maxTextBytes));
  };
  for (const { job, earlier = [] } of items) {
    for (const { prompt, error } of earlier) {
      add(prompt);
      add(error);
    }
    for (const prompt of job?.prompts ?? []) {
      add(prompt.prompt);
      add(prompt.result);
      add(prompt.error);
    }
    for (const { ref } of job?.files ?? []) add(ref === null ? null : previews.get(ref));
    add(job?.error?.message);
  }
  return fairLimit(sizes);
}

function errorText({ job, outcome, unreadable }: ItemResult): string {
  if (outcome === 'completed') return '';
  return unreadable ?? job?.error?.message ?? job?.prompts.find(({ error }) => error !== null)?.error ?? '';
}

function readable(text: string): string {
  return plainText(text.slice(0, maxReadLength));
}

function line(text: string): string {
  const { text: short, cut } = cutText(
    plainText(text.slice(0, 2 * maxLineBytes))
      .replace(/\s+/g, ' ')
      .trim(),
    maxLineBytes,
  );
  return cut > 0 ? `${short}…` : short;
}

/**
 * The phase that begins at each time. After the answer, the item collects files and ends its fork. Both belong to
 * `ending`.
 */
const begins: readonly (readonly [SegmentKind, keyof ItemTimes])[] = [
  ['queued', 'queuedAt'],
  ['booting', 'forkedAt'],
  ['preparing', 'usableAt'],
  ['prompting', 'promptedAt'],
  ['ending', 'answeredAt'],
  ['ending', 'endingAt'],
];

/**
 * Divides an item's life into segments without gaps, in ms after `startMs`. Times before `startMs` are negative. Empty
 * segments are left out, and neighbours of the same kind are merged. If the start of a phase is missing, the phase
 * before it continues. An item that has not ended lasts until `untilMs`.
 */
export function segmentsOf(times: ItemTimes, startMs: number, untilMs: number): Segment[] {
  const known: { kind: SegmentKind; from: number }[] = [];
  for (const [kind, name] of begins) {
    const at = Date.parse(times[name] ?? '');
    if (Number.isNaN(at)) continue;
    // The times may come from the clocks of two machines, so make sure that no segment ends before it begins.
    const from = Math.max(at - startMs, known.at(-1)?.from ?? Number.NEGATIVE_INFINITY);
    if (known.at(-1)?.kind !== kind) known.push({ kind, from });
  }
  const ended = Date.parse(times.endedAt ?? '');
  const end = (Number.isNaN(ended) ? untilMs : ended) - startMs;
  return known
    .map(({ kind, from }, at) => ({ kind, from, to: Math.max(from, known[at + 1]?.from ?? end) }))
    .filter(({ from, to }) => to > from);
}
