/** `sandflow fanout logs`: the transcript of one item of a batch. */

import { itemStep } from '../../addresses/addresses.js';
import { itemTranscripts } from '../../addresses/transcript-places.js';
import { shortfallOfJob } from '../../protocol/shortfall.js';
import { type FanoutPlace, readItemResult, readListedChunk, storedChunks } from '../../result-store/fanout-objects.js';
import { fanoutProgress } from '../../workflow-client/fanouts/fanout-client.js';
import { lookAtItem } from '../../workflow-client/fanouts/running-items.js';
import type { CommandContext } from '../command.js';
import type { Platform } from '../connect/platform.js';
import { withPlatform } from '../connect/with-platform.js';
import { plainError } from '../errors.js';
import { pasteable } from '../output/pasteable.js';
import { programName } from '../program-name.js';
import { type Looked, printTranscript } from '../transcript/print-transcript.js';
import { createTranscript } from '../transcript/transcript.js';
import { UsageError } from '../usage-error.js';
import type { ItemLogsOptions } from './options.js';
import { createFailedItems } from './results/failed-items.js';

/** How many failed items are named if none is given. */
const mostNamed = 5;

/** @returns the exit code: 0, or 130 if Ctrl-C ended it while the item was running */
export function showItemLogs(
  batchId: string,
  itemId: string | undefined,
  { follow = false, json = false }: ItemLogsOptions,
  context: CommandContext,
): Promise<number> {
  const { io } = context;
  return withPlatform(context, { needsWorker: true }, async (platform, reporter) => {
    const { deployment } = platform.config;
    const { batchKey } = await fanoutProgress(platform.temporal, { deployment, batchId });
    const place = { deployment, batchId, batchKey };
    if (itemId === undefined) throw new UsageError(await whichItemText(platform, place));
    const index = await indexOf(platform, place, itemId);
    const transcript = createTranscript({
      service: () => platform.service,
      results: platform.results,
      folder: async () => itemTranscripts(place, itemStep(index)),
    });
    return printTranscript({
      ...{ io, reporter, follow, json, transcript },
      look: () => look(platform, place, index),
      reconnect: (notices) => platform.reconnect(notices),
    });
  });
}

async function whichItemText({ results }: Platform, place: FanoutPlace): Promise<string> {
  const { all } = await createFailedItems(results, place).look(mostNamed);
  const failed = all.length === 0 ? '' : ` Some failed: ${all.map(({ itemId }) => itemId).join(', ')}.`;
  const list = `\`${programName} fanout results ${place.batchId}\` lists all`;
  return `Name an item: ${programName} fanout logs ${place.batchId} ${pasteable(all[0]?.itemId ?? 'ITEM', 'ITEM')}.${failed} ${list}.`;
}

/** @throws UsageError if the batch has no such item */
async function indexOf({ results }: Platform, place: FanoutPlace, itemId: string): Promise<number> {
  for (const object of (await storedChunks(results, place)).values()) {
    const { items, firstIndex } = await readListedChunk(results, object);
    const at = items.findIndex(({ id }) => id === itemId);
    if (at >= 0) return firstIndex + at;
  }
  const list = `\`${programName} fanout results ${place.batchId}\` lists its items`;
  throw new UsageError(`The batch "${place.batchId}" has no item "${itemId}"; ${list}.`);
}

async function look({ temporal, results }: Platform, place: FanoutPlace, index: number): Promise<Looked> {
  const { deployment, batchId } = place;
  const running = await lookAtItem(temporal, { deployment, batchId, index });
  if (running) return { kind: 'running', progress: running.progress };
  const item = await readItemResult(results, place, index);
  if (item === null || item.outcome === 'not_started') {
    const { outcome } = await fanoutProgress(temporal, { deployment, batchId });
    if (outcome === null) return { kind: 'waiting' };
    const error = plainError('not_started', `The batch ended (${outcome}) before the item started.`);
    return { kind: 'ended', job: null, outcome: null, shortfall: null, error, at: null };
  }
  const { job, times } = item;
  const at = times.endedAt ?? times.endingAt;
  if (job === null) return { kind: 'ended', job, outcome: null, shortfall: null, error: null, at };
  return { kind: 'ended', job, outcome: job.outcome, shortfall: shortfallOfJob(job), error: job.error, at };
}
