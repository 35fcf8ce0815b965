/** Creates the activities of a worker from their dependencies; no module holds a client. */

import type { SandboxClient } from '../src/client/index.js';
import type { ResultStore } from '../src/result-store/index.js';
import type { SecretStore } from '../src/secret-store/index.js';
import { requireOptions } from '../src/settings/required-options.js';
import { createApiKeyActivity } from './account/create-api-key.js';
import { createWebhookActivity } from './account/create-webhook.js';
import { createAccountReads } from './account/read.js';
import { createSecretActivities, secretsOrRefusal } from './account/secrets.js';
import { updateEnvironmentActivity } from './account/update-environment.js';
import { createAccountWrites } from './account/write.js';
import { createCleanupApply } from './cleanup/apply.js';
import { createResultRemoval } from './cleanup/forgotten-results.js';
import { createCleanupPlanning } from './cleanup/plan.js';
import { createCleanupReporting } from './cleanup/report.js';
import { createFanoutStore } from './fanout/store.js';
import { createWorkflowWaits, describeWorkflows } from './fanout/workflow-status.js';
import { type NotifyDependencies, notifyActivity } from './notification/notify.js';
import { type FollowHubOptions, followHubOf } from './prompt/follow-hub.js';
import { createFollow, followPromptActivity } from './prompt/follow-prompt.js';
import { interruptSandboxActivity } from './prompt/interrupt.js';
import { createPromptReads, sendPromptActivity } from './prompt/send.js';
import { type BriefFollowOptions, sendAndFollowPromptActivity } from './prompt/send-and-follow.js';
import { storeTranscriptActivity } from './prompt/transcript.js';
import { watchRunningActivity } from './prompt/watch-running.js';
import type { YoungFollowOptions } from './retry/attempt.js';
import type { RotateOptions } from './retry/rotate.js';
import { createCommandActivities } from './sandbox/commands.js';
import { createSandboxActivities } from './sandbox/create.js';
import { createDiffActivities } from './sandbox/diff.js';
import { createDownloads } from './sandbox/download.js';
import { createFileActivities } from './sandbox/files.js';
import { followSetupActivity } from './sandbox/follow-setup.js';
import { createReads } from './sandbox/read.js';
import { createSandboxReads } from './sandbox/read-details.js';
import { createSourceReads } from './sandbox/source-state.js';
import { resumeSandboxActivity, stopSandboxActivity } from './sandbox/stop-resume.js';
import { createWrites } from './sandbox/write.js';
import { sendScheduledItemsActivity } from './schedule/send-items.js';
import { createStopEscalation } from './stop/escalate-stop.js';
import { createStopHandOver } from './stop/hand-over.js';
import { readStopRequest } from './stop/stop-request.js';
import { storeObjectActivity } from './store/texts.js';
import { createWatchActivities } from './watch.js';

/** The default of `maxConcurrentActivityTaskExecutions`. */
export const defaultMaxActivities = 100;

/** The dependencies of a worker's activities. */
export interface ActivityDependencies extends NotifyDependencies {
  /** The client of the service. The caller closes it. */
  readonly client: SandboxClient;
  /** The store for objects that are too large for history. All workers and clients must share it. */
  readonly results: ResultStore;
  /** The store for secrets of the service. Without it, activities that create or use secrets are refused. */
  readonly secrets?: SecretStore;
  /** Task queue of `sandboxWatch` workflows: the worker's own. */
  readonly taskQueue: string;
  /** Settings of the follows. Default: none. */
  readonly follow?: FollowHubOptions & BriefFollowOptions & YoungFollowOptions;
  /**
   * Maximum number of concurrent activities of the main task queue, as its worker has it. Three quarters of them may
   * follow a prompt for a moment; the rest stays free for stops. Default: 100.
   */
  readonly maxConcurrentActivityTaskExecutions?: number;
  /** Settings of rotations. Default: none. */
  readonly rotation?: RotateOptions;
}

/**
 * The activities of the main task queue. Jobs also need workers for the task queues `<taskQueue>-follow`
 * (`createFollowActivities`), `<taskQueue>-fork` (`createForkActivities`) and `<taskQueue>-notify`
 * (`createNotifyActivities`): `createSandflowWorker` runs all of them. `sandflow doctor` names a
 * queue that no worker polls.
 * @example
 * const activities = createActivities({ client: api, results, taskQueue });
 * const worker = await Worker.create({ connection, taskQueue, workflowsPath, activities });
 */
