/** Early queries of a workflow whose last task had no jobs: the SDK replays such a task together with what follows. */
import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger, Worker } from '@temporalio/worker';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { earlyQueryText } from '../../../src/protocol/early-query.js';
import { unencryptedBundle } from '../../../src/worker/index.js';
import { createStand, type Stand } from '../../workflows/workflow-harness.js';
import { emptyTaskBeforeTimer, phase } from './own/empty-task-before-timer.js';

let stand: Stand;
let workflowBundle: Awaited<ReturnType<typeof bundleWorkflowCode>>;
beforeAll(async () => {
  const workflowsPath = fileURLToPath(new URL('./own/empty-task-before-timer.ts', import.meta.url));
  workflowBundle = await bundleWorkflowCode({ ...unencryptedBundle, workflowsPath, logger: new DefaultLogger('WARN') });
  stand = await createStand({ worker: { workflowBundle } });
});
afterAll(() => stand.close());

it('early queries after a workflow task without jobs are refused, and the histories replay', async () => {
  const handles = await Promise.all(
    Array.from({ length: 8 }, () =>
      stand.client.workflow.start(emptyTaskBeforeTimer, {
        workflowId: `empty-task-${randomBytes(4).toString('hex')}`,
        taskQueue: stand.taskQueue,
      }),
    ),
  );
  for (const handle of handles) await expect.poll(() => handle.query(phase)).toBe('waits');
  const hasFired = async (handle: (typeof handles)[number]) => {
    const fired = (await handle.fetchHistory()).events?.filter((event) => event.timerFiredEventAttributes) ?? [];
    return fired.length === 2;
  };
  let queries: Promise<string>[] = [];
  await stand.restartWorker(async () => {
    queries = handles.map((handle) =>
      stand.client.withDeadline(Date.now() + 30_000, () => handle.query(phase)).catch(String),
    );
    await expect.poll(async () => (await Promise.all(handles.map(hasFired))).every(Boolean)).toBe(true);
  });
  const answers = await Promise.all(queries);
  expect(answers.some((answer) => answer.includes(earlyQueryText))).toBe(true);
  for (const handle of handles) {
    await handle.result();
    await Worker.runReplayHistory({ workflowBundle }, await handle.fetchHistory(), handle.workflowId);
  }
}, 90_000);
