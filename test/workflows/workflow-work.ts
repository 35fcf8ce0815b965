/** Counts the work of a workflow in its history. */
import type { WorkflowHandle } from '@temporalio/client';

/**
 * What a workflow did, in numbers that a busy machine does not change. A task may serve several of its causes, and a
 * task that timed out is repeated: so its causes are counted. A delivery that is repeated counts once.
 */
export async function workOf(workflow: Pick<WorkflowHandle, 'fetchHistory'>) {
  const { events = [] } = await workflow.fetchHistory();
  const all = events ?? [];
  const count = (kind: string) => all.filter((event) => event[kind as keyof typeof event]).length;
  const activities = all.flatMap((event) => event.activityTaskScheduledEventAttributes?.activityType?.name ?? []);
  const signals = all.flatMap(({ workflowExecutionSignaledEventAttributes: signal }) =>
    signal ? `${signal.signalName} ${Buffer.from(signal.input?.payloads?.[0]?.data ?? []).toString()}` : [],
  );
  return {
    activities: activities.toSorted(),
    timers: count('timerStartedEventAttributes'),
    signals: [...new Set(signals)],
    sent: count('signalExternalWorkflowExecutionInitiatedEventAttributes'),
    children: count('startChildWorkflowExecutionInitiatedEventAttributes'),
    memos: count('workflowPropertiesModifiedEventAttributes'),
    markers: count('markerRecordedEventAttributes'),
  };
}

type Work = Awaited<ReturnType<typeof workOf>>;

/** Workflow tasks if each has one cause: the start, the end of an activity, or a signal. */
export const tasksOf = ({ activities, signals }: Work) => 1 + activities.length + signals.length;
/** Events if each task has one cause. Start and end are two. */
export const eventsOf = (work: Work) =>
  2 + 3 * tasksOf(work) + 3 * work.activities.length + work.signals.length + work.timers + work.memos + work.markers;
