/** Tells somebody that something happened, beside what the workflow does: nothing waits for whoever is told. */
import {
  CancellationScope,
  ChildWorkflowCancellationType,
  log,
  ParentClosePolicy,
  patched,
  startChild,
  uuid4,
  workflowInfo,
} from '@temporalio/workflow';
import type { Notification } from '../../activities/notification/notify.js';
import { notificationPrefix } from '../../src/contract/addresses.js';
import type { NotifyTarget } from '../job/types.js';
import { workflowTypes } from '../messages.js';
import { notifications } from '../shared/proxies.js';
import type { deliverNotification } from './deliver-notification.js';
import { mostUnderWay } from './most-under-way.js';

interface Teller {
  readonly input: { readonly jobId: string | null; readonly notify?: NotifyTarget };
  readonly sandbox: { readonly id: string } | null;
}

/** Deliveries of this workflow that are under way. Each workflow has a module of its own. */
let underWay = 0;

/**
 * Notifies whom the caller names. The delivery is a workflow of its own, which outlives this one; what is waited for is
 * only that Temporal has started it, since a workflow that has ended starts no more.
 */
export async function sendNotification(
  run: Teller,
  event: Notification['event'],
  outcome: string | null,
  message: string | null,
): Promise<void> {
  const { notify, jobId } = run.input;
  if (!notify) return;
  const { workflowId } = workflowInfo();
  const at = new Date().toISOString();
  const sandboxId = run.sandbox?.id ?? null;
  const told = { event, jobId, workflowId, sandboxId, outcome, message, at };
  try {
    if (patched('notifications-apart')) await CancellationScope.nonCancellable(() => deliverApart(notify, told));
    else await notifications.notify(notify, told);
  } catch {
    // It had its minutes, or the job ends: the result tells the rest.
  }
}

async function deliverApart(target: NotifyTarget, told: Omit<Notification, 'id'>): Promise<void> {
  if (underWay >= (told.event === 'ended' ? mostUnderWay.ended : mostUnderWay.others)) {
    log.warn('a notification is left out: too many could not be delivered yet', { event: told.event });
    return;
  }
  underWay += 1;
  const over = () => {
    underWay -= 1;
  };
  const id = uuid4();
  try {
    const { result } = await startChild<typeof deliverNotification>(workflowTypes.deliverNotification, {
      workflowId: `${notificationPrefix(told.workflowId)}/${id}`,
      args: [{ target, notification: { id: `msg_${id}`, ...told } }],
      parentClosePolicy: ParentClosePolicy.ABANDON,
      cancellationType: ChildWorkflowCancellationType.ABANDON,
      // Where no worker takes it, it is given up as well.
      workflowExecutionTimeout: '2 days',
      staticSummary: told.event,
    });
    result().then(over, over);
  } catch (error) {
    over();
    throw error;
  }
}
