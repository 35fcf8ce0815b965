/** Calls one activity by its name, as a user's workflow may. */
import { proxyActivities } from '@temporalio/workflow';
import { apiCalls } from '../../../workflows/shared/count-api-calls.js';

export interface CalledActivity {
  readonly value: unknown;
  /** Number of calls to the service. */
  readonly calls: number;
}

export async function callActivity(name: string, args: readonly unknown[]): Promise<CalledActivity> {
  const activities = proxyActivities<Record<string, (...args: readonly unknown[]) => Promise<unknown>>>({
    startToCloseTimeout: '30 seconds',
    retry: { initialInterval: '50 milliseconds', backoffCoefficient: 1, maximumAttempts: 4 },
  });
  const activity = activities[name];
  if (!activity) throw new Error(`no activity ${name}`);
  const value = await activity(...args);
  return { value, calls: apiCalls() };
}
