/** Reads the status of other workflows from Temporal, and waits for their ends. */
import { setMaxListeners } from 'node:events';
import { setTimeout as timer } from 'node:timers/promises';
import { Context, sleep } from '@temporalio/activity';
import { WorkflowFailedError, WorkflowNotFoundError } from '@temporalio/client';
import { anySignal } from '../../src/os/any-signal.js';
import type { ItemSummary } from '../../src/protocol/fanout/fanout-result.js';
import type { JobError, JobOutcome, JobResult, LeftBehind } from '../../src/protocol/job/job-result.js';
import { describeIfThere } from '../../src/temporal/readable-memos.js';
import { withHeartbeat, type YoungFollowOptions, youngForMs } from '../retry/attempt.js';

/** Temporal's name of the status; `NOT_FOUND` for an unknown workflow. */
export type WorkflowStatus = string;

/** The result of a job that a workflow started, although not as a child workflow. */
export interface AwaitedJob {
  /** Null if the job's workflow returned no outcome: it was terminated or does not exist. */
  readonly outcome: JobOutcome | null;
  readonly sandboxId: string | null;
  readonly error: JobError | null;
  readonly apiCalls: number;
  /** Empty if there is no outcome: what the job left is then unknown. */
  readonly left: readonly LeftBehind[];
}

const lookEveryMs = [500, 5_000] as const;

async function statusOf(workflowId: string): Promise<WorkflowStatus> {
  return (await describeIfThere(Context.current().client, workflowId))?.status.name ?? 'NOT_FOUND';
}

/** Describes each workflow once. Safe to repeat. */
export async function describeWorkflows(workflowIds: readonly string[]): Promise<readonly WorkflowStatus[]> {
  return withHeartbeat(async () => {
    const statuses: WorkflowStatus[] = [];
    for (const workflowId of workflowIds) statuses.push(await statusOf(workflowId));
    return statuses;
  });
}

/** An item whose workflow has ended. */
export interface EndedItem {
  readonly workflowId: string;
  /** Null if the workflow returned no outcome: it was terminated or does not exist. */
  readonly summary: ItemSummary | null;
}

/** Once an item has ended, waits this long for others, in ms: items of one chunk often end together. */
const gatherMs = 500;

/** The longest delay of a timer, in ms: 24 days. */
const longestMs = 2 ** 31 - 1;

/**
 * Activities that wait for other workflows. They may end before that: after some minutes if `isYoung`, so that the caller
 * goes on with `longFollow`. Safe to repeat.
 */
export function createWorkflowWaits(options: YoungFollowOptions = {}) {
  const lastsMs = (isYoung: boolean) => (isYoung ? youngForMs(options) : longestMs);
  return {
    /** Waits for the result of a job, which may already have ended. @returns null if it still runs */
    async awaitJob(workflowId: string, isYoung = false): Promise<AwaitedJob | null> {
      const untilMs = Date.now() + lastsMs(isYoung);
      return withHeartbeat(async () => {
        let [delayMs, atMostMs] = lookEveryMs as [number, number];
        while ((await statusOf(workflowId)) === 'RUNNING') {
          if (Date.now() >= untilMs) return null;
          await sleep(delayMs);
          delayMs = Math.min(atMostMs, delayMs * 1.5);
        }
        try {
          const result = (await Context.current().client.workflow.getHandle(workflowId).result()) as JobResult;
          const { outcome, sandboxId, error, apiCalls, left } = result;
          return { outcome, sandboxId, error, apiCalls, left };
        } catch (error) {
          if (!(error instanceof WorkflowFailedError) && !(error instanceof WorkflowNotFoundError)) throw error;
          return { outcome: null, sandboxId: null, error: null, apiCalls: 0, left: [] };
        }
      });
    },

    /** Waits until at least one of these items has ended. @returns the ended items */
    async awaitItems(workflowIds: readonly string[], isYoung = false): Promise<readonly EndedItem[]> {
      const { client, cancellationSignal } = Context.current();
      const over = new AbortController();
      const signal = anySignal([cancellationSignal, over.signal]);
      // Temporal's client adds a listener for every request.
      setMaxListeners(0, signal);
      const ended: EndedItem[] = [];
      const wait = async (workflowId: string) => {
        const summary = await client.withAbortSignal(signal, () => summaryOf(workflowId));
        ended.push({ workflowId, summary });
      };
      return withHeartbeat(async () => {
        const waits = [...workflowIds.map(wait), timer(lastsMs(isYoung), undefined, { signal })];
        for (const waiting of waits) waiting.catch(() => undefined);
        try {
          await Promise.race(waits);
          await sleep(gatherMs);
        } finally {
          over.abort();
        }
        return ended;
      });
    },
  };
}

async function summaryOf(workflowId: string): Promise<ItemSummary | null> {
  try {
    return (await Context.current().client.workflow.getHandle(workflowId).result()) as ItemSummary;
  } catch (error) {
    if (error instanceof WorkflowFailedError || error instanceof WorkflowNotFoundError) return null;
    throw error;
  }
}
