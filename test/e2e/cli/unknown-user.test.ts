/** A user whom the machine does not know, in an environment without HOME, as some container runtimes start it. */
import { expect, it } from 'vitest';
import { built, requireRoot, runAsOther } from '../../setup/other-user.js';

const main = built('src/cli/main.js');

it('an unknown user without a home is told which setting to make, and needs no other', async (context) => {
  requireRoot(context);
  const without = await runAsOther([main, 'jobs', 'list']);
  expect(without).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('SANDFLOW_HOME (/.local/state/sandflow) is not writable: set it'),
  });
  const named = await runAsOther([main, 'config', '--json'], { env: { SANDFLOW_HOME: '/tmp/home-of-nobody' } });
  expect(named).toMatchObject({ exitCode: 0, stderr: '', stdout: expect.stringContaining('/tmp/home-of-nobody') });
});
