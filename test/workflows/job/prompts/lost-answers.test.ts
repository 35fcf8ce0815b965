import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JobResult } from '../../../../workflows/index.js';
import { createStand, type Stand, script, shortTiming } from '../../workflow-harness.js';

let stand: Stand;
beforeEach(async () => {
  stand = await createStand();
});
afterEach(() => stand.close());

const run = async (over = {}): Promise<JobResult> => (await stand.start(over)).result();

/** Resources that cost money: never more than one of each. */
function expectOneOfEach(): void {
  const { books } = stand.service;
  expect(books.sandboxes()).toHaveLength(1);
  expect(books.prompts()).toHaveLength(1);
  expect(books.stops()).toHaveLength(1);
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

  it('to a prompt with the alias of a provider is replaced by evidence, and nothing is sent again', async () => {
    await stand.fault({ kind: 'drop_response', endpoint: 'sendPrompt' });
    const prompts = [{ prompt: script('echo mine'), provider: 'claude' }];
    const result = await run({ prompts, onUnknownOutcome: 'resend' });
    expect(result).toMatchObject({ outcome: 'completed', prompts: [{ status: 'completed' }] });
    expectOneOfEach();
  });

  it('S3: to a prompt that is accepted after the caller has disconnected is found too', async () => {
    await stand.fault({ kind: 'accept_late', endpoint: 'sendPrompt', ms: 2_500 });
    expect(await run()).toMatchObject({ outcome: 'completed', prompts: [{ status: 'completed' }] });
    expectOneOfEach();
  });

  it('S3: to a prompt whose evidence appears after every attempt is found while the job waits for a person', async () => {
    await stand.fault({ kind: 'accept_late', endpoint: 'sendPrompt', ms: 7_000 });
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
  it('S14: of a rate limit is waited out for as long as the service requests', async () => {
    await stand.fault({
      kind: 'error',
      endpoint: 'createSandbox',
      status: 429,
      code: 'rate_limited',
      retryAfterSeconds: 2,
    });
    const result = await run();
    expect(result.outcome).toBe('completed');
    expect(result.durationMs).toBeGreaterThanOrEqual(2_000);
    expectOneOfEach();
  });

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
    expect(stand.service.books.prompts()).toHaveLength(1);
  });

  it('S5: in every generation ends the job as sandbox_cancelled', async () => {
    await stand.fault({ kind: 'create_cancelled', times: 2 });
    expect(await run({ maxGenerations: 2 })).toMatchObject({
      outcome: 'sandbox_cancelled',
      sandboxId: null,
      stop: null,
    });
  });
});

describe('a sandbox in error', () => {
  it('that recovers within the grace period continues', async () => {
    await stand.fault({ kind: 'boot_error', recoverMs: 1_000 });
    expect((await run({ timing: { ...shortTiming, errorGraceMs: 600_000 } })).outcome).toBe('completed');
  });

  it('that does not recover ends the job as sandbox_failed', async () => {
    await stand.fault({ kind: 'boot_error' });
    const result = await run();
    expect(result).toMatchObject({ outcome: 'sandbox_failed', error: { code: 'sandbox_error' } });
    expect(result.durationMs).toBeGreaterThanOrEqual(4_000);
  });
});

it('S7: a stop that fails at first is awaited until it has completed', async () => {
  await stand.fault({ kind: 'stop_fails', times: 2 });
  expect(await run()).toMatchObject({ outcome: 'completed', stop: { status: 'completed', kept: 'saved' } });
  expectOneOfEach();
});
