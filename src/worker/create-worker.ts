import type { DataConverter } from '@temporalio/common';
import { type NativeConnection, TransportError, Worker, type WorkerOptions } from '@temporalio/worker';
import {
  type ActivityDependencies,
  createActivities,
  createFollowActivities,
  createForkActivities,
  createNotifyActivities,
  defaultMaxActivities,
} from '../../activities/index.js';
import { followTaskQueue, forkTaskQueue, notifyTaskQueue } from '../addresses/addresses.js';
import { defaultForksPerSecond } from '../contract/workflow-safe/limits.js';
import { SandflowError } from '../errors/sandflow-error.js';
import { requireCounts, requirePositive } from '../settings/required-numbers.js';
import { requireOptions } from '../settings/required-options.js';
import { clientOfWorker, requireWorkerConnection } from '../temporal/connect-worker.js';
import { createProbe, type Probe } from '../temporal/probe.js';
import { requireProc } from '../temporal/require-proc.js';
import { activityFailures } from './activity-failures.js';
import { countCalls } from './count-calls.js';
import { workflowSource } from './workflow-bundle.js';

/** An activity of your own. Its arguments and its result must be JSON. */
// biome-ignore lint/suspicious/noExplicitAny: only `any` accepts the parameters of every function
export type OwnActivity = (...args: any[]) => Promise<unknown>;

/** Options of `createSandflowWorker`. */
export interface SandflowWorkerOptions extends ActivityDependencies {
  /** The connection to Temporal; the caller closes it. See `connectWorker`. */
  readonly connection: NativeConnection;
  /** Default `default`. */
  readonly namespace?: string;
  /** Maximum number of concurrent follows. A follow mostly waits. Default: 5 000. */
  readonly maxFollows?: number;
  /** Maximum number of forks and creates of batches per second, for all workers of the task queue. Default: 20. */
  readonly forksPerSecond?: number;
  /** Maximum number of workflows cached in memory. Default: 800. */
  readonly maxCachedWorkflows?: number;
  /** How long running activities may continue after shutdown begins. Default: 10 seconds. */
  readonly shutdownGraceTime?: WorkerOptions['shutdownGraceTime'];
  /**
   * The workflow bundle, created with `unencryptedBundle` or `encryptedBundle`. Default: the bundle of the build, or else
   * one that is created now.
   */
  readonly workflowBundle?: WorkerOptions['workflowBundle'];
  /**
   * A module with your own workflows, as an absolute path. It must also hold those of sandflow:
   * `export * from 'sandflow/workflows'`. It is bundled now. Default: none.
   */
  readonly workflowsPath?: string;
  /**
   * Keeps stack traces in workflow code: in errors, and in the call stack of Temporal's UI. Costs a fifth of the CPU time
   * of a job. Default: false.
   */
  readonly workflowStacks?: boolean;
  /** The version of this worker, of all its task queues; see `workerVersion`. Default: it tells none. */
  readonly workerDeploymentOptions?: WorkerOptions['workerDeploymentOptions'];
  /** Your own activities, for the main task queue. Default: none. */
  readonly activities?: Readonly<Record<string, OwnActivity>>;
  /**
   * Codec and converters of payloads. Every client must use the same ones. If `payloadConverterPath` or
   * `failureConverterPath` names a module of your own, the workflows are bundled with it now, unless `workflowBundle`
   * is given.
   */
  readonly dataConverter?: DataConverter;
}

/** A worker that serves all task queues of sandflow. */
export interface SandflowWorker {
  /** Resolves when the worker has drained after `shutdown`; rejects when it fails. */
  run(): Promise<void>;
  /** Accepts no new work and lets running activities finish. Safe to repeat. */
  shutdown(): void;
  /**
   * Says why the worker takes no tasks now; undefined if all its pollers poll and Temporal answers. For the readiness
   * probe of an orchestrator: it asks Temporal at most once a second, and waits a second for the answer.
   */
  problem(): Promise<string | undefined>;
}

/**
 * Creates a worker with four task queues. Workflows and most activities use the main queue. Follows have a queue with
 * slots of their own, since a follow lasts for hours and must not starve stops. Forks of batches have a queue with a
 * rate limit. Notifications have their own queue, so that a hanging receiver delays nothing else.
 *
 * @throws SandflowError `bad_argument` if an option is missing, a number is out of range, the namespace does not exist,
 * an activity of yours has the name of one of sandflow's, `workflowsPath` lacks sandflow's workflows, `workflowBundle`
 * lacks sandflow's interceptor, or the connection or the workflows use another copy of Temporal's SDK;
 * `result_store_unwritable`; `bad_configuration` without /proc. The connection can then be closed
 * @example
 * const { connection, namespace } = await connectWorker(config.temporal.connect);
 * const worker = await createSandflowWorker({ connection, namespace, client: api, results, taskQueue });
 * await worker.run();
 */
