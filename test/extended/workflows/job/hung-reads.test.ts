/** A read without an answer must not prevent its workflow from ending, because Temporal accepts no end meanwhile. */
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { atDeadline } from '../../../workflows/at-deadline.js';
import { stepsOf } from '../../../workflows/steps.js';
import { ask, heal, outcomeOf, readySandbox } from '../../../workflows/stop/stop-harness.js';
import { createStand, type Stand, shortTiming } from '../../../workflows/workflow-harness.js';

let stand: Stand;
beforeAll(async () => {
  stand = await createStand();
});
afterEach(() => heal(stand));
afterAll(() => stand.close());

const hung = { kind: 'latency', ms: 600_000, times: 1_000 } as const;

it('a job at its deadline ends even if its reads hang', async () => {
  // Also for a job that is repeated with a later deadline.
  await stand.fault({ kind: 'webhook_drop', event: 'sandbox.ready', times: 1_000 });
  await stand.fault({ ...hung, endpoint: 'getSandbox' });
  const pending = async (job: Awaited<ReturnType<Stand['start']>>) =>
    (await job.describe()).raw.pendingActivities?.some(
      ({ activityType, lastStartedTime }) => activityType?.name === 'getSandbox' && lastStartedTime != null,
    ) ?? false;
  const { job, result } = await atDeadline(2_000, {
    start: (deadlineMs) => stand.start({ deadlineMs, timing: { ...shortTiming, cleanUpMs: 2_000 } }),
    reached: pending,
  });
  expect(result).toMatchObject({ outcome: 'deadline_exceeded', left: [{ sandboxId: result.sandboxId }] });
  // Nobody waited until the read was given up.
  const steps = await stepsOf(job);
  expect(steps).toContain('getSandbox scheduled');
  expect(steps.filter((step) => /^getSandbox (?:completed|failed|timed out)$/.test(step))).toEqual([]);
});

it.each(['getSandbox', 'getStop'] as const)('a stop at its deadline ends even if %s hangs', async (endpoint) => {
  const sandboxId = await readySandbox(stand);
  await stand.fault({ kind: 'stop_fails', times: 1_000 });
  const requested = await ask(stand, { sandboxId, deadlineMs: 4_000 });
  await stand.fault({ ...hung, endpoint });
  expect((await outcomeOf(stand, requested)).outcome).toBe('still_failing');
});
