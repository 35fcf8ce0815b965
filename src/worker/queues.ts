/** The workers of sandflow's task queues, as options of Temporal's. */
import type { ActivityInboundCallsInterceptor, WorkerOptions } from '@temporalio/worker';
import {
  type ActivityDependencies,
  createActivities,
  createFollowActivities,
  createForkActivities,
  createNotifyActivities,
} from '../../activities/index.js';
import { finalFailure } from '../../activities/retry/classify.js';
import { followTaskQueue, forkTaskQueue, notifyTaskQueue } from '../addresses/addresses.js';
import { defaultForksPerSecond } from '../contract/workflow-safe/limits.js';
import { unanswered } from '../contract/workflow-safe/service-failure.js';
import { SandflowError } from '../errors/sandflow-error.js';
import { cleanError } from '../errors/without-secrets.js';
import { requireCounts, requirePositive } from '../settings/required-numbers.js';
import { requireOptions } from '../settings/required-options.js';
import { requireWorkerConnection } from '../temporal/connect-worker.js';
import { missingApiOf } from '../temporal/missing-api.js';
import { requireProc } from '../temporal/require-proc.js';
import { countCalls } from './count-calls.js';
import { workflowSource } from './workflow-bundle.js';

/** Of a worker that has all its queues: by it, another plugin of sandflow knows that it must not add them. */
export const queuesPlugin = 'sandflow queues';

/** What sandflow adds to the options of a worker. */
export interface SandflowParts extends Omit<ActivityDependencies, 'taskQueue' | 'maxConcurrentActivityTaskExecutions'> {
  /** Maximum number of concurrent follows. A follow mostly waits. Default: 5 000. */
  readonly maxFollows?: number;
  /** Maximum number of forks and creates of batches per second, for all workers of the task queue. Default: 20. */
  readonly forksPerSecond?: number;
  /**
   * Keeps stack traces in workflow code: in errors, and in the call stack of Temporal's UI. Costs a fifth of the CPU time
   * of a job. Default: false.
   */
  readonly workflowStacks?: boolean;
}

/** Each queue has them: above all one version, so that a deployment moves all queues at once. */
const common = [
  'connection',
  'namespace',
  'identity',
  'buildId',
  'useVersioning',
  'workerDeploymentOptions',
  'dataConverter',
  'plugins',
  'shutdownForceTime',
  'maxHeartbeatThrottleInterval',
  'defaultHeartbeatThrottleInterval',
  'disablePayloadErrorLimit',
] as const satisfies readonly (keyof WorkerOptions)[];

const defaultMaxFollows = 5_000;
/** How long running activities may continue after shutdown begins. */
const defaultGraceTime = '10 seconds';

/** @throws SandflowError as `createSandflowWorker` */
export async function checkParts(options: WorkerOptions, parts: SandflowParts): Promise<void> {
  requireOptions({ ...parts, ...options }, { client: 'an object', results: 'an object', taskQueue: 'a text' });
  if (options.connection) requireWorkerConnection(options.connection);
  requireProc();
  const { maxConcurrentActivityTaskExecutions, maxCachedWorkflows } = options;
  requireCounts({ maxFollows: parts.maxFollows, maxConcurrentActivityTaskExecutions });
  requireCounts({ maxCachedWorkflows }, 0);
  requirePositive({ forksPerSecond: parts.forksPerSecond });
  await parts.results.checkWritable?.();
}

/** The worker of the main task queue: the workflows, most activities, and what else the options have. */
export async function mainQueue(options: WorkerOptions, parts: SandflowParts): Promise<WorkerOptions> {
  const { taskQueue, tuner } = options;
  const supplier = tuner && 'activityTaskSlotSupplier' in tuner ? tuner.activityTaskSlotSupplier : undefined;
  const slots = supplier?.type === 'fixed-size' ? supplier.numSlots : options.maxConcurrentActivityTaskExecutions;
  const own = createActivities({ ...parts, taskQueue, maxConcurrentActivityTaskExecutions: slots });
  const taken = Object.keys(options.activities ?? {}).filter((name) => name in own);
  if (taken.length > 0) {
    throw new SandflowError('bad_argument', `sandflow has activities named ${taken.join(', ')}: rename yours.`);
  }
  const all = { ...options, ...(await workflowSource({ ...options, workflowStacks: parts.workflowStacks })) };
  return {
    ...all,
    activities: { ...options.activities, ...own },
    interceptors: withOwn(all.interceptors),
    shutdownGraceTime: options.shutdownGraceTime ?? defaultGraceTime,
  };
}

/** The workers of the other task queues: none can do without what its own queue gives it. */
export function otherQueues(options: WorkerOptions, parts: SandflowParts): WorkerOptions[] {
  const { taskQueue, shutdownGraceTime = defaultGraceTime } = options;
  const shared = {
    // An option that is undefined takes the place of a default of the SDK.
    ...Object.fromEntries(common.flatMap((name) => (options[name] === undefined ? [] : [[name, options[name]]]))),
    interceptors: withOwn(options.interceptors),
  };
  return [
    {
      ...shared,
      taskQueue: followTaskQueue(taskQueue),
      activities: createFollowActivities({ ...parts, taskQueue }),
      maxConcurrentActivityTaskExecutions: parts.maxFollows ?? defaultMaxFollows,
      // A follow rarely ends within a grace period, so it continues on another worker.
      shutdownGraceTime: 0,
    },
    {
      ...shared,
      taskQueue: forkTaskQueue(taskQueue),
      activities: createForkActivities(parts),
      maxTaskQueueActivitiesPerSecond: parts.forksPerSecond ?? defaultForksPerSecond,
      // The rate limit allows only few calls at once, and idle pollers are not free.
      activityTaskPollerBehavior: { type: 'simple-maximum', maximum: 2 },
      shutdownGraceTime,
    },
    {
      ...shared,
      taskQueue: notifyTaskQueue(taskQueue),
      activities: createNotifyActivities(parts),
      // Each delivery may hang.
      maxConcurrentActivityTaskExecutions: 50,
      activityTaskPollerBehavior: { type: 'simple-maximum', maximum: 2 },
      shutdownGraceTime,
    },
  ];
}

/** Those of the user are inside: they see results as the activities return them. */
function withOwn(interceptors: WorkerOptions['interceptors']): WorkerOptions['interceptors'] {
  const activity = [() => ({ inbound: activityFailures }), countCalls, ...(interceptors?.activity ?? [])];
  return { ...interceptors, activity };
}

/** What the failure of an activity may tell Temporal, which keeps it in the history. */
export const activityFailures: ActivityInboundCallsInterceptor = {
  async execute(input, next) {
    try {
      return await next(input);
    } catch (error) {
      // A library may have written anything into it.
      cleanError(error);
      const final = isOfOtherVersion(error) ? error : missingApiOf(error);
      if (!final) throw error;
      const { code, message } = final;
      throw finalFailure({ ...unanswered, code, message, meaning: 'permanent' });
    }
  },
};

/** No later attempt of this version can read the object. */
function isOfOtherVersion(error: unknown): error is SandflowError {
  return error instanceof SandflowError && error.code === 'result_of_other_version';
}
