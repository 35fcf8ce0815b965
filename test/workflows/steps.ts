/** What happened in a workflow, in the order of its history. */
import type { WorkflowHandle } from '@temporalio/client';
import { defaultPayloadConverter, type Payload } from '@temporalio/common';

interface NamedEvent {
  readonly userMetadata?: { readonly summary?: unknown } | null;
}

/** The summary of a timer; empty if it has none. */
function summaryOf({ userMetadata }: NamedEvent): string {
  const summary = userMetadata?.summary;
  return summary ? defaultPayloadConverter.fromPayload<string>(summary as Payload) : '';
}

/**
 * Activities by their types, timers by their summaries: `createSandbox scheduled`, `createSandbox completed`,
 * `createSandbox timed out`, `deadline started`, `deadline fired`.
 */
export async function stepsOf(handle: Pick<WorkflowHandle, 'fetchHistory'>): Promise<string[]> {
  const { events } = await handle.fetchHistory();
  const names = new Map<string, string>();
  const nameOf = (id: unknown) => names.get(String(id)) ?? '';
  return (events ?? []).flatMap((event) => {
    const scheduled = event.activityTaskScheduledEventAttributes;
    if (scheduled) names.set(String(event.eventId), scheduled.activityType?.name ?? '');
    if (event.timerStartedEventAttributes) names.set(String(event.eventId), summaryOf(event));
    const own = nameOf(event.eventId);
    if (scheduled) return [`${own} scheduled`];
    if (event.timerStartedEventAttributes) return [`${own} started`];
    const completed = event.activityTaskCompletedEventAttributes;
    if (completed) return [`${nameOf(completed.scheduledEventId)} completed`];
    const failed = event.activityTaskFailedEventAttributes;
    if (failed) return [`${nameOf(failed.scheduledEventId)} failed`];
    const timedOut = event.activityTaskTimedOutEventAttributes;
    if (timedOut) return [`${nameOf(timedOut.scheduledEventId)} timed out`];
    const cancelled = event.activityTaskCanceledEventAttributes;
    if (cancelled) return [`${nameOf(cancelled.scheduledEventId)} cancelled`];
    const fired = event.timerFiredEventAttributes;
    return fired ? [`${nameOf(fired.startedEventId)} fired`] : [];
  });
}
