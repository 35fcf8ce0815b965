/** Counts the workflows that have not ended, when somebody reads the metrics of the bridge. */
import type { Client } from '@temporalio/client';
import { untilAborted } from '../os/aborted.js';
import { workflowTypes } from '../protocol/messages.js';
import type { BridgeLog } from './bridge-options.js';

const kinds = {
  job: workflowTypes.createThenPrompt,
  item: workflowTypes.fanoutItem,
  batch: workflowTypes.forkFanout,
  stop: workflowTypes.stopAndAwaitArchive,
  cleanup: workflowTypes.retentionCleanup,
  notification: workflowTypes.deliverNotification,
} as const;

/** Temporal counts at most this often, in ms, however many read the metrics. */
const askedEveryMs = 15_000;
const timeoutMs = 3_000;

export function createOpenWork(client: Client, { log }: { readonly log: BridgeLog }) {
  let last: { readonly atMs: number; readonly counts: ReturnType<typeof ask> } | undefined;
  let asking: Promise<unknown> | undefined;
  let hasFailed = false;

  async function ask(): Promise<Readonly<Record<string, number>> | undefined> {
    const countAll = () =>
      Promise.allSettled(
        Object.entries(kinds).map(async ([kind, type]) => {
          const query = `ExecutionStatus = 'Running' AND WorkflowType = '${type}'`;
          return [kind, (await client.workflow.count(query)).count] as const;
        }),
      );
    const counting = client.withDeadline(Date.now() + timeoutMs, countAll);
    asking = counting;
    try {
      // A native connection repeats a refused call beyond the deadline.
      const ends = await untilAborted(AbortSignal.timeout(timeoutMs), () => counting);
      const failed = ends.find((end) => end.status === 'rejected');
      if (failed) throw failed.reason;
      hasFailed = false;
      return Object.fromEntries(ends.flatMap((end) => (end.status === 'fulfilled' ? [end.value] : [])));
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      if (!hasFailed) log('The open work cannot be counted; the metrics lack it.', { reason });
      hasFailed = true;
      return undefined;
    }
  }

  return {
    /** The number of open workflows by kind; undefined if Temporal does not answer. Never throws. */
    count() {
      const nowMs = performance.now();
      if (last === undefined || nowMs - last.atMs >= askedEveryMs) last = { atMs: nowMs, counts: ask() };
      return last.counts;
    },
    /** Resolves when no question to Temporal is in progress: a closed connection must not be asked again. */
    async settled() {
      await asking;
    },
  };
}
