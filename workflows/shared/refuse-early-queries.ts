/**
 * Refuses queries that would damage a workflow. If a worker does not have a workflow in its cache, it receives the
 * whole history with a query. The last events may not belong to a workflow task yet, for example a timer that has just
 * fired. SDK 1.24 nevertheless runs the workflow on them, at the time of the last task, and sends the resulting commands
 * with the next task. A replay runs on these events at the time of the next task, and together with any later ones.
 * Its commands may differ, and every later task then fails (decision 0037).
 *
 * This interceptor fails the query instead. The worker then drops the workflow from its cache, and the next task starts
 * from the history. Every workflow bundle must include this module. It creates neither promises nor commands, so
 * histories replay with and without it.
 */
import {
  ApplicationFailure,
  defaultPayloadConverter,
  type WorkflowInterceptors,
  type WorkflowInternalsInterceptor,
  workflowInfo,
} from '@temporalio/workflow';
import { earlyQueryText, type QueryOptions } from '../../src/protocol/early-query.js';

type Activation = Parameters<NonNullable<WorkflowInternalsInterceptor['activate']>>[0]['activation'];
type Query = NonNullable<NonNullable<NonNullable<Activation['jobs']>[number]>['queryWorkflow']>;

/** How far the workflow has run. */
interface Position {
  readonly events: number;
  /** What the start of every workflow task changes: the time, and the size of the history. */
  readonly task: string;
}

/** Temporal's id of a query that is a task of its own. Other queries come with a workflow task. */
const ownTaskQueryId = 'legacy_query';

export const interceptors = (): WorkflowInterceptors => {
  let position: Position = { events: 0, task: '' };
  let isEarly = false;
  let isSuspect = false;
  let tasksSinceReplay = 0;
  return {
    internals: [
      {
        activate(input, next) {
          const { activation, batchIndex } = input;
          const query = activation.jobs?.find(({ queryWorkflow }) => queryWorkflow)?.queryWorkflow;
          const isOwnTask = query?.queryId === ownTaskQueryId;
          // The first task after a replay may have come with this query. Then another worker has started it, and may not
          // complete it, or the SDK has skipped a task without jobs before it.
          const mayBeOfOther = isOwnTask && isSuspect && tasksSinceReplay === 1;
          if ((isEarly || mayBeOfOther) && !(query && isOfClosedRun(query))) throw refusal();
          // What follows an answered query comes with tasks of its own, so that not every task costs a refusal.
          if (isOwnTask) isSuspect = false;
          if (!query && batchIndex === 0) {
            const reached = positionOf(activation);
            const isReplaying = activation.isReplaying ?? false;
            const isSameTask = reached.task === position.task;
            // A replayed task has started, whatever the clock of the server did.
            isEarly = !isReplaying && isSameTask && reached.events > position.events;
            if (isReplaying) isSuspect = true;
            else if (!isSameTask) tasksSinceReplay += 1;
            position = reached;
          }
          next(input);
        },
      },
    ],
  };
};

function positionOf({ historyLength, timestamp, historySizeBytes }: Activation): Position {
  const task = `${timestamp?.seconds}.${timestamp?.nanos} ${historySizeBytes}`;
  return { events: historyLength ?? 0, task };
}

/** A closed run has no next task that could send commands. */
function isOfClosedRun({ arguments: args }: Query): boolean {
  const [options] = args ?? [];
  try {
    return defaultPayloadConverter.fromPayload<QueryOptions>(options ?? {})?.ofClosedRun === workflowInfo().runId;
  } catch {
    // No argument, or one of a payload converter of the user's own.
    return false;
  }
}

function refusal(): ApplicationFailure {
  const failure = ApplicationFailure.retryable(earlyQueryText, 'early_query');
  // The SDK logs the stack of each refused query, and it says nothing about the query.
  failure.stack = earlyQueryText;
  return failure;
}
