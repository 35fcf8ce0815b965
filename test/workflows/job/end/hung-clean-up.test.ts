/** A job that is cut short ends within its clean-up time, whichever call of its clean-up hangs. */
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import type { EndpointName } from '../../../../src/contract/endpoints/endpoints.js';
import type { JobInput } from '../../../../workflows/index.js';
import { heal } from '../../stop/stop-harness.js';
import { createStand, type Stand, script, shortTiming } from '../../workflow-harness.js';

let stand: Stand;
beforeAll(async () => {
  stand = await createStand();
});
afterEach(() => heal(stand));
afterAll(() => stand.close());

const hangsMs = 58_000;
const cut: Partial<JobInput> = {
  prompts: [{ prompt: script('echo x > out.txt; sleep 60') }],
  collect: ['out.txt'],
  deadlineMs: 3_000,
  timing: { ...shortTiming, cleanUpMs: 2_500 },
};

it.each<[EndpointName, Partial<JobInput>]>([
  ['createSandbox', {}],
  ['sendPrompt', {}],
  ['interruptSandbox', {}],
  ['readFile', {}],
  ['stopSandbox', {}],
  ['deleteSandbox', { end: 'delete' }],
])('A20: a job at its deadline ends even if %s hangs, and names what it leaves', async (endpoint, over) => {
  await stand.fault({ kind: 'latency', ms: hangsMs, times: 1_000, endpoint });
  const result = await (await stand.start({ ...cut, ...over })).result();
  expect(result.outcome).toBe('deadline_exceeded');
  // A call times out after 30 s.
  expect(result.durationMs).toBeLessThan(25_000);
  const sandbox = result.sandboxId && (await stand.api.getSandbox(result.sandboxId)).sandbox;
  if (sandbox && sandbox.state !== 'archived')
    expect(result.left).toContainEqual(expect.objectContaining({ kind: 'sandbox', sandboxId: sandbox.id }));
});

it.each(['interruptSandbox', 'readFile'] as const)(
  'B13: a job at its deadline still has the time to stop its sandbox if %s hangs',
  async (endpoint) => {
    await stand.fault({ kind: 'latency', ms: hangsMs, times: 1_000, endpoint });
    const timing = { ...shortTiming, cleanUpMs: 16_000 };
    const result = await (await stand.start({ ...cut, timing })).result();
    expect(result).toMatchObject({ outcome: 'deadline_exceeded', stop: { status: 'completed' }, left: [] });
    expect(result.files).toMatchObject([{ path: 'out.txt', partial: true }]);
  },
);
