import { type NativeConnection, TransportError, type Worker, type WorkerOptions } from '@temporalio/worker';
import type { ActivityDependencies } from '../../activities/index.js';
import { SandflowError } from '../errors/sandflow-error.js';
import { requireOptions } from '../settings/required-options.js';
import { clientOfWorker } from '../temporal/connect-worker.js';
import { createProbe, type Probe } from '../temporal/probe.js';
import { checkParts, mainQueue, otherQueues, queuesPlugin, type SandflowParts } from './queues.js';
import { WatchedWorker } from './workflow-threads.js';

/** An activity of your own. Its arguments and its result must be JSON. */
// biome-ignore lint/suspicious/noExplicitAny: only `any` accepts the parameters of every function
export type OwnActivity = (...args: any[]) => Promise<unknown>;

const defaultMaxCachedWorkflows = 800;

type OfTemporal = Omit<WorkerOptions, keyof ActivityDependencies | 'connection' | 'activities'>;

/**
 * Options of `createSandflowWorker`: what its activities need, and all options of Temporal's `Worker`. `interceptors`,
 * `plugins`, `identity` and `workerDeploymentOptions` count for all task queues, so that a deployment has one version.
 * Slots, caches, `tuner`, `sinks` and what else concerns workflows count for the main one. `maxCachedWorkflows` is 800 by
 * default, and `shutdownGraceTime` 10 seconds.
 */
export interface SandflowWorkerOptions extends SandflowParts, ActivityDependencies, OfTemporal {
  /** The connection to Temporal; the caller closes it. See `connectWorker`. */
  readonly connection: NativeConnection;
  /**
   * The workflow bundle, created with `unencryptedBundle` or `encryptedBundle`. Default: the bundle of the build, or else
   * one that is created now.
   */
  readonly workflowBundle?: WorkerOptions['workflowBundle'];
  /**
   * A module with your own workflows, as an absolute path. It must also hold those of sandflow:
   * `export * from 'sandflow/workflows'`. It is bundled now, with your `bundlerOptions`. Default: none.
   */
  readonly workflowsPath?: string;
  /** Your own activities, for the main task queue. Default: none. */
  readonly activities?: Readonly<Record<string, OwnActivity>>;
  /**
   * Codec and converters of payloads. Every client must use the same ones. If `payloadConverterPath` or
   * `failureConverterPath` names a module of your own, the workflows are bundled with it now, unless `workflowBundle`
   * is given.
   */
  readonly dataConverter?: WorkerOptions['dataConverter'];
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
export async function createSandflowWorker(given: SandflowWorkerOptions): Promise<SandflowWorker> {
  // A connection may bring a plugin of sandflow.
  const options = { ...given, plugins: [{ name: queuesPlugin }, ...(given.plugins ?? [])] };
  requireOptions(options, { connection: 'an object' });
  await checkParts(options, given);
  const main = await mainQueue(
    { ...options, maxCachedWorkflows: options.maxCachedWorkflows ?? defaultMaxCachedWorkflows },
    options,
  );
  // The main one last: the SDK starts the threads of workflows before it asks for the namespace, and never ends them if
  // it is refused.
  const workers = await createAll([...otherQueues(options, options), main]);
  const { connection, namespace = 'default' } = options;
  const readiness = createReadiness(workers, { connection, namespace });
  return {
    async run() {
      await runAll(
        workers,
        workers.map((worker) => worker.run()),
      ).finally(readiness.settled);
    },
    shutdown: () => stopAll(workers),
    problem: () => readiness.problem(),
  };
}

/** If a worker cannot be created, releases the connection, so that the caller can close it. */
export async function createAll(queues: readonly WorkerOptions[]): Promise<Worker[]> {
  const workers: Worker[] = [];
  try {
    for (const queue of queues) workers.push(await WatchedWorker.create(queue));
    return workers;
  } catch (error) {
    // A worker holds the connection until it has run.
    await Promise.allSettled(workers.map((worker) => worker.runUntil(Promise.resolve())));
    throw missingNamespace(error, queues[0]?.namespace) ?? error;
  }
}

/**
 * Waits until all workers have ended. When one ends, it shuts the others down.
 * @throws the first failure, which is the cause of the others
 */
export async function runAll(workers: readonly Worker[], runs: readonly Promise<void>[]): Promise<void> {
  const failures: unknown[] = [];
  const ends = runs.map((run) =>
    run.catch((error: unknown) => void failures.push(error)).finally(() => stopAll(workers)),
  );
  // The connection cannot be closed while one of them still drains.
  await Promise.all(ends);
  if (failures.length > 0) throw failures[0];
}

/** What the native part says of it holds bytes of the protocol, and has no code. */
function missingNamespace(cause: unknown, namespace = 'default'): SandflowError | undefined {
  if (!(cause instanceof TransportError) || !/^Namespace .*code: NotFound/s.test(cause.message)) return undefined;
  return new SandflowError('bad_argument', `namespace: Temporal has no namespace "${namespace}".`, { cause });
}

export function stopAll(workers: readonly Worker[]): void {
  for (const worker of workers) {
    const state = worker.getState();
    if (state === 'RUNNING') worker.shutdown();
    // A plugin of the user may hold back its start.
    if (state === 'INITIALIZED') setTimeout(() => stopAll([worker]), 50).unref();
  }
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
