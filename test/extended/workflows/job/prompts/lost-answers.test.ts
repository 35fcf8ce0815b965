import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JobResult } from '../../../../../workflows/index.js';
import { createStand, type Stand, script, shortTiming } from '../../../../workflows/workflow-harness.js';

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
  it('to a prompt with the alias of a provider is replaced by evidence, and nothing is sent again', async () => {
    await stand.fault({ kind: 'drop_response', endpoint: 'sendPrompt' });
    const prompts = [{ prompt: script('echo mine'), provider: 'claude' }];
    const result = await run({ prompts, onUnknownOutcome: 'resend' });
    expect(result).toMatchObject({ outcome: 'completed', prompts: [{ status: 'completed' }] });
    expectOneOfEach();
  });

  it('S3: to a prompt whose evidence appears after every attempt is found while the job waits for a person', async () => {
    await stand.fault({ kind: 'accept_late', endpoint: 'sendPrompt', ms: 7_000 });
    expect(await run()).toMatchObject({ outcome: 'completed', prompts: [{ status: 'completed' }] });
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
});

describe('a sandbox without a machine', () => {
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
