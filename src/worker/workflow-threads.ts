/**
 * A worker whose workflow thread has one time limit. The SDK limits each call into a thread by the `timeout` of
 * Node's `vm`, for which Node starts and ends a thread of its own: 0.1 ms for each of some hundred calls of a job, a
 * fifth of what it costs the worker (nodejs/node#47739).
 */
import { type CompiledWorkerOptions, type Logger, Worker } from '@temporalio/worker';
import type { Workflow, WorkflowCreator } from '@temporalio/worker/lib/workflow/interface.js';
import type { WorkflowBundleWithSourceMapAndFilename } from '@temporalio/worker/lib/workflow/workflow-worker-thread/input.js';

/** Like Temporal's, and it fails the task of a workflow that does not return within `isolateExecutionTimeout`, as that does. */
export class WatchedWorker extends Worker {
  protected static override createWorkflowCreator(
    bundle: WorkflowBundleWithSourceMapAndFilename,
    options: CompiledWorkerOptions,
    logger: Logger,
  ): Promise<WorkflowCreator> {
    // With the debugger, workflows have no thread, and stand still. Of several threads, one answers while another hangs.
    if (options.debugMode || options.workflowThreadPoolSize > 1)
      return Worker.createWorkflowCreator(bundle, options, logger);
    const { isolateExecutionTimeoutMs: limitMs } = options;
    // `vm` takes a missing time limit for none.
    const unlimited = { ...options, isolateExecutionTimeoutMs: undefined as unknown as number };
    return watchThreads(() => Worker.createWorkflowCreator(bundle, unlimited, logger), { limitMs, logger });
  }
}

/** What Temporal's creator holds. */
interface Threads extends WorkflowCreator {
  readonly workerThreadClients?: readonly { readonly workerThread: { terminate(): Promise<unknown> } }[];
}

/** A request that the threads have not answered. They answer in its order. */
interface OpenRequest {
  readonly runId: string;
  readonly fail: (error: Error) => void;
}

/** A thread is silent only if it is at this many looks: a process that stood still has not read the answers. */
const looks = 10;

class HangingWorkflowError extends Error {}

/**
 * If the threads answer nothing for `limitMs` although requests wait, ends them and starts others. All their workflows
 * fail the next task, and are then replayed.
 */
async function watchThreads(
  start: () => Promise<WorkflowCreator>,
  { limitMs, logger }: { readonly limitMs: number; readonly logger: Logger },
): Promise<WorkflowCreator> {
  const open = new Set<OpenRequest>();
  let silentLooks = 0;
  let isEnding = false;
  let threads = start();
  await threads;

  const replace = ({ runId }: OpenRequest) => {
    logger.error('A workflow did not return in time. Its thread was ended, and its workflows begin again.', { runId });
    threads.then(endAll, () => undefined);
    if (!isEnding) threads = start();
    // The next request finds a failure to start.
    threads.catch(() => undefined);
    const requests = [...open];
    open.clear();
    for (const { fail } of requests)
      fail(new HangingWorkflowError(`The workflow ${runId} did not return within ${limitMs} ms`));
  };
  const look = () => {
    const [oldest] = open;
    silentLooks = oldest ? silentLooks + 1 : 0;
    if (!oldest || silentLooks < looks) return;
    silentLooks = 0;
    replace(oldest);
  };
  const timer = setInterval(look, limitMs / looks).unref();

  const answered = <T>(runId: string, ask: () => Promise<T>) =>
    new Promise<T>((resolve, fail) => {
      const request = { runId, fail };
      open.add(request);
      const settle = () => {
        open.delete(request);
        silentLooks = 0;
      };
      ask().then(resolve, fail).finally(settle);
    });

  const watched = (runId: string, workflow: Workflow, own: Promise<WorkflowCreator>): Workflow => ({
    async activate(activation) {
      if (own !== threads) throw new Error('The thread of the workflow was ended');
      return answered(runId, () => workflow.activate(activation));
    },
    getAndResetSinkCalls: async () => (own === threads ? answered(runId, () => workflow.getAndResetSinkCalls()) : []),
    dispose: async () => (own === threads ? answered(runId, () => workflow.dispose()) : undefined),
  });

  return {
    async createWorkflow(options) {
      const own = threads;
      const { runId } = options.info;
      const creator = await own;
      return watched(runId, await answered(runId, () => creator.createWorkflow(options)), own);
    },
    async destroy() {
      isEnding = true;
      const last = await threads;
      try {
        await answered('', () => last.destroy());
      } catch (error) {
        if (!(error instanceof HangingWorkflowError)) throw error;
      } finally {
        clearInterval(timer);
      }
    },
  };
}

function endAll({ workerThreadClients = [] }: Threads): void {
  for (const { workerThread } of workerThreadClients) void workerThread.terminate();
}
