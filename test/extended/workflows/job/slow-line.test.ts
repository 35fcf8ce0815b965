/** Long inputs have the time that a slow connection needs, and are not started again without end. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startJob } from '../../../../src/workflow-client/jobs/job-client.js';
import { createStand, jobInput, type Stand, script } from '../../../workflows/workflow-harness.js';

const bytes = 10_000_000;
/** At 1 Mbit/s. */
const neededMs = bytes / 125;

let stand: Stand;
const timeouts = new Map<string, number | undefined>();
beforeAll(async () => {
  stand = await createStand({
    through: (client) => ({
      ...client,
      async sendPrompt(id, body, options) {
        timeouts.set('sendPrompt', options?.timeoutMs);
        return client.sendPrompt(id, body, options);
      },
      async createSandbox(body, options) {
        timeouts.set('createSandbox', options?.timeoutMs);
        return client.createSandbox({ ...body, setupScript: 'true' }, options);
      },
    }),
  });
});
afterAll(() => stand.close());

it('a prompt and a setup script of 10 MB have the time that they need at 1 Mbit/s', async () => {
  const { client, taskQueue, results } = stand;
  const long = (text: string) => `${text}\n${'#'.repeat(bytes)}`;
  const input = jobInput({
    source: { kind: 'create', body: { setupScript: long('true') } },
    prompts: [{ prompt: long(script('echo done')) }],
  });
  const { handle } = await startJob(client, input, { taskQueue, results });
  expect(await handle.result()).toMatchObject({ outcome: 'completed' });
  expect([...timeouts.keys()].sort()).toEqual(['createSandbox', 'sendPrompt']);
  for (const timeoutMs of timeouts.values()) expect(timeoutMs).toBeGreaterThan(neededMs);
});
