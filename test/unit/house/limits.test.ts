/** docs/limits.md has the values of the code. */

import { expect, test } from 'vitest';
import { defaultMaxActivities } from '../../../activities/index.js';
import { describeFailure } from '../../../activities/retry/classify.js';
import { maxPatchBytes } from '../../../activities/sandbox/diff-script.js';
import { maxWebhooks } from '../../../local-service/src/accounts/limits.js';
import { defaultTimings } from '../../../local-service/src/timings.js';
import { ApiError } from '../../../src/client/index.js';
import { timestampToleranceSeconds } from '../../../src/contract/records/webhook-events.js';
import {
  defaultForksPerSecond,
  maxCommandBytes,
  maxFileBytes,
  maxTtlSeconds,
} from '../../../src/contract/workflow-safe/limits.js';
import { jobSettings } from '../../../src/job-settings/job-settings.js';
import {
  defaultCatchUpMs,
  longestCatchUpMs,
  longestCommandSeconds,
  longestJitterMs,
  maxChunks,
  maxEscalationSteps,
  maxFolderBytes,
  maxFolderEntries,
  maxInlineTextBytes,
  maxItemsInChunk,
  maxJobInputBytes,
  maxJobResultBytes,
  maxSteps,
  maxTextBytes,
  maxUnpackedBytes,
  maxUnpackedEntries,
} from '../../../src/protocol/limits.js';
import { defaultPolicy } from '../../../src/workflow-client/fanouts/fanout-input.js';
import { longMsSchema } from '../../../src/workflow-client/settings/setting-schemas.js';
import { defaultTiming, refusedCallDelayMs, renewClaimInMs } from '../../../workflows/shared/wait-intervals.js';
import { readSource } from './source-imports.js';

/** A number in the source of a file: what the group of the pattern matches, a number or a product of numbers. */
function numberIn(file: string, pattern: RegExp): number {
  const [, found] = pattern.exec(readSource(file)) ?? [];
  if (found === undefined) throw new Error(`${file} has nothing like ${pattern}`);
  return found
    .split('*')
    .map((factor) => Number(factor.replaceAll('_', '').trim()))
    .reduce((product, factor) => product * factor, 1);
}

const constantIn = (file: string, name: string) => numberIn(file, new RegExp(`\\b${name} = ([\\d_ *]+)[;,]`));

const count = (number: number) => number.toLocaleString('en-US');
const bytes = (number: number) =>
  number % 2 ** 20 === 0
    ? `${number / 2 ** 20} MiB`
    : number % 2 ** 10 === 0
      ? `${number / 2 ** 10} KiB`
      : `${count(number)} bytes`;
const s = (ms: number) => `${ms / 1_000} s`;
const min = (ms: number) => `${ms / 60_000} min`;
const h = (ms: number) => `${ms / 3_600_000} h`;
const days = (ms: number) => `${ms / 86_400_000} ${ms === 86_400_000 ? 'day' : 'days'}`;

const policySchema = 'src/retention/policy-schema.ts';
const worker = 'src/worker/queues.ts';
const truncation = 'workflows/job/truncate-result.ts';

const askedMs = 24 * 60 * 60 * 1_000;
const pauses = [null, askedMs].flatMap((retryAfterMs) =>
  (['throttled_for_long', 'blocked'] as const).map((meaning) => {
    const fields = { endpoint: 'getMe', status: 429, code: '', typed: true, requestId: null, details: null } as const;
    const refusal = describeFailure(new ApiError('no', { ...fields, meaning, retryAfterMs }));
    return (refusal && refusedCallDelayMs(refusal, 100)) ?? Number.NaN;
  }),
);
const { safetyPollFirstMs, safetyPollMaxMs, cleanUpMs, readLagMs, leaseLastsMs, renewLeaseEveryMs } = defaultTiming;
const { idempotencyKeyMs, dataExpiryMs, webhookTimeoutMs } = defaultTimings;

