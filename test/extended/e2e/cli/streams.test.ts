/** Streams that nobody reads, or that cannot be written: the job goes on, and a loss is reported. */
import { closeSync, openSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CliHome, createCliHome } from '../../../e2e/cli/program.js';
import { reportOf, shell } from '../../../e2e/stack/fixture.js';

describe('a command whose output nobody reads', () => {
  let cli: CliHome;
  // The stack stays until `close`: a command that starts it again says so.
  const env = { SANDFLOW_IDLE_SECONDS: '3600' };
  beforeAll(() => {
    cli = createCliHome();
  });
  afterAll(() => cli.close());

  it('runs its job to the end if the reader of its messages has gone, as with 2>&1 | head -1', async () => {
    const started = cli.start(['run', shell('echo hello'), '--id', 'unread'], env);
    started.process.stderr?.destroy();
    expect(await started.ended).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('hello') });
    expect(reportOf(await cli.run(['jobs', 'show', 'unread', '--json'], env)).outcome).toBe('completed');
  });

  it('ends well if the reader of its results has gone, as with | head -1', async () => {
    const started = cli.start(['jobs', 'list'], env);
    started.process.stdout?.destroy();
    expect(await started.ended).toMatchObject({ exitCode: 0, stderr: '' });
  });

  it('says that a result could not be written, and exits with 3, if the disk of its output is full', async () => {
    const full = openSync('/dev/full', 'w');
    try {
      const ended = await cli.run(['jobs', 'show', 'unread', '--json'], env, full);
      expect(ended.exitCode).toBe(3);
      expect(ended.stderr).toContain('error: The output could not be written: its disk is full.');
    } finally {
      closeSync(full);
    }
    expect(reportOf(await cli.run(['jobs', 'show', 'unread', '--json'], env)).outcome).toBe('completed');
  });
});
