/** A read without an answer must not prevent its workflow from ending, because Temporal accepts no end meanwhile. */
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { ask, heal, outcomeOf, readySandbox } from '../stop/stop-harness.js';
import { createStand, type Stand, script, shortTiming } from '../workflow-harness.js';

let stand: Stand;
beforeAll(async () => {
  stand = await createStand();
});
afterEach(() => heal(stand));
afterAll(() => stand.close());

const hung = { kind: 'latency', ms: 60_000, times: 1_000 } as const;

it('A20: a job at its deadline ends even if its reads hang', async () => {
  await stand.fault({ kind: 'webhook_drop', event: 'sandbox.ready' });
  await stand.fault({ ...hung, endpoint: 'getSandbox' });
  const handle = await stand.start({ deadlineMs: 2_000, timing: { ...shortTiming, cleanUpMs: 2_000 } });
  const result = await handle.result();
  expect(result).toMatchObject({ outcome: 'deadline_exceeded', left: [{ sandboxId: result.sandboxId }] });
  expect(result.durationMs).toBeLessThan(45_000);
});

it('A20: a cancelled job ends even if the reads of its stop hang', async () => {
  const handle = await stand.start({
    prompts: [{ prompt: script('sleep 60') }],
    timing: { ...shortTiming, cleanUpMs: 2_000 },
  });
  await expect.poll(async () => (await handle.query<{ phase: string }>('progress')).phase).toBe('following');
  await stand.fault({ ...hung, endpoint: 'getSandbox' });
  await stand.fault({ ...hung, endpoint: 'getStop' });
  await handle.cancel();
  expect(await handle.result()).toMatchObject({ outcome: 'cancelled' });
});

it.each(['getSandbox', 'getStop'] as const)('A20: a stop at its deadline ends even if %s hangs', async (endpoint) => {
  const sandboxId = await readySandbox(stand);
  await stand.fault({ kind: 'stop_fails', times: 1_000 });
  const requested = await ask(stand, { sandboxId, deadlineMs: 4_000 });
  await stand.fault({ ...hung, endpoint });
  expect((await outcomeOf(stand, requested)).outcome).toBe('still_failing');
});