/** The first two cells of each row, in order. */
const limits: readonly (readonly [string, string])[] = [
  ['a prompt, a setup script or another text', bytes(maxTextBytes)],
  ["a text in Temporal's history itself", bytes(maxInlineTextBytes)],
  ['a command in the sandbox', bytes(maxCommandBytes)],
  ['time for one command', `${min(1_000 * longestCommandSeconds)}, or the deadline of the job if that is shorter`],
  ['prompts, files to write, commands or files to collect of one job, each', count(maxSteps)],
  [
    'options of the prompts that are added to a job, without their texts',
    bytes(constantIn('workflows/job/handlers.ts', 'maxAddedBytes')),
  ],
  ['input of a job without its stored texts', bytes(maxJobInputBytes)],
  ['a file to write (`--put`)', bytes(maxFileBytes)],
  [
    'a folder to write (`--put FOLDER/`)',
    `${count(maxFolderBytes / 2 ** 20)} MiB in ${count(maxFolderEntries)} files and folders, before it is packed`,
  ],
  [
    'a collected folder that is unpacked (`--get FOLDER/`)',
    `${count(maxUnpackedBytes / 2 ** 20)} MiB in ${count(maxUnpackedEntries)} files and folders`,
  ],
  ['a patch (`--get-diff`)', bytes(maxPatchBytes)],
  [
    "an answer of an agent in the job's result",
    `${bytes(constantIn(truncation, 'longestAnswerBytes'))}, and ${bytes(constantIn(truncation, 'answersBytes'))} for all`,
  ],
  ['result of a job', bytes(maxJobResultBytes)],
  ['deadline of a job, an item or a batch', days(longMsSchema.maxValue ?? Number.NaN)],
  ['time to clean up after the deadline', min(cleanUpMs)],
  ['auto-stop of a sandbox', `${maxTtlSeconds / (366 * 86_400)} years`],
  ['an answer of the service that is held in memory', bytes(constantIn('src/client/exchange.ts', 'maxResponseBytes'))],
  ['sandboxes in a list of the account', count(constantIn('src/client/pages.ts', 'maxRows'))],

  ['items', `${count(maxChunks * maxItemsInChunk)} in ${count(maxChunks)} chunks of ${maxItemsInChunk}`],
  [
    'an item',
    `${bytes(maxJobInputBytes - numberIn('src/workflow-client/fanouts/fanout-input.ts', /maxBytesInChunk\) - ([\d_]+);/))} without its stored texts`,
  ],
  ['forks at once', count(defaultPolicy.concurrency)],
  ['forks and creates per second, for all workers', count(defaultForksPerSecond)],
  ['retries of an item', count(jobSettings.retries.most)],

  [
    'from a lost webhook until a job looks by itself',
    `${s(safetyPollFirstMs)} at first, up to ${min(safetyPollMaxMs)}`,
  ],
  ['time in which a 404 may be wrong, because reads lag', s(readLagMs)],
  ['pause of a job that is throttled or blocked', `${min(Math.max(...pauses))} at most`],
  ['a lease on a sandbox', `${min(leaseLastsMs)}, renewed every ${min(renewLeaseEveryMs)}`],
  [
    'a claim on a sandbox',
    `${min(constantIn('activities/watch.ts', 'claimLastsMs'))}, renewed every ${min(renewClaimInMs(defaultTiming))}`,
  ],
  [
    'leases and waiting workflows of one sandbox',
    count(constantIn('workflows/watch/leases-and-claims.ts', 'registrationsAtMost')),
  ],

  [
    'young prompts that a worker follows by an activity each',
    count(constantIn('activities/prompt/follow-prompt.ts', 'youngAtMost')),
  ],
  ['follow activities of a worker', count(constantIn(worker, 'defaultMaxFollows'))],
  [
    'prompts that the follower of a task queue follows',
    count(constantIn('workflows/follower/prompt-follower.ts', 'followedAtMost')),
  ],
  ['other activities at once', count(defaultMaxActivities)],
  ['notifications at once', count(numberIn(worker, /maxConcurrentActivityTaskExecutions: ([\d_]+),/))],
  ['workflows in memory', count(constantIn('src/worker/create-worker.ts', 'defaultMaxCachedWorkflows'))],
  ['time for running activities after SIGTERM', `${numberIn(worker, /defaultGraceTime = '(\d+) seconds'/)} s`],

  ['wait for a stop', min(constantIn('src/workflow-client/stops/stop-input.ts', 'defaultDeadlineMs'))],
  [
    'requests that wait for the stop of one sandbox',
    count(constantIn('workflows/stop/stop-and-await-archive.ts', 'openAtMost')),
  ],
  ['steps of an escalation', count(maxEscalationSteps)],
  ['rules of a policy', count(numberIn(policySchema, /at least one rule'\)\.max\(([\d_]+)\)/))],
  ['actions of a cleanup per night', count(numberIn(policySchema, /maxActions: .*\.default\(([\d_]+)\)/))],
  ['random delay of a schedule', days(longestJitterMs)],
  ['catch-up of a schedule', h(defaultCatchUpMs)],
  [
    'what a schedule runs, without its stored texts',
    bytes(constantIn('src/workflow-client/schedules/schedule-client.ts', 'maxWorkBytes')),
  ],

  ['time for a listener to answer', s(constantIn('activities/notification/notify.ts', 'timeoutMs'))],
  [
    'time in which a notification is sent again',
    `${numberIn('workflows/shared/activity-options.ts', /startToCloseTimeout: '30 seconds',\n {4}scheduleToCloseTimeout: '(\d+) hours'/)} hours`,
  ],
  ['a delivery to the bridge', bytes(numberIn('src/bridge/create-bridge.ts', /maxBodyBytes = ([\d_ *]+) }/))],
  ['difference between the clocks of service and bridge', `${timestampToleranceSeconds} s`],
  ['connections to the bridge', count(constantIn('src/bridge/create-bridge.ts', 'maxConnections'))],

  ['memory of an idempotency key', h(idempotencyKeyMs)],
  ['data of a stopped sandbox', days(dataExpiryMs)],
  ['lifetime of an API key', days(1_000 * constantIn('src/contract/requests/account-requests.ts', 'maxKeyTtlSeconds'))],
  ['webhooks of an account', count(maxWebhooks)],
  ['attempts of a delivery', count(constantIn('local-service/src/webhooks/deliverer.ts', 'maxAttempts'))],
  ['time for the bridge to answer a delivery', s(webhookTimeoutMs)],
  ['processes in a list', count(constantIn('local-service/src/machine/processes/list.ts', 'maxProcesses'))],
];

const page = readSource('docs/limits.md');
const rows = page
  .split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| Limit '))
  .map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );

test('docs/limits.md lists each limit with the value of the code', () => {
  expect(rows.map(([limit, value]) => [limit, value])).toEqual(limits);
});

test('docs/limits.md says of each limit what happens beyond it and where to change it', () => {
  expect(rows.filter((cells) => cells.length !== 4 || cells[3] === '')).toEqual([]);
});

test('docs/limits.md names the largest values of options', () => {
  const concurrency = jobSettings.concurrency.most;
  expect(page).toContain(`\`--concurrency\`, up to ${count(concurrency)} |`);
  const actions = numberIn(policySchema, /maxActions: .*\.max\(([\d_]+)\)/);
  expect(page).toContain(`\`maxActions\`, up to ${count(actions)} |`);
  expect(page).toContain(`\`--catch-up\`, up to ${days(longestCatchUpMs)} |`);
});
