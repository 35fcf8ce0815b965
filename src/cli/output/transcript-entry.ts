/** An entry of a transcript: what a job did or its agent said, and its lines: the time, and what was done or said. */
import type { JobPhase } from '../../protocol/job/job-phases.js';
import type { JobError, Wake } from '../../protocol/job/job-result.js';
import { endText, isDone } from '../../protocol/shortfall.js';
import { formatDuration } from '../units.js';
import { wrapToWidth } from './display-width.js';
import { phaseName } from './job-hold.js';
import type { Paint } from './terminal.js';
import { oneLine, shownText, terminalSafe } from './terminal-safe.js';

/** Each line of an agent has this mark, so that none looks like a line of this program. */
const gutter = '| ';
const indent = ' '.repeat(10);
/** Below this width, texts get lines of their own, without indentation. */
const narrowColumns = 60;
const leastColumns = 10;

/** `--json` prints an entry in this form. `at` is an ISO 8601 time; null if it is unknown. `prompt` is the number of the prompt in the job, from 1. */
export type TranscriptEntry = { readonly at: string | null } & (
  | { readonly kind: 'phase'; readonly phase: JobPhase }
  | { readonly kind: 'wake'; readonly wake: Wake }
  | { readonly kind: 'blocked'; readonly step: string; readonly message: string }
  | { readonly kind: 'prompt'; readonly prompt: number | null; readonly text: string }
  | {
      readonly kind: 'message';
      readonly prompt: number | null;
      readonly text: string;
      /** Present if the text is a part of an output that is told while it is printed. */
      readonly part?: true;
    }
  | {
      readonly kind: 'command';
      readonly prompt: number | null;
      readonly command: string;
      readonly exitCode: number | null;
      readonly output: string;
    }
  | {
      readonly kind: 'tool';
      readonly prompt: number | null;
      readonly tool: string;
      /** What it worked on. */
      readonly detail: string;
      readonly failed: boolean;
      readonly output: string;
    }
  | {
      readonly kind: 'usage';
      readonly prompt: number | null;
      /** Whether the numbers are those of the prompt alone, or of its whole conversation up to its end. */
      readonly of: 'prompt' | 'conversation';
      readonly inputTokens: number;
      readonly cachedInputTokens: number;
      readonly outputTokens: number;
    }
  | {
      readonly kind: 'prompt_ended';
      readonly prompt: number | null;
      readonly status: string;
      readonly error: string | null;
    }
  | {
      readonly kind: 'ended';
      readonly outcome: string | null;
      /** What the job lacks although its outcome does not tell it, in words. */
      readonly shortfall: string | null;
      readonly error: JobError | null;
    }
);

export interface EntryTextOptions {
  readonly paint: Paint;
  /** The width of the terminal; undefined elsewhere. There, long lines are not wrapped. */
  readonly columns: () => number | undefined;
}

/** @returns a function that remembers the last entry: an agent may repeat the output of its command as its answer */
export function createEntryText({ paint, columns }: EntryTextOptions) {
  const isRepeated = createRepeats();
  let day = '';

  return (entry: TranscriptEntry): string[] => {
    if (isRepeated(entry)) return [];
    const at = entry.at === null ? undefined : new Date(entry.at);
    const time = at === undefined || Number.isNaN(at.getTime()) ? undefined : at;
    const lines: string[] = [];
    if (time && dayOf(time) !== day) {
      day = dayOf(time);
      lines.push(paint('dim', day));
    }
    const width = columns();
    const isNarrow = width !== undefined && width < narrowColumns;
    const stamp = time ? timeOf(time) : '--:--:--';
    const isText = entry.kind === 'message' || entry.kind === 'command' || entry.kind === 'tool';
    if (isNarrow && isText) lines.push(paint('dim', stamp));
    const margin = isNarrow ? '' : indent;
    // The last column stays free: some terminals wrap as soon as it is written.
    const room = width === undefined ? undefined : Math.max(leastColumns, width - margin.length - gutter.length - 1);
    const wrap = (text: string) => (room === undefined ? [text] : wrapToWidth(text, room));
    for (const [index, line] of linesOf(entry, { paint, wrap }).entries()) {
      lines.push(`${index > 0 || (isNarrow && isText) ? margin : paint('dim', `${stamp}  `)}${line}`);
    }
    return lines;
  };
}

/** The lines of an agent's message, command or other tool. The output of a tool is shown only if it failed. */
export function agentLines(entry: Extract<TranscriptEntry, { kind: 'message' | 'command' | 'tool' }>): string[] {
  if (entry.kind === 'message') return textLines(shownText(entry.text));
  if (entry.kind === 'tool') {
    const output = entry.failed ? shownText(entry.output) : '';
    const heading = oneLine(`[${entry.tool}] ${entry.detail}${entry.failed ? ' (failed)' : ''}`);
    return [heading, ...(output === '' ? [] : textLines(output))];
  }
  const exit = entry.exitCode === null || entry.exitCode === 0 ? '' : ` (exit ${entry.exitCode})`;
  const output = shownText(entry.output);
  return [
    ...textLines(terminalSafe(`$ ${entry.command.trimEnd()}${exit}`)),
    ...(output === '' ? [] : textLines(output)),
  ];
}

