/** Batches whose chunks name their sources. */
import type { FanoutSource } from '../../../src/protocol/fanout/fanout-input.js';
import type { FanoutInput, FanoutResult } from '../../../workflows/index.js';
import type { Stand } from '../workflow-harness.js';
import { addFanoutChunk, sealFanout, startFanout } from './by-chunks.js';
import { fanoutInput, forks, items, lines } from './fanout-harness.js';

export const prepare = (
  command: string,
  over: Partial<Extract<FanoutSource, { kind: 'prepare' }>> = {},
): FanoutSource => {
  const none = { body: {}, put: [], prompts: [] };
  return { kind: 'prepare', ...none, commands: [command], deadlineMs: 60_000, end: 'delete', ...over };
};

/**
 * A batch without a source of its own, unless `over` has one. Each of these has a chunk of as many items, which show what they
 * started from. @param sources undefined for a chunk with the source of the batch
 */
export async function submitted(
  stand: Stand,
  sources: readonly (FanoutSource | undefined)[],
  over: Parameters<typeof fanoutInput>[1],
  perChunk = 1,
  command: (at: number) => string = () => 'cat seed',
) {
  const input = fanoutInput(undefined, over);
  await startFanout(stand.client, input, { taskQueue: stand.taskQueue });
  const all = items(sources.length * perChunk, command);
  for (const [chunk, own] of sources.entries()) {
    const firstIndex = chunk * perChunk;
    const chunkItems = all.slice(firstIndex, firstIndex + perChunk);
    await addFanoutChunk(stand.client, input, { chunk, firstIndex, items: chunkItems, ...(own && { source: own }) });
  }
  await sealFanout(stand.client, input, { chunks: sources.length, items: all.length });
  return input;
}

/** The last parts of the names of the batch's sandboxes, such as `p2-1`, where `-p2-1` is its deletion. In order. */
export function comingsAndGoings(stand: Stand, input: FanoutInput): string[] {
  const parts = new Map(forks(stand, input).map(({ id, name }) => [id, name.split('-').slice(-2).join('-')]));
  const made = new Set<string>();
  return stand.service.books.calls().flatMap(({ endpoint, sandboxId, status }) => {
    const part = parts.get(sandboxId ?? '');
    if (part === undefined || (status ?? 500) >= 300) return [];
    if (endpoint === 'deleteSandbox') return [`-${part}`];
    if (made.has(part)) return [];
    made.add(part);
    return [part];
  });
}

/** The most sandboxes that were prepared and not yet deleted. */
export function mostPrepared(stand: Stand, input: FanoutInput): number {
  let [now, most] = [0, 0];
  for (const one of comingsAndGoings(stand, input)) {
    if (/^p/.test(one)) now += 1;
    if (/^-p/.test(one)) now -= 1;
    most = Math.max(most, now);
  }
  return most;
}

export const shown = async (stand: Stand, result: FanoutResult) =>
  (await lines(stand, result)).map(({ outcome, job }) => job?.prompts[0]?.result?.trim() ?? outcome);
