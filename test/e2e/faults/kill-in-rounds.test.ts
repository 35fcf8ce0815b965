/**
 * The worker of a job of two rounds is killed with SIGKILL in a check. Every boundary of a job of three rounds:
 * test/slow/e2e/world/rounds.test.ts. Costs 10 CPU s.
 */
import { expect, it } from 'vitest';
import { accepted, booksOf, readBooks, shell } from '../stack/fixture.js';
import { shareKillStand } from './killed-worker.js';

const stand = shareKillStand();

/** Fails until the agent has mended its work. */
const check = 'echo ran >> runs; ls; [ -e work ]';

it('a worker that is killed in a check changes neither the rounds of its job nor their prompts', async () => {
  const jobId = 'rounds';
  let commands = 0;
  const worker = await stand.startWorker(jobId, {
    onAnswered({ path }, { kill }) {
      // The service has run the first check.
      if (path.endsWith('/commands') && commands++ === 0) kill();
    },
  });
  const job = await worker.start({
    jobId,
    prompts: [{ prompt: shell('echo begun') }],
    ...{ checks: [check], checkBefore: false, rounds: 2, checkPrompt: `${shell('touch work')}\n{{output}}` },
    end: 'keep',
    timing: { readLagMs: 1_000, commandSilenceMs: 3_000 },
  });
  await worker.replaced;
  const result = await job.result();
  expect(result).toMatchObject({ outcome: 'completed', error: null, left: [] });
  expect(result.rounds).toMatchObject([
    { round: 1, passed: false, runs: [{ exitCode: 1, output: 'runs' }], promptIndex: 1 },
    { round: 2, passed: true, runs: [{ exitCode: 0, output: 'runs\nwork' }], promptIndex: null },
  ]);
  expect((await stand.api.readFile(result.sandboxId ?? '', 'runs')).content).toBe('ran\n'.repeat(2));
  expect(accepted(booksOf(jobId, await readBooks(stand.service)))).toEqual({ sandboxes: 1, prompts: 2, stops: 0 });
});
