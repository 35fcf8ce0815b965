/** kill -9 of each part of one embedded stack, in turn, during one job. Costs 21 CPU s. */
import { expect, it, onTestFinished } from 'vitest';
import { cli as runInProcess } from '../../unit/cli/in-process.js';
import { createCliHome } from '../cli/program.js';
import { accepted, embeddedBooks, releaseAgents, reportOf, untilBooks, worksUntilReleased } from '../stack/fixture.js';

const isPrompted = { sandboxes: 1, prompts: 1, stops: 0 };

it('a job completes with one sandbox, one prompt and one stop although each part of its stack is killed once', async () => {
  const cli = createCliHome();
  onTestFinished(() => cli.close());
  /** The processes of the supervisor and of each part that it has started; none while no supervisor answers. */
  const serving = async (): Promise<Readonly<Record<string, unknown>>> => {
    const { stdout } = await runInProcess(['status', '--json'], { env: { SANDFLOW_HOME: cli.home } });
    const { status } = JSON.parse(stdout);
    return status?.state === 'ready' ? { supervisor: status.pid, ...status.parts } : {};
  };
  const run = cli.start(['run', worksUntilReleased, '--json']);
  await untilBooks(cli, ({ prompts }) => prompts[0]?.status === 'running');

  // Temporal last, so that the command that watches is not reconnecting when another part is killed.
  for (const part of ['worker', 'bridge', 'local-service', 'supervisor', 'temporal']) {
    let killed = Number.NaN;
    const isServing = async () => {
      killed = Number((await serving())[part]);
      return killed;
    };
    await expect.poll(isServing, { message: part }).toBeGreaterThan(0);
    process.kill(killed, 'SIGKILL');
    const isBack = async () =>
      Object.values(await serving()).filter((pid) => typeof pid === 'number' && pid !== killed).length;
    await expect.poll(isBack, { message: `${part} is started again`, interval: 200 }).toBe(5);
    // Only the command that watches can have started the stack again.
    if (part === 'supervisor') await expect.poll(run.stderr).toContain('Reconnected.');
    await expect.poll(async () => accepted(await embeddedBooks(cli)), { message: part }).toEqual(isPrompted);
  }

  await releaseAgents(cli);
  const ended = await run.ended;
  const report = { outcome: 'completed', prompts: [{ status: 'completed', result: 'through\n' }], left: [] };
  expect(reportOf(ended), ended.stderr).toMatchObject(report);
  expect(ended.exitCode).toBe(0);
  expect(accepted(await embeddedBooks(cli))).toEqual({ sandboxes: 1, prompts: 1, stops: 1 });
});
