import {
  ActivityCancellationType,
  CancellationScope,
  defineQuery,
  proxyActivities,
  setHandler,
  sleep,
} from '@temporalio/workflow';

const neverServed = { taskQueue: 'served-by-nobody', retry: { maximumAttempts: 1 } };
const { waits } = proxyActivities<{ waits(): Promise<void> }>({
  ...neverServed,
  scheduleToCloseTimeout: '1 hour',
  cancellationType: ActivityCancellationType.TRY_CANCEL,
});
const { fails } = proxyActivities<{ fails(): Promise<void> }>({ ...neverServed, scheduleToCloseTimeout: '1 second' });

export const phase = defineQuery<string>('phase');

/** The cancelled activity causes a workflow task without jobs. What follows the last timer depends on the time. */
export async function emptyTaskBeforeTimer(): Promise<void> {
  let now = 'begins';
  setHandler(phase, () => now);
  const scope = new CancellationScope();
  const waiting = scope.run(waits).catch(() => undefined);
  await sleep(300);
  scope.cancel();
  await waiting;
  now = 'waits';
  const sinceMs = Date.now();
  await sleep(5_000);
  now = 'continues';
  if (Date.now() - sinceMs < 4_900) await sleep(1_500);
  else await fails().catch(() => undefined);
}
