import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CliHome, createCliHome } from '../../../e2e/cli/program.js';

describe('sandflow stop without configuration', () => {
  let cli: CliHome;
  beforeAll(() => {
    cli = createCliHome();
  });
  afterAll(() => cli.close());

  it('stops a sandbox that a job kept, as docs/stop.md shows, and reports the work as saved', async () => {
    const kept = await cli.run(['run', 'Say hello', '--id', 'hello', '--end', 'keep', '--json']);
    expect(kept.exitCode).toBe(0);
    const { sandboxId } = JSON.parse(kept.stdout) as { sandboxId: string };
    const stop = ['stop', '--all', '--name', 'sf-*-hello-*', '--wait', '--yes'];
    expect(await cli.run(stop)).toMatchObject({ exitCode: 0, stdout: `${sandboxId}  archived, work saved\n` });
    const { stdout } = await cli.run(['stops', 'explain', sandboxId]);
    expect(stdout).toContain('The work up to the stop is saved.');
    // One unknown id does not hold back the others.
    const both = await cli.run(['stop', sandboxId, 'bx_9999zzzz', '--wait', '--json']);
    expect(both.exitCode).toBe(1);
    expect(JSON.parse(both.stdout).stops).toMatchObject([
      { outcome: 'already_archived' },
      { outcome: null, error: { code: 'sandbox_not_found' } },
    ]);
  });

  it('says within seconds that there is no such sandbox, and with --no-check what it waits for', async () => {
    const startedMs = Date.now();
    const unknown = await cli.run(['stop', 'bx_9999zzzz', '--wait']);
    expect(unknown).toMatchObject({ exitCode: 2 });
    expect(unknown.stdout).toContain('bx_9999zzzz  failed: There is no sandbox bx_9999zzzz');
    expect(unknown.stdout).toContain('It was not stopped.');
    expect(Date.now() - startedMs).toBeLessThan(30_000);
    const waits = await cli.run(['stop', 'bx_9999zzzz', '--wait', '--no-check', '--deadline', '3s']);
    expect(waits).toMatchObject({ exitCode: 1 });
    expect(waits.stderr).toContain('bx_9999zzzz: the service does not show this sandbox. It may be new');
  });
});
