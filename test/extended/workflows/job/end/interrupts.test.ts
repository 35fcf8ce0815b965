/** A job that is cut short interrupts its own prompt, again while it runs, and no prompt of others. */

import { describe, expect, it } from 'vitest';
import { ConnectionError } from '../../../../../src/client/index.js';
import { shareChangedStand } from '../../../../workflows/changed-stand.js';
import { progressOf } from '../../../../workflows/job-progress.js';
import { refusal } from '../../../../workflows/played-service.js';
import { type Stand, script, shortTiming } from '../../../../workflows/workflow-harness.js';

const { stand, change } = shareChangedStand();

const long = [{ prompt: script('sleep 600') }];

const promptOfSomebodyElse = async (sandboxId: string, conversationId: string | undefined) =>
  (await stand.api.sendPrompt(sandboxId, { prompt: script('sleep 600'), conversationId })).promptId;

async function expectAtWork(sandboxId: string | null, promptId: string | null | undefined): Promise<void> {
  const { prompt } = await stand.api.getPrompt(sandboxId ?? '', promptId ?? '');
  expect(['queued', 'running']).toContain(prompt.status);
}

describe('an interrupt', () => {
  const kept = { prompts: long, end: 'keep', timing: { ...shortTiming, cleanUpMs: 120_000 } } as const;
  const cancelled = async (handle: Awaited<ReturnType<Stand['start']>>) => {
    await expect.poll(async () => (await progressOf(handle)).phase).toBe('following');
    await handle.cancel();
    return handle.result();
  };

  it('that is refused is repeated, and the prompt is interrupted when the result says so', async () => {
    let refused = 0;
    change.interruptSandbox = (id, query, options) => {
      refused += 1;
      if (refused <= 2) return Promise.reject(refusal('interruptSandbox', 429, 'rate_limited'));
      return stand.api.interruptSandbox(id, query, options);
    };
    const result = await cancelled(await stand.start(kept));
    expect(result).toMatchObject({ outcome: 'cancelled', prompts: [{ status: 'interrupted' }], left: [] });
    const { prompt } = await stand.api.getPrompt(result.sandboxId ?? '', result.prompts[0]?.promptId ?? '');
    expect(prompt.status).toBe('interrupted');
  });

  it('that is never accepted leaves a working agent, which is named', async () => {
    change.interruptSandbox = () => Promise.reject(refusal('interruptSandbox', 429, 'rate_limited'));
    const result = await cancelled(await stand.start({ ...kept, timing: { ...shortTiming, cleanUpMs: 8_000 } }));
    expect(result.outcome).toBe('cancelled');
    expect(result.prompts[0]?.status).not.toBe('interrupted');
    expect(result.left).toMatchObject([{ kind: 'prompt', sandboxId: result.sandboxId }]);
  });

  it('that has no effect is repeated while a read shows the prompt running', async () => {
    let sent = 0;
    change.interruptSandbox = async (...args) => {
      sent += 1;
      return sent === 1 ? { ok: true, interrupted: 0 } : stand.api.interruptSandbox(...args);
    };
    const result = await cancelled(await stand.start(kept));
    expect(result).toMatchObject({ outcome: 'cancelled', prompts: [{ status: 'interrupted' }], left: [] });
    expect(sent).toBe(2);
  });

  it('is not repeated for the prompt of somebody else in the same conversation', async () => {
    const conversations: unknown[] = [];
    let othersId: string | null | undefined;
    change.interruptSandbox = async (id, query, options) => {
      conversations.push(query?.conversation);
      const answer = await stand.api.interruptSandbox(id, query, options);
      othersId = await promptOfSomebodyElse(id, query?.conversation);
      return answer;
    };
    const result = await cancelled(await stand.start(kept));
    expect(result).toMatchObject({ outcome: 'cancelled', prompts: [{ status: 'interrupted' }], left: [] });
    expect(conversations).toEqual([result.prompts[0]?.conversationId]);
    await expectAtWork(result.sandboxId, othersId);
  });

  it('is not repeated while no read shows the prompt running', async () => {
    let sent = 0;
    let othersId: string | null | undefined;
    change.interruptSandbox = async (id, query, options) => {
      sent += 1;
      if (sent > 1) return stand.api.interruptSandbox(id, query, options);
      change.getPrompt = () => Promise.reject(new ConnectionError('getPrompt', true, 'UND_ERR_SOCKET'));
      const answer = await stand.api.interruptSandbox(id, query, options);
      othersId = await promptOfSomebodyElse(id, query?.conversation);
      return answer;
    };
    const handle = await stand.start(kept);
    const ending = cancelled(handle);
    // The second interrupt reads the prompt first, and is tried again.
    const tries = async () => {
      const { pendingActivities } = (await handle.describe()).raw;
      const isInterrupt = ({ activityType }: { activityType?: { name?: string | null } | null }) =>
        activityType?.name === 'interruptSandbox';
      return pendingActivities?.find(isInterrupt)?.attempt ?? 0;
    };
    await expect.poll(async () => sent === 1 && (await tries()) > 1).toBe(true);
    delete change.getPrompt;
    const result = await ending;
    expect(result).toMatchObject({ outcome: 'cancelled', prompts: [{ status: 'interrupted' }], left: [] });
    expect(sent).toBe(1);
    await expectAtWork(result.sandboxId, othersId);
  });
});
