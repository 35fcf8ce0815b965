import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { promptUpdate, resolveUpdate } from '../../../../workflows/index.js';
import { atDeadline } from '../../at-deadline.js';
import { progressOf } from '../../job-progress.js';
import { createStand, letGo, type Stand, script, untilGo } from '../../workflow-harness.js';

let stand: Stand;
beforeAll(async () => {
  stand = await createStand();
});
afterAll(() => stand.close());

type Handle = Awaited<ReturnType<Stand['start']>>;
const phase = async (handle: Handle) => (await progressOf(handle)).phase;
const promptOf = async (handle: Handle) => (await progressOf(handle)).prompts[0];

/** Waits until the service shows a working agent. */
async function untilRunning(handle: Handle): Promise<string> {
  await expect.poll(() => phase(handle)).toBe('following');
  const { sandboxId } = await progressOf(handle);
  await expect.poll(async () => (await stand.api.getSandbox(sandboxId ?? '')).sandbox.state).toBe('running');
  return sandboxId ?? '';
}

describe('a deletion', () => {
  const folder = script('mkdir out; echo done > out/report.md');
  const isStoppedInstead = (sandboxId: string | null) => ({
    outcome: 'completed',
    stop: { status: 'completed', kept: 'saved' },
    deletion: null,
    error: { code: 'clean_up_unfinished' },
    left: [{ kind: 'sandbox', sandboxId, why: expect.stringContaining('stopped and not deleted') }],
  });

  it.each([
    ['a file turned out to be a folder', { prompts: [{ prompt: folder }], collect: ['note', 'out'] }],
    ['the patch has no repository', { prompts: [{ prompt: script('true') }], collectDiff: 'app' }],
  ])('becomes a stop if %s', async (_, input) => {
    const result = await (await stand.start({ ...input, end: 'delete' })).result();
    expect(result).toMatchObject(isStoppedInstead(result.sandboxId));
    expect(result.files.at(-1)?.error).not.toBeNull();
    expect((await stand.api.getSandbox(result.sandboxId ?? '')).sandbox.state).toBe('archived');
  });

  it('follows if every file was collected, or if the work did not complete', async () => {
    const collect = ['out/report.md'];
    const whole = await (await stand.start({ prompts: [{ prompt: folder }], collect, end: 'delete' })).result();
    expect(whole).toMatchObject({ outcome: 'completed', deletion: { status: 'completed' }, left: [] });
    const failing = [{ prompt: script('exit 4') }];
    const failed = await (await stand.start({ prompts: failing, collect, end: 'delete' })).result();
    expect(failed).toMatchObject({ outcome: 'prompt_failed', deletion: { status: 'completed' }, left: [] });
  });
});

describe('a deadline', () => {
  it('interrupts, cleans up and is the outcome', async () => {
    const working = { prompts: [{ prompt: script('sleep 600') }] };
    const { result } = await atDeadline(2_000, {
      start: (deadlineMs) => stand.start({ ...working, deadlineMs }),
      reached: async (handle) => {
        const { sandboxId } = await progressOf(handle);
        return (await stand.api.getSandbox(sandboxId ?? '')).sandbox.state === 'running';
      },
    });
    expect(result).toMatchObject({ outcome: 'deadline_exceeded', stop: { status: 'completed' } });
    // Neither the job nor the service waited for the end of the prompt.
    expect(result.prompts[0]?.status).toBe('interrupted');
    expect(stand.service.books.prompts({ sandboxId: result.sandboxId ?? '' })).toMatchObject([
      { status: 'interrupted' },
    ]);
  });
});

describe('a follow-up prompt', () => {
  it('joins the conversation of a running job', async () => {
    const handle = await stand.start({ prompts: [{ prompt: script(`${untilGo}; echo first > note`) }] });
    const sandboxId = await untilRunning(handle);
    expect(await handle.executeUpdate(promptUpdate, { args: [{ prompt: script('cat note') }] })).toEqual({ index: 1 });
    await letGo(stand, sandboxId);
    const result = await handle.result();
    expect(result.prompts[1]?.result).toContain('first');
    expect(result.prompts[0]?.conversationId).toBe(result.prompts[1]?.conversationId);
  });

  it('is refused when it is empty', async () => {
    const handle = await stand.start({ prompts: [{ prompt: script(untilGo) }] });
    const sandboxId = await untilRunning(handle);
    await expect(handle.executeUpdate(promptUpdate, { args: [{ prompt: ' ' }] })).rejects.toThrow();
    await letGo(stand, sandboxId);
    await handle.result();
  });
});

describe('a step that fails while others run side by side', () => {
  it('ends them too', async () => {
    const prompts = [{ prompt: script('sleep 600') }, { prompt: 'hi', provider: 'nobody' }];
    const handle = await stand.start({ prompts, conversations: 'each' });
    const result = await handle.result();
    expect(result).toMatchObject({ outcome: 'rejected', stop: { status: 'completed' } });
    // The first one ends in ten minutes.
    expect(result.prompts.map(({ status }) => status)).toEqual(['interrupted', 'not_sent']);
  });
});

describe('an unknown outcome', () => {
  const unknownPrompt = async (over = {}) => {
    // The proxy's page does not show whether the prompt was accepted; it was not.
    await stand.fault({ kind: 'error', endpoint: 'sendPrompt', status: 502, html: true });
    const handle = await stand.start({ ...over });
    return handle;
  };
  const blocked = async (handle: Handle) => (await progressOf(handle)).blocked?.reason;

  it('is shown, and a person can have the prompt sent again', async () => {
    const handle = await unknownPrompt();
    await expect.poll(() => blocked(handle)).toBe('outcome_unknown');
    expect((await promptOf(handle))?.status).toBe('unknown');
    await handle.executeUpdate(resolveUpdate, { args: [{ action: 'resend' }] });
    const result = await handle.result();
    expect(result).toMatchObject({ outcome: 'completed', prompts: [{ status: 'completed' }] });
    expect(stand.service.books.prompts({ sandboxId: result.sandboxId ?? '' })).toHaveLength(1);
  });

  it('can be abandoned', async () => {
    const handle = await unknownPrompt();
    await expect.poll(() => blocked(handle)).toBe('outcome_unknown');
    await handle.executeUpdate(resolveUpdate, { args: [{ action: 'abandon' }] });
    expect(await handle.result()).toMatchObject({ outcome: 'outcome_unknown', stop: { status: 'completed' } });
  });

  it('is abandoned by policy after the time for evidence', async () => {
    const handle = await unknownPrompt({ onUnknownOutcome: 'abandon' });
    expect(await handle.result()).toMatchObject({ outcome: 'outcome_unknown', error: { code: 'outcome_unknown' } });
  });

  it('is required for a decision', async () => {
    const handle = await stand.start({ prompts: [{ prompt: script(untilGo) }] });
    const sandboxId = await untilRunning(handle);
    await expect(handle.executeUpdate(resolveUpdate, { args: [{ action: 'resend' }] })).rejects.toThrow();
    await letGo(stand, sandboxId);
    await handle.result();
  });
});