export function createActivities(dependencies: ActivityDependencies) {
  requireOptions(dependencies, { client: 'an object', results: 'an object', taskQueue: 'a text' });
  const { client, results, taskQueue, rotation, follow } = dependencies;
  const { maxConcurrentActivityTaskExecutions: maxActivities = defaultMaxActivities } = dependencies;
  const secrets = secretsOrRefusal(dependencies.secrets);
  const sendPrompt = sendPromptActivity(client, results);
  const followPrompt = createFollow(client, followHubOf(client, follow), results);
  return {
    ...createReads(client),
    ...createSandboxActivities(client, results),
    ...createWrites(client),
    ...createFileActivities(client, results),
    ...createDownloads(client, results),
    ...createDiffActivities(client, results),
    ...createAccountReads(client),
    ...createAccountWrites(client, secrets),
    ...createSandboxReads(client),
    ...createSourceReads(client),
    ...createCommandActivities(client, results),
    ...createSecretActivities(client, secrets, rotation),
    ...createWatchActivities(client, results, taskQueue),
    ...createStopEscalation(client, taskQueue),
    ...createStopHandOver(taskQueue),
    ...createCleanupPlanning(client, results),
    ...createCleanupApply(client, results, taskQueue),
    ...createCleanupReporting(results),
    ...createResultRemoval(results),
    ...createFanoutStore(results),
    describeWorkflows,
    readStopRequest,
    sendScheduledItems: sendScheduledItemsActivity(results),
    createApiKey: createApiKeyActivity(client, secrets, rotation),
    createWebhook: createWebhookActivity(client, secrets, rotation),
    updateEnvironment: updateEnvironmentActivity(client, secrets),
    stopSandbox: stopSandboxActivity(client, results),
    resumeSandbox: resumeSandboxActivity(client),
    interruptSandbox: interruptSandboxActivity(client, results),
    sendPrompt,
    sendAndFollowPrompt: sendAndFollowPromptActivity(sendPrompt, followPrompt, { ...follow, maxActivities }),
    ...createPromptReads(client, results),
    storeObject: storeObjectActivity(results),
    storeTranscript: storeTranscriptActivity(client, results),
  };
}
/** The activities of the main task queue. */
export type SandflowActivities = ReturnType<typeof createActivities>;

/**
 * Creates and forks for batches, on a task queue whose rate limit all workers share.
 * @example
 * const forks = await Worker.create({
 *   connection,
 *   taskQueue: `${taskQueue}-fork`,
 *   maxTaskQueueActivitiesPerSecond: 20,
 *   activities: createForkActivities({ client: api, results }),
 * });
 */
export function createForkActivities(dependencies: Pick<ActivityDependencies, 'client' | 'results'>) {
  requireOptions(dependencies, { client: 'an object', results: 'an object' });
  const { client, results } = dependencies;
  return createSandboxActivities(client, results);
}

/** The activities of the task queue for forks. */
export type ForkActivities = ReturnType<typeof createForkActivities>;

/**
 * The activities of the task queue for notifications, `<taskQueue>-notify`.
 * @example
 * const notifySecrets = createNotifySecrets('/var/lib/sandflow/notify-secrets');
 * const activities = createNotifyActivities({ notifySecrets });
 */
export function createNotifyActivities(dependencies: NotifyDependencies) {
  return { notify: notifyActivity(dependencies) };
}
/** The activities of the task queue of notifications. */
export type NotifyActivities = ReturnType<typeof createNotifyActivities>;

/**
 * Activities that wait, some as long as the work that they follow. All follows of a process share their reads.
 * @example
 * const activities = createFollowActivities({ client: api, results, taskQueue });
 * const follows = await Worker.create({ connection, taskQueue: `${taskQueue}-follow`, activities });
 */
export function createFollowActivities(dependencies: ActivityDependencies) {
  requireOptions(dependencies, { client: 'an object', results: 'an object', taskQueue: 'a text' });
  const { client, results, taskQueue, follow } = dependencies;
  const hub = followHubOf(client, follow);
  return {
    followPrompt: followPromptActivity(client, hub, { results, taskQueue, ...follow }),
    watchRunning: watchRunningActivity(client, hub),
    followSetup: followSetupActivity(client, hub),
    ...createWorkflowWaits(follow),
  };
}
/** The activities of the task queue of follows. */
export type FollowActivities = ReturnType<typeof createFollowActivities>;
