/** Several commands on the stack of one home, from its first moment to its end. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type CliHome, createCliHome } from '../../../e2e/cli/program.js';
import {
  accepted,
  embeddedBooks,
  type Part,
  partPids,
  patient,
  releaseAgents,
  reportOf,
  untilBooks,
  worksUntilReleased,
} from '../../../e2e/stack/fixture.js';
import { isAlive } from '../../../setup/stack-harness.js';

const parts: readonly Part[] = ['supervisor', 'temporal', 'local', 'worker', 'bridge'];

describe('two commands that start at once in a fresh home', () => {
  let cli: CliHome;
  beforeEach(() => {
    cli = createCliHome();
  });
  afterEach(() => cli.close());

  it('share one stack; Ctrl-C of one keeps both jobs running; the stack ends after the last command', async () => {
    // Time for a busy machine to look at the stack before it ends.
    const env = { SANDFLOW_IDLE_SECONDS: '20' };
    const start = (id: string) => cli.start(['run', worksUntilReleased, '--id', id, '--json'], env);
    const [first, second] = [start('first'), start('second')];
    await untilBooks(cli, ({ prompts }) => prompts.filter(({ status }) => status === 'running').length === 2);
    for (const part of parts) expect(partPids(cli, part), part).toHaveLength(1);
    const processes = cli.alive();

    first.process.kill('SIGINT');
    const detached = await first.ended;
    expect(detached).toMatchObject({ exitCode: 130, stderr: expect.stringContaining('sandflow jobs watch first') });
    expect(reportOf(detached)).toMatchObject({ jobId: 'first', outcome: null, error: { code: 'detached' } });
    for (const part of parts) expect(processes, part).toContain(partPids(cli, part)[0]);

    await releaseAgents(cli);
    const whole = { outcome: 'completed', prompts: [{ result: 'through\n' }] };
    expect(reportOf(await second.ended)).toMatchObject(whole);
    expect(reportOf(await cli.run(['jobs', 'watch', 'first', '--json'], env))).toMatchObject(whole);
    expect(accepted(await embeddedBooks(cli))).toEqual({ sandboxes: 2, prompts: 2, stops: 2 });

    await expect.poll(() => cli.alive(), patient).toEqual([]);
    expect(processes.filter(isAlive), 'by their ids').toEqual([]);
    expect(processes.length).toBeGreaterThanOrEqual(parts.length + 2);
  });
});
