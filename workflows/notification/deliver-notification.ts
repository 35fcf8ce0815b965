/**
 * Delivers one notification to its URL. Retries for a day, so a notification may arrive more than once. This workflow continues after the end of the workflow that notifies. If a
 * delivery is given up, it fails, so that Temporal's lists show it.
 */
import { log, metricMeter, workflowInfo } from '@temporalio/workflow';
import { notifyTaskQueue } from '../../src/addresses/addresses.js';
import type { NotificationDelivery } from '../../src/protocol/notification.js';
import { deliveryProxies } from '../shared/activity-options.js';

/** @throws ActivityFailure caused by ApplicationFailure `notify_failed` */
export async function deliverNotification({ target, notification }: NotificationDelivery): Promise<void> {
  const { notify } = deliveryProxies(notifyTaskQueue(workflowInfo().taskQueue));
  try {
    await notify(target, notification);
  } catch (error) {
    const { event, workflowId } = notification;
    const why = error instanceof Error ? (error.cause ?? error) : error;
    log.warn('a notification was abandoned', { event, of: workflowId, why: String(why) });
    metricMeter.createCounter('sandflow_notifications_given_up', undefined, 'Notifications not delivered').add(1);
    throw error;
  }
}
