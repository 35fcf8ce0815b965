/** Sources that somebody changes while the items of a batch run. */
import { expect } from 'vitest';
import type { FanoutItem, FanoutPolicy } from '../../../workflows/index.js';
import { letGo, type Stand, script, untilGo } from '../workflow-harness.js';
import { archivedSandbox, ended, fanoutInput, forks, items, lines, submit } from './fanout-harness.js';

const stateOf = async ({ api }: Stand, id: string) => (await api.getSandbox(id)).sandbox.state;

export async function resumed(stand: Stand, sandboxId: string): Promise<void> {
  await stand.api.resumeSandbox(sandboxId, {});
  await expect.poll(() => stateOf(stand, sandboxId)).toBe('ready');
  await expect.poll(async () => (await stand.api.getSandbox(sandboxId)).sandbox.hydrated).toBe(true);
}

export async function stopped(stand: Stand, sandboxId: string): Promise<void> {
  await stand.api.stopSandbox(sandboxId);
  await expect.poll(() => stateOf(stand, sandboxId)).toBe('archived');
}

export async function changed(stand: Stand, sandboxId: string): Promise<void> {
  await resumed(stand, sandboxId);
  await stand.api.writeFile(sandboxId, { path: 'seed', content: 'changed' });
  await stopped(stand, sandboxId);
}

/** An archived sandbox that holds a snapshot of this name. */
export async function holding(stand: Stand, snapshotName: string): Promise<string> {
  const sandboxId = await archivedSandbox(stand);
  await stand.api.updateSandbox(sandboxId, { snapshotName });
  return sandboxId;
}

/** The first item lasts until it is released; the others show what they started from. */
export const waiting = (count: number): FanoutItem[] => [
  { id: 'item-0', prompts: [{ prompt: script(`${untilGo}; cat seed`) }] },
  ...items(count, () => 'cat seed').slice(1),
];

/** The fork of the item at this place. */
export const forkOf = (stand: Stand, batch: { readonly batchId: string }, at: number) =>
  forks(stand, batch).find(({ name }) => name.endsWith(`-i${at}-1`));

/** Starts a batch, does something to its source while its first item runs, and lets that item go. */
export async function meanwhile(
  stand: Stand,
  source: Parameters<typeof fanoutInput>[0],
  act: (batch: { readonly batchId: string }) => Promise<unknown>,
  policy: Partial<FanoutPolicy> = {},
) {
  const input = await submit(stand, fanoutInput(source, { policy: { concurrency: 1, ...policy } }), waiting(3));
  await expect.poll(() => forkOf(stand, input, 0)?.state).toBe('running');
  await act(input);
  await letGo(stand, forkOf(stand, input, 0)?.id);
  const result = await ended(stand, input);
  const rows = (await lines(stand, result)).map(({ outcome, job }) => job?.error?.code ?? outcome);
  return { input, result, rows };
}
