/**
 * Delivers one notification to its URL. Retries for a day, so a notification may arrive more than once. This workflow continues after the end of the workflow that notifies. If a
 * delivery is given up, it fails, so that Temporal's lists show it.
 */
import { log, metricMeter, workflowInfo } from '@temporalio/workflow';
import { notifyTaskQueue } from '../../src/addresses/addresses.js';
import type { NotifyTarget } from '../../src/protocol/job/job-input.js';
import type { NotificationDelivery } from '../../src/protocol/notification.js';
import { deliveryProxies } from '../shared/activity-options.js';

/** @throws ActivityFailure caused by ApplicationFailure `notify_failed` */
export async function deliverNotification({ target, notification }: NotificationDelivery): Promise<void> {
  const { url, chat, ...others } = target;
  const ways: Partial<NotifyTarget>[] = url === undefined ? [] : [{ url, chat }];
  // Earlier versions ran a command, too. Recorded histories contain this call, which now does nothing.
  if (Object.keys(others).length > 0) ways.push(others);
  const { notify } = deliveryProxies(notifyTaskQueue(workflowInfo().taskQueue));
  const ends = await Promise.allSettled(ways.map((way) => notify(way, notification)));
  const failed = ends.find((end) => end.status === 'rejected');
  if (!failed) return;
  const { event, workflowId } = notification;
  const why = failed.reason instanceof Error ? (failed.reason.cause ?? failed.reason) : failed.reason;
  log.warn('a notification was abandoned', { event, of: workflowId, why: String(why) });
  metricMeter.createCounter('sandflow_notifications_given_up', undefined, 'Notifications not delivered').add(1);
  throw failed.reason;
}
