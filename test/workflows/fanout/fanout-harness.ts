/** Batches on a stand with an archived source, cheap items and short timings. */
import { randomBytes } from 'node:crypto';
import { expect, vi } from 'vitest';
import { jobWorkflowId } from '../../../src/addresses/addresses.js';
import { chunkWorkflowId } from '../../../src/addresses/fanout-addresses.js';
import { fanoutItemResults, itemGenerations } from '../../../src/result-store/fanout-objects.js';
import { readStoredJson } from '../../../src/result-store/stored-json.js';
import type { FanoutAddress } from '../../../src/workflow-client/fanouts/fanout-client.js';
import { awaitFanout, submitFanout } from '../../../src/workflow-client/fanouts/submit-fanout.js';
import type {
  FanoutInput,
  FanoutItem,
  FanoutPolicy,
  FanoutProgress,
  FanoutResult,
  ItemResult,
} from '../../../workflows/index.js';
import { deployment, patient, type Stand, script, shortTiming } from '../workflow-harness.js';
import { addFanoutChunk, sealFanout, startFanout } from './by-chunks.js';
import { policy } from './policy.js';

export const quickPace = { reportEveryMs: 100, checkChunksEveryMs: 2_000, recoverEveryMs: 500 };

export const address = (): FanoutAddress => ({ deployment, batchId: `b-${randomBytes(5).toString('hex')}` });

export function fanoutInput(
  source: FanoutInput['source'],
  over: Partial<Omit<FanoutInput, 'policy'>> & { readonly policy?: Partial<FanoutPolicy> } = {},
): FanoutInput {
  return {
    ...address(),
    source,
    timing: shortTiming,
    ...over,
    pace: { ...quickPace, ...over.pace },
    policy: { ...policy, ...over.policy },
  };
}

export const items = (count: number, commands: (at: number) => string = (at) => `echo item ${at}`): FanoutItem[] =>
  Array.from({ length: count }, (_, at) => ({ id: `item-${at}`, prompts: [{ prompt: script(commands(at)) }] }));

/** A usable sandbox. For hooks too, unlike `readySandbox`. */
export async function usableSandbox(stand: Stand, body: { readonly snapshots?: boolean } = {}): Promise<string> {
  const { sandbox } = await stand.api.createSandbox({ name: 'by hand', ...body });
  await inState(stand, sandbox.id, 'ready');
  await stand.api.writeFile(sandbox.id, { path: 'seed', content: 'from the source' });
  return sandbox.id;
}

/** An archived sandbox with all its content saved. */
export async function archivedSandbox(stand: Stand): Promise<string> {
  const sandboxId = await usableSandbox(stand);
  await stand.api.stopSandbox(sandboxId);
  await inState(stand, sandboxId, 'archived');
  return sandboxId;
}

async function inState(stand: Stand, sandboxId: string, state: string): Promise<void> {
  const look = async () => expect((await stand.api.getSandbox(sandboxId)).sandbox.state).toBe(state);
  await vi.waitFor(look, patient);
}

export const source = (sandboxId: string) => ({ kind: 'sandbox', sandboxId, allowStale: false }) as const;

export async function submit(stand: Stand, input: FanoutInput, of: readonly FanoutItem[]) {
  await submitFanout(stand.client, input, of, { taskQueue: stand.taskQueue });
  return input;
}

/** The same in chunks of this size, so that a small batch has several. */
export async function submitInChunks(stand: Stand, input: FanoutInput, of: readonly FanoutItem[], perChunk: number) {
  await startFanout(stand.client, input, { taskQueue: stand.taskQueue });
  const chunks = Math.ceil(of.length / perChunk);
  for (let chunk = 0; chunk < chunks; chunk += 1) {
    const firstIndex = chunk * perChunk;
    const items = of.slice(firstIndex, firstIndex + perChunk);
    await addFanoutChunk(stand.client, input, { chunk, firstIndex, items });
  }
  await sealFanout(stand.client, input, { chunks, items: of.length });
  return input;
}

export const chunkOf = (stand: Stand, { batchId }: FanoutAddress, chunk: number) =>
  stand.client.workflow.getHandle(chunkWorkflowId(deployment, batchId, chunk));

export const batchOf = (stand: Stand, { batchId }: FanoutAddress) =>
  stand.client.workflow.getHandle(jobWorkflowId(deployment, batchId));

/** Prompts that the forks of the batch received, by the names of the forks. */
export function promptedForks(stand: Stand, batch: { readonly batchId: string }): string[] {
  const names = new Map(forks(stand, batch).map(({ id, name }) => [id, name]));
  return stand.service.books
    .prompts()
    .flatMap(({ sandboxId }) => names.get(sandboxId)?.split('-').slice(-2).join('-') ?? []);
}

export const ended = (
  stand: Stand,
  batch: FanoutAddress,
  onProgress?: (progress: FanoutProgress) => void,
): Promise<FanoutResult> => awaitFanout(stand.client, batch, { onProgress, lookEveryMs: 100 });

export async function run(stand: Stand, input: FanoutInput, of: readonly FanoutItem[]): Promise<FanoutResult> {
  return ended(stand, await submit(stand, input, of));
}

/** The lines of `results.jsonl`. */
export async function lines(stand: Stand, { resultsRef }: FanoutResult): Promise<ItemResult[]> {
  const text = (await stand.results.get(resultsRef ?? '')).toString('utf8');
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as ItemResult);
}

/** The current objects of each item in the result store. */
export async function storedResults(stand: Stand, batch: FanoutAddress & { readonly batchKey: string }) {
  const found: ItemResult[] = [];
  for await (const item of fanoutItemResults(stand.results, batch)) found.push(item);
  return found;
}

/** The results of each generation of an item, oldest first. */
export async function storedGenerations(
  stand: Stand,
  { batchId, batchKey }: FanoutResult,
  index: number,
): Promise<ItemResult[]> {
  const left: ItemResult[] = [];
  for (const { ref } of await itemGenerations(stand.results, { deployment, batchId, batchKey }, index)) {
    left.push(await readStoredJson<ItemResult>(stand.results, ref));
  }
  return left;
}

/** Forks of the batch in the service's records, including deleted ones. */
export const forks = (stand: Stand, { batchId }: { readonly batchId: string }) =>
  stand.service.books.sandboxes().filter(({ name }) => name.startsWith(`sf-${deployment}-${batchId}-`));

/** Forks that still have a machine or a disk. */
export const leftForks = (stand: Stand, batch: { readonly batchId: string }) =>
  forks(stand, batch).filter(({ gone, state }) => gone === null && state !== 'archived');

/** The maximum number of concurrent forks, by the times in the items. */
export function mostAtOnce(results: readonly ItemResult[]): number {
  const spans = results.flatMap(({ times: { forkedAt, endedAt } }) =>
    forkedAt === null || endedAt === null ? [] : [{ from: Date.parse(forkedAt), to: Date.parse(endedAt) }],
  );
  return Math.max(0, ...spans.map(({ from }) => spans.filter((other) => other.from <= from && from < other.to).length));
}
