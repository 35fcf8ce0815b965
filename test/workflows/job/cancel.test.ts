/** A cancelled job: it interrupts its agent, collects its files and ends its sandbox; a second cancel skips the files. */

import { describe, expect, it } from 'vitest';
import { skipCollectingSignal } from '../../../workflows/index.js';
import { shareChangedStand } from '../changed-stand.js';
import { progressOf } from '../job-progress.js';
import { refusal } from '../played-service.js';
import { readySandbox } from '../stop/stop-harness.js';
import { letGo, type Stand, script, shortTiming, untilGo } from '../workflow-harness.js';

const { stand, change } = shareChangedStand();

type Handle = Awaited<ReturnType<Stand['start']>>;

/** Waits until the service shows a working agent. */
async function untilRunning(handle: Handle): Promise<string> {
  await expect.poll(async () => (await progressOf(handle)).phase).toBe('following');
  const { sandboxId } = await progressOf(handle);
  await expect.poll(async () => (await stand.api.getSandbox(sandboxId ?? '')).sandbox.state).toBe('running');
  return sandboxId ?? '';
}

describe('a cancel', () => {
  it('interrupts the agent, stops the sandbox and ends as cancelled', async () => {
    const handle = await stand.start({ prompts: [{ prompt: script('sleep 600') }] });
    const sandboxId = await untilRunning(handle);
    await handle.cancel();
    const result = await handle.result();
    expect(result).toMatchObject({ outcome: 'cancelled', stop: { status: 'completed', kept: 'saved' } });
    expect(result.prompts[0]?.status).toBe('interrupted');
    const [prompt] = stand.service.books.prompts({ sandboxId });
    expect(prompt?.status).toBe('interrupted');
  });

  it('deletes the sandbox if the job should delete it', async () => {
    const handle = await stand.start({ prompts: [{ prompt: script('sleep 600') }], end: 'delete' });
    await untilRunning(handle);
    await handle.cancel();
    expect(await handle.result()).toMatchObject({ outcome: 'cancelled', deletion: { status: 'completed' } });
  });

  it('waits for a create in progress and leaves no machine behind', async () => {
    await stand.fault({ kind: 'latency', endpoint: 'createSandbox', ms: 1_500 });
    const handle = await stand.start({});
    await expect.poll(async () => (await handle.describe()).raw.pendingActivities?.[0]?.lastStartedTime).toBeTruthy();
    await handle.cancel();
    const result = await handle.result();
    expect(result).toMatchObject({ outcome: 'cancelled', stop: { status: 'completed' } });
    expect(result.sandboxId).not.toBeNull();
  });

  it('ends at once while the service refuses to create, since nothing was created', async () => {
    await stand.fault({ kind: 'error', endpoint: 'createSandbox', status: 429, code: 'daily_limit_reached' });
    const handle = await stand.start({});
    await expect.poll(async () => (await progressOf(handle)).blocked?.reason).toBe('service_refuses');
    await handle.cancel();
    expect(await handle.result()).toMatchObject({ outcome: 'cancelled', sandboxId: null });
  });

  it('of one of two jobs that prompt in a sandbox interrupts no prompt of the other', async () => {
    const sandboxId = await readySandbox(stand);
    const same = {
      source: { kind: 'existing' as const, sandboxId },
      end: 'keep' as const,
      prompts: [{ prompt: script(`${untilGo}; echo same`) }],
    };
    const [one, other] = await Promise.all([stand.start(same), stand.start(same)]);
    const followed = async (job: typeof one) => (await progressOf(job)).prompts[0]?.promptId ?? null;
    await expect.poll(async () => (await followed(one)) !== null && (await followed(other)) !== null).toBe(true);
    await other.cancel();
    expect((await other.result()).outcome).toBe('cancelled');
    await letGo(stand, sandboxId);
    const [kept, cancelled] = [await one.result(), await other.result()];
    expect(kept).toMatchObject({ outcome: 'completed', prompts: [{ status: 'completed' }] });
    expect(new Set([kept.prompts[0]?.promptId, cancelled.prompts[0]?.promptId]).size).toBe(2);
    expect(stand.service.books.prompts({ sandboxId })).toHaveLength(2);
  });
});

describe('the files of a cancelled job', () => {
  const work = { prompts: [{ prompt: script('echo half > out.txt; sleep 600') }], collect: ['out.txt'] };
  const works = async (handle: Handle) => {
    await expect
      .poll(async () => {
        const { sandboxId } = await progressOf(handle);
        return sandboxId && (await stand.api.readFile(sandboxId, 'out.txt').catch(() => null))?.content;
      })
      .toContain('half');
  };

  it('are collected at a cancel, before the machine ends, and marked partial', async () => {
    const handle = await stand.start(work);
    await works(handle);
    await handle.cancel();
    expect(await handle.result()).toMatchObject({
      outcome: 'cancelled',
      stop: { status: 'completed' },
      files: [{ path: 'out.txt', size: 5, partial: true, unchanged: false, error: null }],
    });
  });

  it('are skipped by a second cancel, which deletes all the same', async () => {
    const timing = { ...shortTiming, cleanUpMs: 120_000 };
    const handle = await stand.start({ ...work, end: 'delete', timing });
    await works(handle);
    let asked = 0;
    change.readFile = (_id, _path, options) => {
      asked += 1;
      return new Promise((_, reject) =>
        options?.signal?.addEventListener('abort', () => reject(options.signal?.reason)),
      );
    };
    await handle.cancel();
    await expect.poll(() => asked).toBeGreaterThan(0);
    await handle.signal(skipCollectingSignal);
    expect(await handle.result()).toMatchObject({
      outcome: 'cancelled',
      deletion: { status: 'completed' },
      files: [{ ref: null, error: 'It was skipped by a second cancel' }],
      left: [],
    });
  });

  it('that could not be read are deleted by a second cancel, also while the sandbox is being stopped instead', async () => {
    // The stop never ends, so the deletion does not wait for its end.
    const handle = await stand.start({ ...work, end: 'delete', timing: { ...shortTiming, cleanUpMs: 3_600_000 } });
    await works(handle);
    change.readFile = () => Promise.reject(refusal('readFile', 403, 'forbidden'));
    await stand.fault({ kind: 'stop_fails', times: 100_000 });
    await handle.cancel();
    await expect.poll(async () => (await progressOf(handle)).phase).toBe('waiting_for_archive');
    await handle.signal(skipCollectingSignal);
    expect(await handle.result()).toMatchObject({
      outcome: 'cancelled',
      deletion: { status: 'completed' },
      files: [{ ref: null, error: expect.any(String) }],
      left: [],
    });
  });
});
