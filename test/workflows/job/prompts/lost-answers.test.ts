import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { JobResult } from '../../../../workflows/index.js';
import { createStand, type Stand } from '../../workflow-harness.js';

let stand: Stand;
beforeAll(async () => {
  stand = await createStand();
});
afterAll(() => stand.close());

const booked = () => {
  const { books } = stand.service;
  return [books.sandboxes(), books.prompts(), books.stops()].map((rows) => rows.length);
};
/** What the tests before have made. */
let before: readonly number[] = [];
beforeEach(() => {
  before = booked();
});
const made = () => booked().map((count, index) => count - (before[index] ?? 0));

const run = async (over = {}): Promise<JobResult> => (await stand.start(over)).result();

/** Resources that cost money: never more than one of each. */
function expectOneOfEach(): void {
  expect(made()).toEqual([1, 1, 1]);
}

describe('a lost answer', () => {
  it.each(['createSandbox', 'stopSandbox'] as const)(
    'to %s is repeated and creates no second one',
    async (endpoint) => {
      await stand.fault({ kind: 'drop_response', endpoint });
      expect(await run()).toMatchObject({ outcome: 'completed', stop: { kept: 'saved' } });
      expectOneOfEach();
    },
  );

  it('S3: to a prompt is replaced by evidence, and the agent runs once', async () => {
    await stand.fault({ kind: 'drop_response', endpoint: 'sendPrompt' });
    const result = await run();
    expect(result).toMatchObject({ outcome: 'completed', prompts: [{ status: 'completed' }] });
    expectOneOfEach();
  });

  it('S3: to a prompt that is accepted after the caller has disconnected is found too', async () => {
    await stand.fault({ kind: 'accept_late', endpoint: 'sendPrompt', ms: 2_500 });
    expect(await run()).toMatchObject({ outcome: 'completed', prompts: [{ status: 'completed' }] });
    expectOneOfEach();
  });

  it('to reads is repeated', async () => {
    for (const endpoint of ['getSandbox', 'getPrompt', 'listSandboxes'] as const) {
      await stand.fault({ kind: 'drop_response', endpoint });
    }
    expect((await run()).outcome).toBe('completed');
    expectOneOfEach();
  });
});

describe('a temporarily unavailable service', () => {
  it('is awaited: connections closed before anything is read', async () => {
    await stand.fault({ kind: 'close', endpoint: 'createSandbox', times: 2 });
    await stand.fault({ kind: 'close', endpoint: 'stopSandbox', times: 1 });
    expect((await run()).outcome).toBe('completed');
    expectOneOfEach();
  });

  it("is awaited: a proxy's HTML page with 502 now and then", async () => {
    const html = { kind: 'error', status: 502, html: true, times: 1 } as const;
    for (const endpoint of ['createSandbox', 'listSandboxes', 'getPrompt', 'stopSandbox', 'getSandbox'] as const) {
      await stand.fault({ ...html, endpoint });
    }
    expect((await run()).outcome).toBe('completed');
    expectOneOfEach();
  });
});

describe('a refusal', () => {
  it('for good ends the job as rejected, with the answer of the service', async () => {
    await stand.fault({
      kind: 'error',
      endpoint: 'createSandbox',
      status: 403,
      code: 'trial_machine_class_not_allowed',
    });
    expect(await run()).toMatchObject({
      outcome: 'rejected',
      sandboxId: null,
      error: { code: 'trial_machine_class_not_allowed', status: 403, requestId: expect.stringMatching(/^req_/) },
    });
  });

  it('of a prompt by a sandbox that is not promptable sends the job back to wait', async () => {
    await stand.fault({ kind: 'error', endpoint: 'sendPrompt', status: 409, code: 'sandbox_not_promptable', times: 2 });
    expect((await run()).outcome).toBe('completed');
    expectOneOfEach();
  });
});

describe('a sandbox without a machine', () => {
  it('S5: that became cancelled is replaced by the next generation', async () => {
    await stand.fault({ kind: 'create_cancelled' });
    const result = await run();
    expect(result).toMatchObject({ outcome: 'completed', sandboxName: expect.stringMatching(/-main-2$/) });
    expect(made()[1]).toBe(1);
  });
});
