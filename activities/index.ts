/** What workflows may do to the world. A factory: no activity holds a client of the module. */
import type { SandboxClient } from '../src/client/index.js';
import type { ResultStore } from '../src/result-store/index.js';
import type { SecretStore } from '../src/secret-store/index.js';
import { createAccountActivities } from './account.js';
import { createAccountReads } from './account-reads.js';
import { createAccountWrites } from './account-writes.js';
import { createCleanupApply } from './cleanup-apply.js';
import { createCleanupPlanning } from './cleanup-plan.js';
import { createCleanupReporting } from './cleanup-report.js';
import { createApiKeyActivity } from './create-api-key.js';
import { createSandboxActivity, forkSandboxActivity } from './create-sandbox.js';
import { createWebhookActivity } from './create-webhook.js';
import { createDownloads } from './downloads.js';
import { createFanoutStore } from './fanout-store.js';
import { createFileActivities } from './files.js';
import { createFollowHub, type FollowHubOptions } from './follow-hub.js';
import { followPromptActivity } from './follow-prompt.js';
import { followSetupActivity } from './follow-setup.js';
import { secretsOrRefusal } from './kept-secrets.js';
import { type NotifyDependencies, notifyActivity } from './notify.js';
import { createReads } from './reads.js';
import { createCommandActivities } from './run-command.js';
import { createSandboxReads } from './sandbox-reads.js';
import { createSecretActivities } from './secrets.js';
import { createPromptReads, sendPromptActivity } from './send-prompt.js';
import { resumeSandboxActivity, stopSandboxActivity } from './stop-sandbox.js';
import { storeObjectActivity } from './store-object.js';
import { updateEnvironmentActivity } from './update-environment.js';
import { createWatchActivities } from './watch.js';
import { awaitItems, awaitJob, describeWorkflows } from './workflow-status.js';
import { createWrites } from './writes.js';

export interface ActivityDependencies extends NotifyDependencies {
  readonly client: SandboxClient;
  readonly results: ResultStore;
  /** Where secrets of the service are kept. Without it, activities that make or take secrets are refused. */
  readonly secrets?: SecretStore;
  /** Where `sandboxWatch` workflows run: the worker's own task queue. */
  readonly taskQueue: string;
  readonly follow?: FollowHubOptions;
}

/** The activities of the main task queue. Follows have a task queue of their own: `createFollowActivities`. */
export function createActivities(dependencies: ActivityDependencies) {
  const { client, results, taskQueue } = dependencies;
  const secrets = secretsOrRefusal(dependencies.secrets);
  return {
    ...createReads(client),
    ...createWrites(client),
    ...createFileActivities(client, results),
    ...createDownloads(client, results),
    ...createAccountActivities(client),
    ...createAccountReads(client),
    ...createAccountWrites(client, secrets),
    ...createSandboxReads(client),
    ...createCommandActivities(client, results),
    ...createSecretActivities(client, secrets),
    ...createWatchActivities(client, taskQueue),
    ...createCleanupPlanning(client, results),
    ...createCleanupApply(client, results, taskQueue),
    ...createCleanupReporting(results),
    ...createFanoutStore(results),
    describeWorkflows,
    createSandbox: createSandboxActivity(client, results),
    forkSandbox: forkSandboxActivity(client, results),
    createApiKey: createApiKeyActivity(client, secrets),
    createWebhook: createWebhookActivity(client, secrets),
    updateEnvironment: updateEnvironmentActivity(client, secrets),
    stopSandbox: stopSandboxActivity(client),
    resumeSandbox: resumeSandboxActivity(client),
    sendPrompt: sendPromptActivity(client, results),
    ...createPromptReads(client, results),
    storeObject: storeObjectActivity(results),
    // Of runs that began before deliveries had a task queue of their own.
    ...createNotifyActivities(dependencies),
  };
}
export type SandflowActivities = ReturnType<typeof createActivities>;

/** Creates and forks of batches, on a task queue whose rate all workers share. */
export function createForkActivities({ client, results }: Pick<ActivityDependencies, 'client' | 'results'>) {
  return { createSandbox: createSandboxActivity(client, results), forkSandbox: forkSandboxActivity(client, results) };
}
export type ForkActivities = ReturnType<typeof createForkActivities>;

/** Deliveries of notifications. */
export function createNotifyActivities(dependencies: NotifyDependencies) {
  return { notify: notifyActivity(dependencies) };
}
export type NotifyActivities = ReturnType<typeof createNotifyActivities>;

/** Activities that last as long as the work that they follow. Those of one process share their reads. */
export function createFollowActivities(dependencies: ActivityDependencies) {
  const { client, results, follow } = dependencies;
  const hub = createFollowHub(client, follow);
  return {
    followPrompt: followPromptActivity(client, hub, results),
    followSetup: followSetupActivity(client, hub),
    awaitItems,
    awaitJob,
  };
}
export type FollowActivities = ReturnType<typeof createFollowActivities>;
