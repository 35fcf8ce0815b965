/** Where workflows waited, by their histories: for a free worker, and for tasks that a worker took and lost. */
import type { Client } from '@temporalio/client';
import { optionalTsToMs } from '@temporalio/common/lib/time.js';
import { pauseAfter } from '../../../activities/retry/attempt.js';

type History = NonNullable<Awaited<ReturnType<ReturnType<Client['workflow']['getHandle']>['fetchHistory']>>['events']>;
type Started = NonNullable<History[number]['activityTaskStartedEventAttributes']>;

/** Something that could go on, and went on later. In ms since the epoch. */
export interface Wait {
  readonly workflowId: string;
  /** What waited, such as the name of an activity. */
  readonly name: string;
  readonly fromMs: number;
  readonly untilMs: number;
  /** How long it waits at most if each attempt before was lost, in ms. */
  readonly limitMs: number;
  /** Why a task was given out again, such as `heartbeat timeout`. */
  readonly again?: string | undefined;
}

export interface Waits {
  readonly workflows: number;
  readonly activities: number;
  readonly waits: readonly Wait[];
  /** When the last follow of a prompt of a workflow ended, in ms since the epoch, by its id. */
  readonly followEndsMs: ReadonlyMap<string, number>;
}

/** The default of Temporal. */
const workflowTaskMs = 10_000;
/** As for all activities: see `workflows/shared/activity-options.ts`. */
const retry = { initialInterval: 1_000, maximumInterval: 30_000 };
const timeouts: Readonly<Record<number, string>> = { 1: 'start-to-close timeout', 4: 'heartbeat timeout' };
const followers = ['followPrompt', 'sendAndFollowPrompt'];

/** Reads the histories of all workflows of a task queue. */
export async function waitsOf(client: Client, taskQueue: string): Promise<Waits> {
  const found = { workflows: 0, activities: 0, waits: [] as Wait[], followEndsMs: new Map<string, number>() };
  for await (const { workflowId, runId } of client.workflow.list({ query: `TaskQueue = '${taskQueue}'` })) {
    const events = (await client.workflow.getHandle(workflowId, runId).fetchHistory()).events ?? [];
    const activities = activitiesIn(workflowId, events);
    found.workflows += 1;
    found.activities += activities.length;
    found.waits.push(...activities.map(({ wait }) => wait), ...tasksIn(workflowId, events));
    for (const { wait, endedMs } of activities)
      if (followers.includes(wait.name))
        found.followEndsMs.set(workflowId, Math.max(endedMs, found.followEndsMs.get(workflowId) ?? 0));
  }
  return found;
}

/** The activities that ended. History has only their last attempts. */
function activitiesIn(workflowId: string, events: History): { readonly wait: Wait; readonly endedMs: number }[] {
  const byId = new Map(events.map((event) => [Number(event.eventId), event]));
  const atMs = (id: unknown) => optionalTsToMs(byId.get(Number(id))?.eventTime) ?? 0;
  return events.flatMap((event) => {
    const end =
      event.activityTaskCompletedEventAttributes ??
      event.activityTaskFailedEventAttributes ??
      event.activityTaskTimedOutEventAttributes ??
      event.activityTaskCanceledEventAttributes;
    const scheduled = byId.get(Number(end?.scheduledEventId))?.activityTaskScheduledEventAttributes;
    const started = byId.get(Number(end?.startedEventId))?.activityTaskStartedEventAttributes;
    // A cancelled activity that nobody has taken has no start.
    if (!end || !scheduled || !started) return [];
    const lossMs = optionalTsToMs(scheduled.heartbeatTimeout) || optionalTsToMs(scheduled.startToCloseTimeout) || 0;
    const lost = Array.from({ length: (started.attempt ?? 1) - 1 }, (_, at) => lossMs + pauseAfter(at + 1, retry));
    const limitMs = lost.reduce((sum, ms) => sum + ms, 0);
    const times = { fromMs: atMs(end.scheduledEventId), untilMs: atMs(end.startedEventId), limitMs };
    const again = reasonIn(started);
    const wait = { workflowId, name: scheduled.activityType?.name ?? '', ...times, again };
    return [{ wait, endedMs: atMs(event.eventId) }];
  });
}

function reasonIn({ lastFailure }: Started): string | undefined {
  if (!lastFailure) return undefined;
  const { timeoutFailureInfo: timeout, applicationFailureInfo: application } = lastFailure;
  return timeouts[Number(timeout?.timeoutType)] ?? application?.type ?? lastFailure.message ?? 'failed';
}

/** The tasks of the workflow itself, each until it was done, however often it was given out. */
function tasksIn(workflowId: string, events: History): Wait[] {
  let fromMs: number | undefined;
  let again: string | undefined;
  return events.flatMap((event) => {
    const untilMs = optionalTsToMs(event.eventTime) ?? 0;
    if (event.workflowTaskScheduledEventAttributes) fromMs ??= untilMs;
    const { workflowTaskTimedOutEventAttributes: timedOut } = event;
    if (timedOut) again = timeouts[Number(timedOut.timeoutType)] ?? again;
    if (!event.workflowTaskCompletedEventAttributes || fromMs === undefined) return [];
    const wait = { workflowId, name: 'workflow task', fromMs, untilMs, limitMs: workflowTaskMs, again };
    fromMs = undefined;
    again = undefined;
    return [wait];
  });
}
