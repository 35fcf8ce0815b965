/**
 * Warns if nobody polls the other task queues of sandflow. If you create a worker yourself with `createActivities`, it
 * does not serve these queues. A job that follows its prompt would then wait for ever.
 */
import { Context } from '@temporalio/activity';
import { queuesWithoutWorker } from '../src/temporal/task-queue-pollers.js';

/** The workers of a process start one after the other, so the check waits, in ms. */
const settledAfterMs = 10_000;

/** @returns a function that starts the check at its first call, from within an activity, and never fails */
export function createQueueCheck(taskQueue: string, { afterMs = settledAfterMs } = {}): () => void {
  let isDone = false;
  return () => {
    if (isDone) return;
    isDone = true;
    const { client, log } = Context.current();
    const check = async () => {
      const missing = await queuesWithoutWorker(client, taskQueue);
      if (missing.length === 0) return;
      log.warn(
        `No worker polls ${missing.join(', ')}: jobs wait there for ever. Use createSandflowWorker, which serves all task ` +
          'queues and takes your own workflows and activities, or run a worker for each (docs/library.md, "Run a worker").',
      );
    };
    setTimeout(() => void check().catch(() => undefined), afterMs).unref();
  };
}

/** The activity, which starts the check when it runs. */
export function checking<Args extends unknown[], Result>(
  check: () => void,
  activity: (...args: Args) => Promise<Result>,
): (...args: Args) => Promise<Result> {
  return (...args) => {
    check();
    return activity(...args);
  };
}
