/** Fills the disk of the result store, and repairs it as docs/runbook.md says. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { shell } from '../../../e2e/stack/fixture.js';
import { fullFolder, mounts } from '../../../setup/full-folder.js';
import { createRunbookStand, printedSteps } from './runbook-stand.js';

const work = shell("sleep 8; head -c 400000 /dev/zero | tr '\\0' x > big.txt");

it.skipIf(!mounts())('The disk is full', async ({ onTestFinished }) => {
  const { path, free, fill } = await fullFolder();
  await free();
  const stand = await createRunbookStand({ SANDFLOW_RESULTS: path });
  onTestFinished(() => stand.parts.close());
  await stand.startJob('full', [work, '--get', 'big.txt']);
  await stand.until(['jobs', 'show', 'full'], 'the agent is working');
  await fill();
  await stand.startJob('later', ['Say hello']);

  const steps = printedSteps('The disk is full', { JOB: 'full' }, stand.run);
  const doctor = await steps.next();
  expect(doctor).toMatchObject({ exitCode: 1 });
  expect(doctor.stdout).toMatch(new RegExp(`failed +disk +The disk is full .*${path}`));
  await stand.until(['jobs', 'show', 'later'], `The disk is full: ${path}`);
  await stand.until(['jobs', 'show', 'full'], `The disk is full: ${path}`);
  expect((await steps.next()).stdout).toContain(`The disk is full: ${path}`);
  await free();
  expect(await steps.next()).toMatchObject({ exitCode: 0 });
  steps.done();
  expect(await stand.run(['jobs', 'watch', 'later'])).toMatchObject({ exitCode: 0 });
  expect(await stand.promptsOf('later')).toBe(1);
  expect(await stand.run(['jobs', 'watch', 'full', '--get', 'big.txt'])).toMatchObject({ exitCode: 0 });
  expect(readFileSync(join(stand.parts.cli.home, 'big.txt'))).toHaveLength(400_000);
});
