import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CliHome, createCliHome } from './program.js';

describe('sandflow stop without configuration', () => {
  let cli: CliHome;
  beforeAll(() => {
    cli = createCliHome();
  });
  afterAll(() => cli.close());

  it('stops a sandbox that a job kept, as docs/stop.md shows, and reports the work as saved', async () => {
    const kept = await cli.run(['run', 'Say hello', '--id', 'hello', '--then', 'keep', '--json']);
    expect(kept.exitCode).toBe(0);
    const { sandboxId } = JSON.parse(kept.stdout) as { sandboxId: string };
    const stop = ['stop', '--all', '--name', 'sf-*-hello-*', '--wait', '--yes'];
    expect(await cli.run(stop)).toMatchObject({ exitCode: 0, stdout: `${sandboxId}  archived, work saved\n` });
    const { stdout } = await cli.run(['stops', 'explain', sandboxId]);
    expect(stdout).toContain('The work up to the stop is saved.');
  });
});
