/** Batches whose items fail alike. */
import { expect, vi } from 'vitest';
import { type FanoutAddress, fanoutProgress } from '../../../src/workflow-client/fanouts/fanout-client.js';
import type { FanoutItem } from '../../../workflows/index.js';
import { patient, type Stand } from '../workflow-harness.js';

/** Items whose prompt the service refuses for good. */
export const refused = (count: number): FanoutItem[] =>
  Array.from({ length: count }, (_, at) => ({ id: `refused-${at}`, prompts: [{ prompt: 'hi', provider: 'nobody' }] }));

/** The batch once it is held and no item runs. */
export async function heldBatch(stand: Stand, batch: FanoutAddress, since?: string) {
  return vi.waitFor(async () => {
    const progress = await fanoutProgress(stand.client, batch);
    expect(progress.held?.since ?? since).not.toBe(since);
    expect(progress.counts.running).toBe(0);
    return progress;
  }, patient);
}
