/** A hundred jobs at once on one embedded stack. */
import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { JobInput } from '../../../../src/protocol/job/job-input.js';
import { connectTemporal } from '../../../../src/temporal/connect.js';
import { startJob } from '../../../../src/workflow-client/jobs/job-client.js';
import { type CliHome, createCliHome } from '../../../e2e/cli/program.js';
import { accepted, patient, readBooks, shell } from '../../../e2e/stack/fixture.js';

const jobs = 100;
const deployment = 'load';

const input = (index: number): JobInput => ({
  deployment,
  jobId: `load-${index}`,
  source: { kind: 'create', body: {} },
  waitFor: 'usable',
  put: [],
  prompts: [{ prompt: shell(`echo answer ${index}`) }],
  conversations: 'one',
  collect: [],
  end: 'stop',
  deadlineMs: 600_000,
  ttlSeconds: 1_800,
  onUnknownOutcome: 'wait',
  maxGenerations: 3,
});

describe('a hundred jobs at once', () => {
  let cli: CliHome;
  beforeEach(() => {
    cli = createCliHome();
  });
  afterEach(() => cli.close());

  it('complete with their own answers, one sandbox, prompt and stop each, and leave nothing running', async () => {
    const stack = cli.start(['up', '--foreground', '--ready-json'], { SANDFLOW_DEPLOYMENT: deployment });
    const isReady = () => {
      if (!stack.stdout().endsWith('\n')) throw new Error(`The stack is not ready: ${stack.stderr()}`);
    };
    await vi.waitFor(isReady, patient);
    const { temporalAddress, sandboxApiUrl, sandboxApiKeyFile } = JSON.parse(stack.stdout()) as Record<string, string>;
    const temporal = await connectTemporal({ address: temporalAddress ?? '' });
    try {
      const indexes = Array.from({ length: jobs }, (_, index) => index);
      const started = await Promise.all(
        indexes.map((index) => startJob(temporal, input(index), { taskQueue: 'sandflow' })),
      );
      const results = await Promise.all(started.map(({ handle }) => handle.result()));
      expect(results.map(({ outcome, prompts: [prompt] }) => `${outcome}: ${prompt?.result}`)).toEqual(
        indexes.map((index) => `completed: answer ${index}\n`),
      );
      expect(results.every(({ stop }) => stop?.status === 'completed' && stop.kept === 'saved')).toBe(true);
    } finally {
      await temporal.connection.close();
    }
    const apiKey = readFileSync(sandboxApiKeyFile ?? '', 'utf8').trim();
    const books = await readBooks({ url: sandboxApiUrl ?? '', apiKey });
    expect(accepted(books)).toEqual({ sandboxes: jobs, prompts: jobs, stops: jobs });
    expect(new Set(books.stops.map(({ sandboxId }) => sandboxId)).size).toBe(jobs);
    expect(books.sandboxes.filter(({ state }) => state !== 'archived')).toEqual([]);
    stack.process.kill('SIGINT');
    expect((await stack.ended).exitCode).toBe(0);
    expect(cli.alive(), 'processes that are left').toEqual([]);
  });
});
