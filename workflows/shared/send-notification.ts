/** Sends notifications in parallel with the workflow: nothing waits for the receiver. */
import {
  CancellationScope,
  ChildWorkflowCancellationType,
  log,
  ParentClosePolicy,
  startChild,
  uuid4,
  workflowInfo,
} from '@temporalio/workflow';
import { notificationPrefix } from '../../src/addresses/addresses.js';
import type { NotifyTarget } from '../../src/protocol/job/job-input.js';
import { workflowTypes } from '../../src/protocol/messages.js';
import type { DeliverNotification, Notification } from '../../src/protocol/notification.js';
import { mostUnderWay } from './most-under-way.js';
import { ownState } from './own-state.js';

interface Sender {
  readonly input: { readonly jobId: string | null; readonly notify?: NotifyTarget };
  readonly sandbox: { readonly id: string } | null;
}

/** Deliveries of this workflow that are in progress. */
const underWay = ownState('deliveries-under-way', () => ({ count: 0 }));

/**
 * Notifies the caller's targets. Each delivery is a separate workflow, which continues after the end of this one. This
 * function waits only until Temporal has started the delivery, because a workflow that has ended cannot start another
 * one.
 */
export async function sendNotification(
  run: Sender,
  event: Notification['event'],
  outcome: string | null,
  message: string | null,
): Promise<void> {
  const { notify, jobId } = run.input;
  if (!notify) return;
  const { workflowId, workflowType } = workflowInfo();
  const at = new Date().toISOString();
  const sandboxId = run.sandbox?.id ?? null;
  const details = { event, jobId, workflowId, workflowType, sandboxId, outcome, message, at };
  try {
    await CancellationScope.nonCancellable(() => deliverApart(notify, details));
  } catch {
    // The time for the delivery is over, or the job ends. The job's result contains the same information.
  }
}

async function deliverApart(target: NotifyTarget, details: Omit<Notification, 'id'>): Promise<void> {
  if (underWay().count >= (details.event === 'ended' ? mostUnderWay.ended : mostUnderWay.others)) {
    log.warn('a notification is dropped: too many are undelivered', { event: details.event });
    return;
  }
  underWay().count += 1;
  const over = () => {
    underWay().count -= 1;
  };
  const id = uuid4();
  try {
    const { result } = await startChild<DeliverNotification>(workflowTypes.deliverNotification, {
      workflowId: `${notificationPrefix(details.workflowId)}/${id}`,
      args: [{ target, notification: { id: `msg_${id}`, ...details } }],
      parentClosePolicy: ParentClosePolicy.ABANDON,
      cancellationType: ChildWorkflowCancellationType.ABANDON,
      // Without this timeout, a delivery that no worker picks up would stay open forever.
      workflowExecutionTimeout: '2 days',
      staticSummary: details.event,
    });
    result().then(over, over);
  } catch (error) {
    over();
    throw error;
  }
}
