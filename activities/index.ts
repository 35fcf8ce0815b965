/** What workflows may do to the world. A factory: no activity holds a client of the module. */
import type { SandboxClient } from '../src/client/index.js';
import type { ResultStore } from '../src/result-store/index.js';
import { createAccountActivities } from './account.js';
import { createSandboxActivity } from './create-sandbox.js';
import { createFileActivities } from './files.js';
import { createFollowHub, type FollowHubOptions } from './follow-hub.js';
import { followPromptActivity } from './follow-prompt.js';
import { followSetupActivity } from './follow-setup.js';
import { notifyActivity } from './notify.js';
import { createReads } from './reads.js';
import { runCommandActivity } from './run-command.js';
import { sendPromptActivity } from './send-prompt.js';
import { resumeSandboxActivity, stopSandboxActivity } from './stop-sandbox.js';
import { createWatchActivities } from './watch.js';
import { createWrites } from './writes.js';

export interface ActivityDependencies {
  readonly client: SandboxClient;
  readonly results: ResultStore;
  /** Where `sandboxWatch` workflows run: the worker's own task queue. */
  readonly taskQueue: string;
  /** Whether the notify commands of jobs may run on this worker. Default false. */
  readonly allowNotifyCommands?: boolean;
  readonly follow?: FollowHubOptions;
}

/** The activities of the main task queue. Follows have a task queue of their own: `createFollowActivities`. */
export function createActivities(dependencies: ActivityDependencies) {
  const { client, results, taskQueue, allowNotifyCommands = false } = dependencies;
  return {
    ...createReads(client),
    ...createWrites(client),
    ...createFileActivities(client, results),
    ...createAccountActivities(client),
    ...createWatchActivities(taskQueue),
    createSandbox: createSandboxActivity(client),
    stopSandbox: stopSandboxActivity(client),
    resumeSandbox: resumeSandboxActivity(client),
    sendPrompt: sendPromptActivity(client),
    runCommand: runCommandActivity(client),
    notify: notifyActivity(allowNotifyCommands),
  };
}
export type SandflowActivities = ReturnType<typeof createActivities>;

/** Activities that last as long as the work that they follow. Those of one process share their reads. */
export function createFollowActivities(dependencies: ActivityDependencies) {
  const { client, results, follow } = dependencies;
  const hub = createFollowHub(client, follow);
  return {
    followPrompt: followPromptActivity(client, hub, results),
    followSetup: followSetupActivity(client, hub),
  };
}
export type FollowActivities = ReturnType<typeof createFollowActivities>;
