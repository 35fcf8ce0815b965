/** Brings about the loss of a sandbox, and repairs it as docs/runbook.md says. It takes as long as a read may be stale. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { shell } from '../../../e2e/stack/fixture.js';
import { createRunbookStand, printedSteps, type RunbookStand } from './runbook-stand.js';

let stand: RunbookStand;
beforeAll(async () => {
  stand = await createRunbookStand();
});
afterAll(() => stand.parts.close());

it('The service lost a sandbox', async () => {
  await stand.startJob('lost', [shell('sleep 45')]);
  await stand.until(['jobs', 'show', 'lost'], 'the agent is working');
  const sandboxId = await stand.sandboxOf('lost');
  expect(await stand.run(['api', 'DELETE', `/sandboxes/${sandboxId}`, '--confirm', sandboxId])).toMatchObject({
    exitCode: 0,
  });
  // A missing sandbox counts as gone after 90 s, and again when the job stops it. The repeated job runs its prompt to the end.
  expect(await stand.run(['jobs', 'watch', 'lost'])).toMatchObject({ exitCode: 6 });
  const steps = printedSteps('The service lost a sandbox', { JOB: 'lost' }, stand.run);
  expect((await steps.next()).stdout).toContain('lost');
  const { stdout, stderr } = await steps.next();
  expect(stdout + stderr).toContain('sandbox_failed');
  expect(await steps.next()).toMatchObject({ exitCode: 0 });
  steps.done();
}, 500_000);
