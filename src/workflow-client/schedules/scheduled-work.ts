/** Prepares what a schedule runs: checked as for a start, with its texts and items in the result store. */
import { createHash } from 'node:crypto';
import type { Client } from '@temporalio/client';
import { scheduleLabel } from '../../addresses/schedule-addresses.js';
import { SandflowError } from '../../errors/sandflow-error.js';
import type { CleanupMemo, CleanupSettings } from '../../protocol/cleanup.js';
import type { NewFanoutItem } from '../../protocol/fanout/fanout-input.js';
import type { NewJob } from '../../protocol/job/job-input.js';
import type { ScheduledBatch, ScheduledCleanup, ScheduledJob, StoredItems } from '../../protocol/schedule.js';
import type { ResultStore } from '../../result-store/index.js';
import { storedJson } from '../../result-store/stored-json.js';
import type { CleanupPolicy } from '../../retention/index.js';
import { requireOptions } from '../../settings/required-options.js';
import { requireClient } from '../../temporal/own-copy.js';
import { checkCleanup } from '../cleanups/cleanup-input.js';
import { prepareFanout } from '../fanouts/fanout-client.js';
import { bad, type NewFanout } from '../fanouts/fanout-input.js';
import { packItems } from '../fanouts/pack-items.js';
import { prepareJob, type StartJobOptions } from '../jobs/job-client.js';
import type { Labels } from '../labels.js';
import { putByDigest } from '../store-texts.js';

/** Options of `scheduledJob` and `scheduledBatch`. */
export interface ScheduledWorkOptions extends Omit<StartJobOptions, 'taskQueue' | 'again' | 'rerunOf'> {
  /** Name of the schedule: each run has it as the label `schedule`. */
  readonly schedule: string;
}

/**
 * A job for `putSchedule`. Its long texts are put into the result store now. Starts nothing.
 * @throws SandflowError as `startJob`
 * @example
 * const prompts = [{ prompt: 'Update the dependencies.' }];
 * const work = await scheduledJob(client, { deployment, prompts }, { schedule: 'nightly', results });
 */
export async function scheduledJob(
  client: Client,
  input: Omit<NewJob, 'jobId'>,
  options: ScheduledWorkOptions,
): Promise<ScheduledJob> {
  requireClient(client);
  const given = { ...options, labels: withSchedule(options) };
  const { checked, memo, summary } = await prepareJob(client, { ...input, jobId: options.schedule }, given);
  const { jobId: _, ...rest } = checked;
  const { searchAttributes } = options;
  return { kind: 'job', input: rest, memo: { ...memo }, summary, searchAttributes };
}

const needsStore =
  'A batch of a schedule needs the shared result store, which keeps its items: set `results` in the library, SANDFLOW_RESULTS for commands.';

/**
 * A batch for `putSchedule`. Its items are put into the result store now. Starts nothing.
 * @throws SandflowError as `submitFanout`; `bad_fanout_input` without a result store, which keeps the items
 * @example
 * const source = { kind: 'sandbox', sandboxId: 'bx_2345abcd', allowStale: false } as const;
 * const items = [{ id: 'first', prompts: [{ prompt: 'Fix the first issue.' }] }];
 * const work = await scheduledBatch(client, { deployment, source }, items, { schedule: 'nightly', results });
 */
export async function scheduledBatch(
  client: Client,
  input: Omit<NewFanout, 'batchId'>,
  items: Iterable<NewFanoutItem> | AsyncIterable<NewFanoutItem>,
  options: ScheduledWorkOptions,
): Promise<ScheduledBatch> {
  requireClient(client);
  requireOptions({ items }, { items: 'an object' });
  const { results, searchAttributes } = options;
  if (!results) throw bad(needsStore);
  const given = { ...options, labels: withSchedule(options) };
  const { checked, memo } = await prepareFanout(client, { ...input, batchId: options.schedule }, given);
  const chunks: string[] = [];
  let count = 0;
  for await (const chunk of packItems(items, { policy: checked.policy, source: checked.source, results })) {
    chunks.push(await keep(results, chunk));
    count += chunk.items.length;
  }
  if (count === 0) throw bad('The batch has no items.');
  const stored: StoredItems = { chunks, items: count };
  const { batchId: _, ...rest } = checked;
  const summary = checked.title ?? options.schedule;
  return {
    kind: 'batch',
    input: rest,
    memo: { ...memo },
    summary,
    itemsRef: await keep(results, stored),
    items: count,
    searchAttributes,
  };
}

/**
 * A cleanup for `putSchedule`. Starts nothing.
 * @throws SandflowError `bad_policy`
 * @example
 * const work = scheduledCleanup({ deployment, policy });
 */
export function scheduledCleanup(options: {
  readonly deployment: string;
  /** The validated policy; see `readPolicy`. */
  readonly policy: CleanupPolicy;
  /** Overrides of the default settings. Default: none. */
  readonly settings?: Partial<CleanupSettings>;
}): ScheduledCleanup {
  checkCleanup(options);
  const { deployment, policy, settings } = options;
  const memo: CleanupMemo = { policy: policy.name, mode: 'apply', acted: 0, fleet: null };
  return {
    kind: 'cleanup',
    input: { deployment, policy, mode: 'apply', settings },
    memo: { ...memo },
    summary: `cleanup ${policy.name}`,
  };
}

/** @throws SandflowError `bad_schedule` */
function withSchedule({ schedule, labels = {} }: ScheduledWorkOptions): Labels {
  if (scheduleLabel in labels) {
    const why = `the label "${scheduleLabel}" is the name of the schedule. Choose another label`;
    throw new SandflowError('bad_schedule', `The schedule "${schedule}" cannot be used: ${why}.`);
  }
  return { ...labels, [scheduleLabel]: schedule };
}

/** The same content has the same reference, so adding a schedule again stores nothing new. */
async function keep(results: ResultStore, value: object): Promise<string> {
  const content = storedJson(value);
  const digest = createHash('sha256').update(content).digest('hex');
  return (await putByDigest(results, `schedules/${digest}.json`, content)).ref;
}
