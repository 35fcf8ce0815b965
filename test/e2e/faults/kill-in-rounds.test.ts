/**
 * The worker of a job of three rounds is killed with SIGKILL around a check and around the prompt of a failed check. Every
 * boundary of such a job: test/slow/e2e/world/rounds.test.ts.
 */
import type { Client } from '@temporalio/client';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { createSandboxClient, type SandboxClient } from '../../../src/client/index.js';
import { connectTemporal } from '../../../src/temporal/connect.js';
import { startJob } from '../../../src/workflow-client/jobs/job-client.js';
import { accepted, booksOf, readBooks, shell } from '../stack/fixture.js';
import { createParts, type LocalService, type PartsOfStack } from '../stack/fixture-parts.js';
import { type KilledWorkerOptions, startKilledWorker } from './killed-worker.js';

let parts: PartsOfStack;
let service: LocalService;
let api: SandboxClient;
let temporal: Client;
beforeAll(async () => {
  parts = await createParts();
  service = await parts.startService('service');
  api = createSandboxClient({ baseUrl: service.url, apiKey: service.apiKey });
  temporal = await connectTemporal({ address: parts.environment(service, '').TEMPORAL_ADDRESS ?? '' });
});
afterAll(async () => {
  await temporal.connection.close();
  await api.close();
  await parts.close();
});

/** After the service has carried out the nth call of this kind, and before the worker has the answer. */
const afterEffect = (end: string, nth: number): Pick<KilledWorkerOptions, 'onAnswered'> => {
  let seen = 0;
  return {
    onAnswered({ path }, worker) {
      if (!path.endsWith(end)) return;
      seen += 1;
      if (seen === nth) worker.kill();
    },
  };
};

/** Fails with other words each time until the agent has mended its work twice. */
const check = 'echo ran >> runs; n=$(cat work 2>&- | wc -l); echo "mended $n" | tr 0-9 a-j; [ $n -ge 2 ]';

describe.concurrent('a worker that is killed in a job of three rounds', () => {
  it.for([
    // The commands are: a check, the removal of its marker, and so on.
    ['check', afterEffect('/commands', 3)],
    ['prompt', afterEffect('/prompt', 2)],
  ] as const)('changes neither its rounds nor its prompts: %s', async ([step, moment], { expect }) => {
    const jobId = `rounds-${step}`;
    const worker = await startKilledWorker(parts, service, { taskQueue: jobId, ...moment });
    try {
      const timing = { readLagMs: 1_000, commandSilenceMs: 3_000 };
      const prompts = [{ prompt: shell('echo begun') }];
      const rounds = { checks: [check], rounds: 3, checkPrompt: `${shell('echo mended >> work')}\n{{output}}` };
      const input = { deployment: 'parts', jobId, prompts, ...rounds, end: 'keep', timing } as const;
      const { handle } = await startJob(temporal, input, worker);
      await worker.replaced;
      const result = await handle.result();
      expect(result).toMatchObject({ outcome: 'completed', error: null, left: [] });
      expect(result.rounds).toMatchObject([
        { round: 0, passed: false, runs: [{ exitCode: 1, output: 'mended a' }], promptIndex: null },
        { round: 1, passed: false, runs: [{ exitCode: 1, output: 'mended a' }], promptIndex: 1 },
        { round: 2, passed: false, runs: [{ exitCode: 1, output: 'mended b' }], promptIndex: 2 },
        { round: 3, passed: true, runs: [{ exitCode: 0, output: 'mended c' }], promptIndex: null },
      ]);
      expect((await api.readFile(result.sandboxId ?? '', 'runs')).content).toBe('ran\n'.repeat(4));
      const books = booksOf(jobId, await readBooks(service));
      expect(accepted(books)).toEqual({ sandboxes: 1, prompts: 3, stops: 0 });
    } finally {
      await worker.close();
    }
  });
});
