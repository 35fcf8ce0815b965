/**
 * A worker whose workflow thread has one time limit. The SDK limits each call into a thread by the `timeout` of
 * Node's `vm`, for which Node starts and ends a thread of its own: 0.1 ms for each of some hundred calls of a job, a
 * fifth of what it costs the worker (nodejs/node#47739).
 */
import { type CompiledWorkerOptions, type Logger, UnexpectedError, Worker } from '@temporalio/worker';
import type { Workflow, WorkflowCreator } from '@temporalio/worker/lib/workflow/interface.js';
import type { WorkflowBundleWithSourceMapAndFilename } from '@temporalio/worker/lib/workflow/workflow-worker-thread/input.js';

/** Like Temporal's. Once a workflow has not returned within `isolateExecutionTimeout`, it is Temporal's. */
export class WatchedWorker extends Worker {
  protected static override async createWorkflowCreator(
    bundle: WorkflowBundleWithSourceMapAndFilename,
    options: CompiledWorkerOptions,
    logger: Logger,
  ): Promise<WorkflowCreator> {
    const limited = () => Worker.createWorkflowCreator(bundle, options, logger);
    // With the debugger, workflows have no thread, and stand still. Of several threads, one answers while another hangs.
    if (options.debugMode || options.workflowThreadPoolSize > 1) return limited();
    // `vm` takes a missing time limit for none.
    const unlimited = { ...options, isolateExecutionTimeoutMs: undefined as unknown as number };
    const thread: Thread = await Worker.createWorkflowCreator(bundle, unlimited, logger);
    if (thread.workerThreadClients?.[0]?.workerThread === undefined) {
      await thread.destroy();
      return limited();
    }
    return watchThread(thread, limited, { limitMs: options.isolateExecutionTimeoutMs, logger });
  }
}

/** What Temporal's creator holds. */
interface Thread extends WorkflowCreator {
  readonly workerThreadClients?: readonly { readonly workerThread?: { terminate(): Promise<unknown> } }[];
}

/** A request that the thread has not answered. */
interface OpenRequest {
  readonly runId: string;
  readonly fail: (error: Error) => void;
}

/** A thread is silent only if it is at this many looks: a process that stood still has not read the answers. */
const looks = 10;

class SilentThreadError extends Error {}

/**
 * If the thread answers nothing for `limitMs` although requests wait, ends it. All its workflows fail the next task, and
 * are replayed in threads with the SDK's own limit. That one costs more, but names the workflow, and spares the others.
 */
function watchThread(
  thread: Thread,
  startLimited: () => Promise<WorkflowCreator>,
  { limitMs, logger }: { readonly limitMs: number; readonly logger: Logger },
): WorkflowCreator {
  const open = new Set<OpenRequest>();
  let silentLooks = 0;
  let isEnding = false;
  let next: Promise<WorkflowCreator> | undefined;

  const timer = setInterval(() => {
    silentLooks = open.size > 0 ? silentLooks + 1 : 0;
    if (silentLooks < looks) return;
    clearInterval(timer);
    const runIds = [...open].map(({ runId }) => runId);
    logger.error('A workflow does not return. Its thread is ended, and those of its workflows begin again.', {
      runIds,
    });
    if (!isEnding) next = startLimited();
    next?.catch(() => undefined);
    for (const { workerThread } of thread.workerThreadClients ?? []) void workerThread?.terminate();
    const message = `This workflow, or one beside it, did not return within ${limitMs} ms`;
    for (const { fail } of open) fail(new SilentThreadError(message));
  }, limitMs / looks).unref();

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

  const watched = (runId: string, workflow: Workflow): Workflow => ({
    async activate(activation) {
      if (next) throw new SilentThreadError('The thread of the workflow was ended');
      return answered(runId, () => workflow.activate(activation));
    },
    getAndResetSinkCalls: async () => (next ? [] : answered(runId, () => workflow.getAndResetSinkCalls())),
    async dispose() {
      if (!next) await answered(runId, () => workflow.dispose()).catch(() => undefined);
    },
  });

  return {
    async createWorkflow(options) {
      const { runId } = options.info;
      if (!next) return watched(runId, await answered(runId, () => thread.createWorkflow(options)));
      const creator = await next.catch((cause) => {
        // Only this error ends the worker, which could run no workflow any more.
        throw new UnexpectedError('The threads of workflows cannot be started again', cause);
      });
      return creator.createWorkflow(options);
    },
    async destroy() {
      isEnding = true;
      try {
        await (next ? (await next).destroy() : answered('', () => thread.destroy()));
      } catch (error) {
        if (!(error instanceof SilentThreadError)) throw error;
      } finally {
        clearInterval(timer);
      }
    },
  };
}
