/**
 * Looks at the running items of a batch that are on the screen: what each does, and what its agent said or ran last.
 * One look costs a list of the running items and, for each item on the screen, two requests to Temporal and one to the
 * service. It adds nothing to the history of any workflow.
 */
import type { JobProgress } from '../../../protocol/job/job-progress.js';
import { abortable } from '../../../temporal/calls.js';
import type { FanoutAddress } from '../../../workflow-client/fanouts/fanout-client.js';
import { lookAtItem, type RunningItem, runningItems } from '../../../workflow-client/fanouts/running-items.js';
import { createConcurrencyLimit } from '../../connect/concurrency-limit.js';
import type { Platform } from '../../connect/platform.js';
import { jobHold } from '../../output/job-hold.js';
import { agentLines, type TranscriptEntry } from '../../output/transcript-entry.js';
import { repeatedCalls } from '../../run/waiting-calls.js';
import { entriesOfEvents, inOrder } from '../../transcript/entry.js';
import { createHistoryReader, type HistoryReader } from '../../transcript/history-reader.js';
import type { ItemRow, RunningItems } from './shown-items.js';

const atOnce = 4;

export function createItemLooks(platform: Pick<Platform, 'temporal' | 'service'>, batch: FanoutAddress) {
  let said = new Map<number, { readonly reader: HistoryReader; line: string }>();
  let rows: ReadonlyMap<string, ItemRow> = new Map();

  const runningNow = (signal: AbortSignal) => {
    const client = platform.temporal;
    return abortable(client, signal, () => runningItems(client, batch));
  };

  async function rowOf({ index }: RunningItem, signal: AbortSignal): Promise<ItemRow | null> {
    const client = platform.temporal;
    const look = await abortable(client, signal, () => lookAtItem(client, { ...batch, index }));
    if (!look || look.progress.phase === 'ended') return null;
    const { itemId, progress, described } = look;
    const { since, blocked } = progress;
    const { words, why } = jobHold(progress, repeatedCalls(described));
    const text = why === '' ? await lastLine(index, progress, signal) : why;
    return {
      ...{ index, itemId: itemId ?? `item ${index + 1}`, since, text },
      phase: words,
      isBlocked: blocked != null,
    };
  }

  async function lastLine(index: number, progress: JobProgress, signal: AbortSignal): Promise<string> {
    const known = said.get(index) ?? { reader: createHistoryReader(() => platform.service), line: '' };
    said.set(index, known);
    const { events } = await known.reader.readOn(progress, signal);
    const entries = inOrder(entriesOfEvents(events, progress)).map(({ entry }) => entry);
    known.line = entries.map(lastLineOf).findLast((line) => line !== '') ?? known.line;
    return known.line;
  }

  return {
    /**
     * Looks at the items that have run longest.
     * @param room how many items are looked at
     * @throws what the list of the running items throws
     */
    async look(room: number, signal: AbortSignal): Promise<void> {
      const shown = (await runningNow(signal)).slice(0, room);
      said = new Map([...said].filter(([index]) => shown.some((item) => item.index === index)));
      const limit = createConcurrencyLimit(atOnce);
      const read = async (item: RunningItem) => {
        const row = await rowOf(item, signal).catch(() => null);
        return row ? [[tryOf(item), row] as const] : [];
      };
      rows = new Map((await Promise.all(shown.map((item) => limit(() => read(item))))).flat());
    },
    /**
     * Lists the items that run, with the rows of the last look. An item that could not be read, and one that is in another
     * try since, has no row.
     * @throws what the list of the running items throws
     */
    async list(signal: AbortSignal): Promise<RunningItems> {
      const running = await runningNow(signal);
      return {
        rows: running.flatMap((item) => rows.get(tryOf(item)) ?? []),
        indexes: new Set(running.map(({ index }) => index)),
      };
    },
  };
}

/** A retry of an item is another run of its workflow. */
function tryOf({ index, startedAt }: RunningItem): string {
  return `${index} ${startedAt}`;
}

/** What an agent runs, or the last line of what it says. */
function lastLineOf(entry: TranscriptEntry): string {
  if (entry.kind === 'command') return agentLines({ ...entry, output: '' })[0] ?? '';
  if (entry.kind === 'tool') return agentLines(entry)[0] ?? '';
  return entry.kind === 'message' ? (agentLines(entry).at(-1) ?? '') : '';
}