/**
 * @returns a function that is true for an empty message, and for a message that only repeats output. Such a message
 * consists of the last complete lines of the agent's earlier output for the same prompt. A part of an output repeats
 * lines of the command before it, and never another part: a command may print the same line for hours
 */
export function createRepeats(): (entry: TranscriptEntry) => boolean {
  let [said, printed] = ['', ''];
  return (entry) => {
    if (entry.kind === 'prompt' || entry.kind === 'prompt_ended') [said, printed] = ['', ''];
    if (entry.kind === 'command') {
      said = agentLines(entry).join('\n').trimEnd();
      printed = `\n${said}\n`;
    }
    if (entry.kind !== 'message') return false;
    const shown = shownText(entry.text);
    const text = shown.trim();
    const lines = shown.replace(/^\n+/, '').trimEnd();
    const repeats = entry.part ? printed.includes(`\n${lines}\n`) : `\n${said}`.endsWith(`\n${text}`);
    [said, printed] = [text, ''];
    return repeats || text === '';
  };
}

/** The tokens that an agent says it used. */
export function usageText(entry: Extract<TranscriptEntry, { kind: 'usage' }>): string {
  const { of, inputTokens, cachedInputTokens, outputTokens } = entry;
  const cached = cachedInputTokens > 0 ? ` (${counted(cachedInputTokens)} cached)` : '';
  const whose = of === 'conversation' ? ' in this conversation so far' : '';
  return `tokens${whose}: ${counted(inputTokens)} in${cached}, ${counted(outputTokens)} out`;
}

const counted = (count: number) => count.toLocaleString('en');

/** What ended a wait, and after what time. */
export function wakeText(wake: Wake): string {
  const waited = `after ${formatDuration(wake.waitedMs)}`;
  if (wake.by === 'webhook') {
    const lag = wake.lagMs === null ? '' : `, ${formatDuration(wake.lagMs)} old`;
    return `woken by the ${wake.event ?? ''} webhook ${waited} (waiting for ${wake.waitedFor}${lag})`;
  }
  const cause = wake.by === 'safety_poll' ? 'the safety poll' : 'the deadline';
  return `woken by ${cause} ${waited} (waiting for ${wake.waitedFor})`;
}

interface LineOptions {
  readonly paint: Paint;
  readonly wrap: (text: string) => string[];
}

function linesOf(entry: TranscriptEntry, { paint, wrap }: LineOptions): string[] {
  switch (entry.kind) {
    case 'phase':
      return [paint('bold', phaseName(entry.phase))];
    case 'wake':
      return [paint('dim', oneLine(wakeText(entry.wake)))];
    case 'blocked':
      return [paint('yellow', oneLine(`blocked: ${entry.step}: ${entry.message}`))];
    case 'prompt':
      return [
        paint('bold', nameOf(entry.prompt)),
        ...textLines(terminalSafe(entry.text))
          .flatMap(wrap)
          .map((line) => paint('cyan', `> ${line}`)),
      ];
    case 'message':
    case 'command':
    case 'tool':
      return agentLines(entry)
        .flatMap(wrap)
        .map((line) => `${paint('dim', gutter)}${line}`);
    case 'usage':
      return [paint('dim', usageText(entry))];
    case 'prompt_ended': {
      const isGood = entry.status === 'completed';
      const why = entry.error === null ? '' : `: ${entry.error}`;
      return [paint(isGood ? 'green' : 'red', oneLine(`${nameOf(entry.prompt)} ${entry.status}${why}`))];
    }
    case 'ended': {
      const { shortfall, error } = entry;
      const ended = { outcome: entry.outcome ?? error?.code ?? '', shortfall };
      const why = error === null ? '' : `: ${error.message}`;
      return [paint(isDone(ended) ? 'green' : 'red', oneLine(`job ended: ${endText(ended)}${why}`))];
    }
  }
}

function nameOf(prompt: number | null): string {
  return prompt === null ? 'prompt' : `prompt ${prompt}`;
}

/** Without the empty lines at the end. An expression such as `/\n+$/` takes quadratic time if there are many others. */
export function textLines(text: string): string[] {
  const lines = text.split('\n');
  const last = lines.findLastIndex((line) => line !== '');
  return lines.slice(0, Math.max(last, 0) + 1);
}

function timeOf(time: Date): string {
  return [time.getHours(), time.getMinutes(), time.getSeconds()].map((part) => String(part).padStart(2, '0')).join(':');
}

function dayOf(time: Date): string {
  const parts = [time.getFullYear(), time.getMonth() + 1, time.getDate()];
  return parts.map((part) => String(part).padStart(2, '0')).join('-');
}