export async function createSandflowWorker(options: SandflowWorkerOptions): Promise<SandflowWorker> {
  const object = 'an object';
  requireOptions(options, { connection: object, client: object, results: object, taskQueue: 'a text' });
  requireWorkerConnection(options.connection);
  requireProc();
  const { connection, namespace = 'default', taskQueue, shutdownGraceTime = '10 seconds' } = options;
  const { dataConverter, workerDeploymentOptions } = options;
  const { maxFollows = 5_000, maxActivities = defaultMaxActivities, maxCachedWorkflows = 800 } = options;
  const { forksPerSecond = defaultForksPerSecond } = options;
  requireCounts({ maxFollows, maxActivities });
  requireCounts({ maxCachedWorkflows }, 0);
  requirePositive({ forksPerSecond });
  await options.results.checkWritable?.();
  const queues: WorkerOptions[] = [
    {
      taskQueue: followTaskQueue(taskQueue),
      activities: createFollowActivities(options),
      maxConcurrentActivityTaskExecutions: maxFollows,
      // A follow rarely ends within a grace period, so it continues on another worker.
      shutdownGraceTime: 0,
    },
    {
      taskQueue: forkTaskQueue(taskQueue),
      activities: createForkActivities(options),
      maxTaskQueueActivitiesPerSecond: forksPerSecond,
      // The rate limit allows only few calls at once, and idle pollers are not free.
      activityTaskPollerBehavior: { type: 'simple-maximum', maximum: 2 },
      shutdownGraceTime,
    },
    {
      taskQueue: notifyTaskQueue(taskQueue),
      activities: createNotifyActivities(options),
      // Each delivery may be a process, and each may hang.
      maxConcurrentActivityTaskExecutions: 50,
      activityTaskPollerBehavior: { type: 'simple-maximum', maximum: 2 },
      shutdownGraceTime,
    },
    // The last one: the SDK starts the threads of workflows before it asks for the namespace, and never ends them if it
    // is refused.
    {
      ...(await workflowSource(options)),
      taskQueue,
      activities: allActivities(options),
      maxConcurrentActivityTaskExecutions: maxActivities,
      maxCachedWorkflows,
      shutdownGraceTime,
    },
  ];
  const workers = await createAll(
    queues.map((queue) => ({
      connection,
      namespace,
      dataConverter,
      workerDeploymentOptions,
      ...queue,
      interceptors: { ...queue.interceptors, activity: [() => ({ inbound: activityFailures }), countCalls] },
    })),
  );
  const readiness = createReadiness(workers, { connection, namespace });
  return {
    async run() {
      const failures: unknown[] = [];
      const runs = workers.map((worker) =>
        worker.run().catch((error: unknown) => {
          failures.push(error);
          stopAll(workers);
        }),
      );
      // The connection cannot be closed while one of them still drains, and the first failure is the cause of the others.
      await Promise.all(runs);
      await readiness.settled();
      if (failures.length > 0) throw failures[0];
    },
    shutdown: () => stopAll(workers),
    problem: () => readiness.problem(),
  };
}

/** If a worker cannot be created, releases the connection, so that the caller can close it. */
async function createAll(queues: readonly WorkerOptions[]): Promise<Worker[]> {
  const workers: Worker[] = [];
  try {
    for (const queue of queues) workers.push(await Worker.create(queue));
    return workers;
  } catch (error) {
    // A worker holds the connection until it has run.
    await Promise.allSettled(workers.map((worker) => worker.runUntil(Promise.resolve())));
    throw missingNamespace(error, queues[0]?.namespace) ?? error;
  }
}

/** What the native part says of it holds bytes of the protocol, and has no code. */
function missingNamespace(cause: unknown, namespace = 'default'): SandflowError | undefined {
  if (!(cause instanceof TransportError) || !/^Namespace .*code: NotFound/s.test(cause.message)) return undefined;
  return new SandflowError('bad_argument', `namespace: Temporal has no namespace "${namespace}".`, { cause });
}

function stopAll(workers: readonly Worker[]): void {
  for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
}

function allActivities(options: SandflowWorkerOptions) {
  const own = options.activities ?? {};
  const sandflows = createActivities(options);
  const taken = Object.keys(own).filter((name) => name in sandflows);
  if (taken.length === 0) return { ...sandflows, ...own };
  const message = `sandflow has activities named ${taken.join(', ')}: rename yours.`;
  throw new SandflowError('bad_argument', message);
}

/** Says why the workers of a process take no tasks now. */
function createReadiness(
  workers: readonly Pick<Worker, 'getStatus'>[],
  { connection, namespace }: { readonly connection: NativeConnection; readonly namespace: string },
): Probe {
  return createProbe(clientOfWorker({ connection, namespace }), async (answers) => {
    const problem = problemOf(workers);
    if (problem !== undefined) return problem;
    // Unlike a question about the server, this one also fails if the namespace or the access to it is gone.
    const isReached = await answers(({ workflowService }) => workflowService.describeNamespace({ namespace }));
    return isReached ? undefined : 'Temporal cannot be reached, or refuses the namespace';
  });
}

function problemOf(workers: readonly Pick<Worker, 'getStatus'>[]): string | undefined {
  const statuses = workers.map((worker) => worker.getStatus());
  if (statuses.some(({ runState }) => runState === 'INITIALIZED')) return 'the worker starts';
  if (statuses.some(({ runState }) => runState !== 'RUNNING')) return 'the worker stops';
  const failed = statuses.some((status) => [status.workflowPollerState, status.activityPollerState].includes('FAILED'));
  return failed ? 'a poller has failed' : undefined;
}
