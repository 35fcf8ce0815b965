/** A job at a service that refuses what sandflow adds to its requests. Gate; costs some 3 CPU seconds. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createSandboxClient } from '../../../src/client/index.js';
import { createStand, type Stand } from '../workflow-harness.js';

let stand: Stand;
beforeAll(async () => {
  stand = await createStand({
    connect: async (baseUrl) =>
      createSandboxClient({ baseUrl, apiKey: 'test-key', omit: ['name', 'ttlSeconds'], uuidKeys: true }),
  });
});
afterAll(() => stand.close());

it('without a name and an auto-stop, and with UUIDs as keys, a job has one sandbox and one prompt, although an answer is lost', async () => {
  await stand.fault({ kind: 'drop_response', endpoint: 'createSandbox' });
  const job = await stand.start({ end: 'keep' });
  expect(await job.result()).toMatchObject({ outcome: 'completed', prompts: [{ status: 'completed' }], left: [] });
  const creates = stand.service.books.calls().filter(({ endpoint }) => endpoint === 'createSandbox');
  expect(creates.length).toBeGreaterThan(1);
  const keys = new Set(creates.map(({ idempotencyKey }) => idempotencyKey));
  expect([...keys]).toEqual([expect.stringMatching(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)]);
  expect(stand.service.books.sandboxes()).toHaveLength(1);
  expect(stand.service.books.prompts()).toHaveLength(1);
});

it('a fork without a name is the job’s own, although it has the name that another job gave its source', async () => {
  const { sandboxId } = await (await stand.start({ prompts: [], end: 'keep' })).result();
  const before = stand.service.books.sandboxes().length;
  const job = await stand.start({ source: { kind: 'fork', sandboxId: sandboxId ?? '' }, end: 'keep' });
  const result = await job.result();
  expect(result).toMatchObject({ outcome: 'completed', left: [] });
  const [fork, ...more] = stand.service.books.sandboxes().slice(before);
  expect(more).toEqual([]);
  expect(fork).toMatchObject({ id: result.sandboxId, name: expect.stringContaining(job.workflowId) });
});
