/** The steps of `submitFanout`, one by one: for batches that have some of their items, or not all. */
import type { Client } from '@temporalio/client';
import type { ChunkSubmission, SealRequest } from '../../../src/protocol/fanout/batch-parts.js';
import type { FanoutItem } from '../../../src/protocol/fanout/fanout-input.js';
import type { ResultStore } from '../../../src/result-store/index.js';
import {
  type FanoutAddress,
  prepareFanout,
  type StartFanoutOptions,
  startPrepared,
} from '../../../src/workflow-client/fanouts/fanout-client.js';
import type { NewFanout } from '../../../src/workflow-client/fanouts/fanout-input.js';
import { itemToSubmit } from '../../../src/workflow-client/fanouts/pack-items.js';
import { sendChunk, sendSeal } from '../../../src/workflow-client/fanouts/updates.js';
import { contentDigest } from '../../../src/workflow-client/input-digest.js';

const persistence = { patienceMs: 30_000 };

export async function startFanout(client: Client, input: NewFanout, options: StartFanoutOptions) {
  return startPrepared(client, await prepareFanout(client, input, options), options);
}

export async function addFanoutChunk(
  client: Client,
  batch: FanoutAddress,
  chunk: Omit<ChunkSubmission, 'digest'>,
  options: { readonly results?: ResultStore } = {},
): Promise<void> {
  const items: FanoutItem[] = [];
  for (const [at, item] of chunk.items.entries()) items.push(await itemToSubmit(item, chunk.firstIndex + at, options));
  const digest = contentDigest(chunk.source ? [chunk.source, items] : items);
  await sendChunk(client, batch, { ...chunk, items, digest }, persistence);
}

export const sealFanout = (client: Client, batch: FanoutAddress, seal: SealRequest) =>
  sendSeal(client, batch, seal, persistence);
