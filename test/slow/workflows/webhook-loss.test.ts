/** Lost webhooks: what the report of the bridge says of them, and how jobs then poll. */
import { expect, it } from 'vitest';
import { readWakes } from '../../../src/cli/doctor/check-wakes.js';
import { startJob } from '../../../src/workflow-client/jobs/job-client.js';
import { reportWakes } from '../../../src/workflow-client/jobs/wake-report.js';
import { createStand, deployment, type Stand, script, shortTiming } from '../../workflows/workflow-harness.js';

/** A poll that overtakes an event on a busy machine would count as a loss. */
const patientTiming = { ...shortTiming, safetyPollFirstMs: 4_000 };
const prompts = [{ prompt: script('true') }];

/** Runs jobs on a stand of its own. Each waits twice: for its sandbox and for its archival. */
async function reportAfter(jobs: number, lose: (stand: Stand) => Promise<unknown>) {
  const stand = await createStand();
  try {
    await lose(stand);
    const ids: string[] = [];
    await Promise.all(
      Array.from({ length: jobs }, async () => {
        const handle = await stand.start({ prompts, timing: patientTiming });
        const result = await handle.result();
        expect(result.outcome).toBe('completed');
        ids.push(result.jobId);
      }),
    );
    return { report: reportWakes(await wakesOf(stand, ids)) };
  } finally {
    await stand.close();
  }
}

/** Stands share one Temporal server, and its lists lag. */
async function wakesOf(stand: Stand, ids: readonly string[]) {
  return Promise.all(
    ids.map(async (id) => (await stand.client.workflow.getHandle(`sf-${deployment}-${id}`).result()).wakes),
  );
}

it.each([
  ['none', 0],
  ['a third', 8],
  ['all', 24],
] as const)('the report states the loss if %s of 24 events are lost', async (_, lostOf) => {
  const { report } = await reportAfter(12, async (stand) => {
    const times = lostOf / 2;
    if (times === 0) return;
    await stand.fault({ kind: 'webhook_drop', event: 'sandbox.ready', times });
    await stand.fault({ kind: 'webhook_drop', event: 'sandbox.archived', times });
  });
  expect(report.waits).toBe(24);
  expect(report.bySafetyPoll).toBeGreaterThanOrEqual(lostOf);
  expect(report.byWebhook > 0).toBe(lostOf < 24);
});

it('the report reads the jobs of its deployment from Temporal', async () => {
  const stand = await createStand();
  try {
    const own = `r${Date.now().toString(36)}`.slice(0, 12);
    const job = { deployment: own, jobId: 'job', prompts };
    const { handle } = await startJob(stand.client, job, { taskQueue: stand.taskQueue });
    await handle.result();
    await expect.poll(() => readWakes(stand.client, { deployment: own }), { timeout: 20_000 }).toHaveLength(1);
    const wakes = await readWakes(stand.client, { deployment: own });
    expect(wakes[0]?.map(({ waitedFor }) => waitedFor)).toEqual(['usable', 'archived']);
  } finally {
    await stand.close();
  }
});

it('a job whose event was lost polls more often in its next wait', async () => {
  const stand = await createStand({ service: { timings: { archiveMs: 6_000 } } });
  try {
    const timing = { ...shortTiming, safetyPollFirstMs: 500, safetyPollGrowth: 100, safetyPollMaxMs: 4_000 };
    const waits = async () => {
      const handle = await stand.start({ prompts, timing });
      const { wakes } = await handle.result();
      return wakes.filter(({ waitedFor, by }) => waitedFor === 'archived' && by === 'safety_poll').length;
    };
    await stand.fault({ kind: 'webhook_drop', event: 'sandbox.archived' });
    const after500And4500ms = await waits();
    await stand.fault({ kind: 'webhook_drop', event: 'sandbox.ready' });
    await stand.fault({ kind: 'webhook_drop', event: 'sandbox.archived' });
    expect(await waits()).toBeGreaterThan(after500And4500ms + 1);
  } finally {
    await stand.close();
  }
});
