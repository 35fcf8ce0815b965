/**
 * The worker of a job of three rounds is killed with SIGKILL in a check. Every other boundary of such a job:
 * test/slow/e2e/world/rounds.test.ts.
 */
import { expect, it } from 'vitest';
import { accepted, booksOf, readBooks, shell } from '../stack/fixture.js';
import { shareKillStand } from './killed-worker.js';

const stand = shareKillStand();

/** Fails with other words each time until the agent has mended its work twice. */
const check = 'echo ran >> runs; n=$(cat work 2>&- | wc -l); echo "mended $n" | tr 0-9 a-j; [ $n -ge 2 ]';

it('a worker that is killed in a check changes neither the rounds of its job nor their prompts', async () => {
  const jobId = 'rounds';
  let commands = 0;
  const worker = await stand.startWorker(jobId, {
    onAnswered({ path }, { kill }) {
      if (!path.endsWith('/commands')) return;
      commands += 1;
      // The commands are a check, the removal of its marker, and so on. The service has run the second check.
      if (commands === 3) kill();
    },
  });
  const job = await worker.start({
    jobId,
    prompts: [{ prompt: shell('echo begun') }],
    ...{ checks: [check], rounds: 3, checkPrompt: `${shell('echo mended >> work')}\n{{output}}` },
    end: 'keep',
    timing: { readLagMs: 1_000, commandSilenceMs: 3_000 },
  });
  await worker.replaced;
  const result = await job.result();
  expect(result).toMatchObject({ outcome: 'completed', error: null, left: [] });
  expect(result.rounds).toMatchObject([
    { round: 0, passed: false, runs: [{ exitCode: 1, output: 'mended a' }], promptIndex: null },
    { round: 1, passed: false, runs: [{ exitCode: 1, output: 'mended a' }], promptIndex: 1 },
    { round: 2, passed: false, runs: [{ exitCode: 1, output: 'mended b' }], promptIndex: 2 },
    { round: 3, passed: true, runs: [{ exitCode: 0, output: 'mended c' }], promptIndex: null },
  ]);
  expect((await stand.api.readFile(result.sandboxId ?? '', 'runs')).content).toBe('ran\n'.repeat(4));
  expect(accepted(booksOf(jobId, await readBooks(stand.service)))).toEqual({ sandboxes: 1, prompts: 3, stops: 0 });
});
