/** A workflow for tests: notifies as often as requested, and runs until it is cancelled. */
import { CancellationScope, defineUpdate, setHandler, sleep } from '@temporalio/workflow';
import type { Notification } from '../../../src/protocol/notification.js';
import { sendNotification } from '../../../workflows/shared/send-notification.js';

export { deliverNotification } from '../../../workflows/notification/deliver-notification.js';

export const tellUpdate = defineUpdate<void, [event: Notification['event'], times: number]>('tell');

export async function tellsOften(): Promise<void> {
  const run = { input: { jobId: null, notify: { url: 'http://127.0.0.1:1/' } }, sandbox: null };
  setHandler(tellUpdate, async (event, times) => {
    await Promise.all(Array.from({ length: times }, () => sendNotification(run, event, null, null)));
  });
  await CancellationScope.current().cancelRequested.catch(() => undefined);
  await CancellationScope.nonCancellable(() => sleep(1));
}
