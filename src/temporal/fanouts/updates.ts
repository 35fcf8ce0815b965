/** Hands chunks to batches, and seals them: through whatever passes by itself. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { ChunkSubmission, SealRequest } from '../../../workflows/fanout/protocol.js';
import { addChunkUpdate, sealUpdate } from '../../../workflows/messages.js';
import { withAnswerTimeout } from '../answer-timeout.js';
import { describeReadable } from '../readable-memos.js';
import { isBusy, isClosing, isSlow } from '../stops/errors.js';
import type { FanoutAddress } from './client.js';
import { explainFanoutError } from './errors.js';
import { fanoutHandle } from './handle.js';

const pauseMs = 500;

export interface UpdateFanoutOptions {
  /** How long to retry while no worker answers, in ms. */
  readonly patienceMs: number;
}

/** Safe to repeat. */
export async function sendChunk(
  client: Client,
  batch: FanoutAddress,
  wish: ChunkSubmission,
  options: UpdateFanoutOptions,
): Promise<void> {
  // Not the digest of the items: ids are never encrypted, and whoever can guess the items could confirm the guess.
  const updateId = `chunk-${wish.chunk}-${randomUUID()}`;
  const send = () => fanoutHandle(client, batch).executeUpdate(addChunkUpdate, { args: [wish], updateId });
  await persist(client, batch, send, options);
}

/** Safe to repeat. */
export async function sendSeal(
  client: Client,
  batch: FanoutAddress,
  wish: SealRequest,
  options: UpdateFanoutOptions,
): Promise<void> {
  await persist(client, batch, () => fanoutHandle(client, batch).executeUpdate(sealUpdate, { args: [wish] }), options);
}

/**
 * A run that continues as new can turn an update away, Temporal takes ten at once, and a worker that is busy with items
 * answers late.
 */
async function persist<T>(
  client: Client,
  batch: FanoutAddress,
  send: () => Promise<T>,
  { patienceMs }: UpdateFanoutOptions,
): Promise<T> {
  const untilMs = Date.now() + patienceMs;
  for (;;) {
    try {
      return await withAnswerTimeout(client, send);
    } catch (error) {
      const passes = isBusy(error) || isSlow(error) || (isClosing(error) && (await runs(client, batch)));
      if (!passes || Date.now() + pauseMs >= untilMs) throw await explainFanoutError(error, client, batch);
      await sleep(pauseMs);
    }
  }
}

async function runs(client: Client, batch: FanoutAddress): Promise<boolean> {
  try {
    return (await describeReadable(client, fanoutHandle(client, batch).workflowId)).status.name === 'RUNNING';
  } catch {
    return false;
  }
}
