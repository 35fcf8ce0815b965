import { expect, it } from 'vitest';
import { progressOf } from '../../workflows/job-progress.js';
import { createStand, letGo, script, untilGo } from '../../workflows/workflow-harness.js';

it.each([
  [false, ''],
  [true, expect.stringContaining('create-then-prompt')],
])('the call stack of a workflow is shown: %s', async (workflowStacks, shown) => {
  const stand = await createStand({ worker: { workflowStacks } });
  try {
    const job = await stand.start({ prompts: [{ prompt: script(`${untilGo}; echo done`) }] });
    await expect.poll(async () => (await progressOf(job)).phase).toBe('following');
    await expect.poll(() => job.query('__stack_trace')).toEqual(shown);
    await letGo(stand, (await progressOf(job)).sandboxId);
    expect(await job.result()).toMatchObject({ outcome: 'completed' });
  } finally {
    await stand.close();
  }
});
