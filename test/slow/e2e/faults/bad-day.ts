/** What batches on a bad day share: their settings, the deaths of their worker, and what is read of them. */
import { join } from 'node:path';
import type { Client } from '@temporalio/client';
import { expect, vi } from 'vitest';
import type { FaultInput } from '../../../../local-service/src/index.js';
import type { FanoutInput, FanoutPolicy } from '../../../../src/protocol/fanout/fanout-input.js';
import type { FanoutResult, ItemResult } from '../../../../src/protocol/fanout/fanout-result.js';
import { createResultStore } from '../../../../src/result-store/index.js';
import type { Started } from '../../../e2e/cli/program.js';
import { patient } from '../../../e2e/stack/fixture.js';
import type { PartsOfStack } from '../../../e2e/stack/fixture-parts.js';

export const always = { times: 1_000_000_000 };
export const lostWebhooks: FaultInput = { ...always, kind: 'webhook_drop', probability: 0.3 };
export function batchOfBadDay(batchId: string, policy: Partial<FanoutPolicy>): FanoutInput {
  return {
    deployment: 'parts',
    batchId,
    policy: {
      concurrency: 40,
      stopAt: { kind: 'go_on' },
      retries: 0,
      itemDeadlineMs: 900_000,
      deadlineMs: 3_000_000,
      budgetSeconds: null,
      type: null,
      end: 'stop',
      ttlSeconds: 1_800,
      // The effect of a prompt with a 503 is unknown; the history of the item's own fork soon shows it.
      onUnknownOutcome: 'resend',
      ...policy,
    },
    timing: { safetyPollFirstMs: 1_000, safetyPollGrowth: 1.5, safetyPollMaxMs: 10_000, commandSilenceMs: 30_000 },
  };
}

export interface MortalWorker {
  readonly deaths: number;
  /** Kills the worker with SIGKILL, and resolves once the next one is ready. */
  replace(): Promise<void>;
}

export async function startMortalWorker(
  parts: PartsOfStack,
  environment: Readonly<Record<string, string>>,
): Promise<MortalWorker> {
  let worker: Started = await parts.startWorker(environment);
  let deaths = 0;
  return {
    get deaths() {
      return deaths;
    },
    async replace() {
      worker.process.kill('SIGKILL');
      await worker.ended;
      deaths += 1;
      worker = await parts.startWorker(environment);
    },
  };
}

/** The newest result of each item, in the order of the batch. */
export async function resultsOf({ cli }: PartsOfStack, { resultsRef }: FanoutResult): Promise<readonly ItemResult[]> {
  const results = createResultStore(join(cli.home, 'results'));
  const lines = (await results.get(resultsRef ?? '')).toString('utf8').trim().split('\n');
  return lines.map((line) => JSON.parse(line) as ItemResult);
}

/** Resolves once no workflow runs. */
export async function untilQuiet(temporal: Client): Promise<void> {
  const isQuiet = async () => expect((await temporal.workflow.count("ExecutionStatus = 'Running'")).count).toBe(0);
  await vi.waitFor(isQuiet, patient);
}
