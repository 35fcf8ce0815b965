/** Every input of a job, with sizes around Temporal's limits: each works, or is refused before the start. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { jobWorkflowId } from '../../../../src/addresses/addresses.js';
import { promptUpdate } from '../../../../src/protocol/messages.js';
import { promptJob, startJob } from '../../../../src/workflow-client/jobs/job-client.js';
import type { JobInput } from '../../../../workflows/index.js';
import { progressOf } from '../../../workflows/job-progress.js';
import { longFile, longPrompt, longScript, sizes } from '../../../workflows/long-inputs.js';
import { createStand, jobInput, type Stand, script } from '../../../workflows/workflow-harness.js';

/** The input of the agent. */
const longJob = (bytes: number): Partial<JobInput> => ({
  put: [longFile('put.txt', bytes)],
  prompts: [{ prompt: longPrompt(bytes) }, { prompt: longPrompt(bytes, 'wc -c < put.txt') }],
  deadlineMs: 120_000,
});

let stand: Stand;
beforeAll(async () => {
  stand = await createStand();
});
afterAll(() => stand.close());

const started = async (workflowId: string) =>
  stand.client.workflow
    .getHandle(workflowId)
    .describe()
    .then(
      ({ status }) => status.name,
      () => 'none',
    );

describe.each(sizes)('texts of %i bytes', (bytes) => {
  it('are used completely if client and worker share the result store', { timeout: 120_000 }, async () => {
    const { results, taskQueue, client } = stand;
    const input = jobInput(longJob(bytes));
    const { handle } = await startJob(client, input, { taskQueue, results });
    const job = { deployment: input.deployment, jobId: input.jobId };
    const { index } = await promptJob(client, job, { prompt: longPrompt(bytes) }, { results });
    expect(index).toBe(2);
    const result = await handle.result();
    expect(result).toMatchObject({ outcome: 'completed', error: null });
    expect(result.prompts.map((prompt) => prompt.result?.trim().split(/\s+/))).toEqual([
      ['done'],
      [`${bytes}`],
      ['done'],
    ]);
    expect(result.prompts.map(({ promptRef }) => promptRef)).toEqual(Array(3).fill(expect.stringContaining('inputs/')));
  });

  it('reach the service completely as a setup script, which rejects scripts of that length with a reason', async () => {
    const { results, taskQueue, client } = stand;
    const input = jobInput({ source: { kind: 'create', body: { setupScript: longScript(bytes) } } });
    const { handle } = await startJob(client, input, { taskQueue, results });
    expect(await handle.result()).toMatchObject({
      outcome: 'sandbox_failed',
      error: { code: 'setup_failed', message: expect.stringContaining('The command is longer than 122880 bytes') },
      stop: { kept: 'saved' },
    });
  });

  it('are refused as a command, because the service accepts at most 120 KiB', async () => {
    const { results, taskQueue, client } = stand;
    const started = startJob(client, jobInput({ commands: [longScript(bytes)] }), { taskQueue, results });
    await expect(started).rejects.toThrow(
      'commands.0: must not be longer than 122880 bytes: write a script file and run that',
    );
  });

  it('are refused before the start elsewhere, with the name of the field', async () => {
    const { taskQueue, client } = stand;
    const input = jobInput({ prompts: [{ prompt: longPrompt(bytes) }] });
    await expect(startJob(client, input, { taskQueue })).rejects.toMatchObject({
      code: 'bad_job_input',
      message: expect.stringMatching(/prompts\.0\.prompt takes \d+ bytes.*SANDFLOW_RESULTS/),
    });
    expect(await started(jobWorkflowId(input.deployment, input.jobId))).toBe('none');
  });
});

describe('a job', () => {
  it('refuses a follow-up that it has no room for, and continues', async () => {
    const handle = await stand.start({ prompts: [{ prompt: script('sleep 3; echo done') }] });
    for (const bytes of sizes.slice(0, 2)) {
      const sent = handle.executeUpdate(promptUpdate, { args: [{ prompt: longPrompt(bytes) }] });
      await expect(sent).rejects.toMatchObject({
        cause: { message: expect.stringContaining('through the result store') },
      });
    }
    expect(await handle.result()).toMatchObject({ outcome: 'completed', prompts: [{ result: 'done\n' }] });
  });

  it('ends as rejected if the worker has another store', async () => {
    const head = { head: 'Please', bytes: 5, sha256: 'a'.repeat(64) };
    const prompts = [{ prompt: { ref: `file-store:inputs/${head.sha256}`, ...head } }];
    const handle = await stand.start({ prompts });
    const error = {
      code: 'result_not_found',
      message: expect.stringContaining('Do the worker and this command share it?'),
    };
    expect(await handle.result()).toMatchObject({ outcome: 'rejected', error, stop: { status: 'completed' } });
  });

  it('ends with 50 answers of 200 kB, each complete in the result store', { timeout: 240_000 }, async () => {
    const prompt = script('head -c 200000 /dev/zero | tr "\\0" x');
    const prompts = Array.from({ length: 50 }, () => ({ prompt }));
    const handle = await stand.start({ prompts, deadlineMs: 220_000 });
    const result = await handle.result();
    expect(result.outcome).toBe('completed');
    expect(JSON.stringify(result).length).toBeLessThan(1_000_000);
    expect(JSON.stringify(await progressOf(handle)).length).toBeLessThan(1_000_000);
    const [first, last] = [result.prompts[0], result.prompts[49]];
    expect([first?.result?.length, last?.result?.length]).toEqual([16_384, 80]);
    expect((await stand.results.get(last?.resultRef ?? '')).byteLength).toBe(200_000);
  });
});
