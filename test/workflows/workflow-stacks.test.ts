import { expect, it } from 'vitest';
import { createStand, letGo, script, untilGo } from './workflow-harness.js';

it.each([
  [false, ''],
  [true, expect.stringContaining('create-then-prompt')],
])('the call stack of a workflow is shown: %s', async (workflowStacks, shown) => {
  const stand = await createStand({ worker: { workflowStacks } });
  try {
    const job = await stand.start({ prompts: [{ prompt: script(`${untilGo}; echo done`) }] });
    const progress = () => job.query<{ phase: string; sandboxId: string | null }>('progress');
    await expect.poll(async () => (await progress()).phase).toBe('following');
    expect(await job.query('__stack_trace')).toEqual(shown);
    await letGo(stand, (await progress()).sandboxId);
    expect(await job.result()).toMatchObject({ outcome: 'completed' });
  } finally {
    await stand.close();
  }
});
