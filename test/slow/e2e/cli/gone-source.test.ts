/** Commands whose sandbox was deleted: a new job or batch is refused before it starts, an existing one is attached to. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type CliHome, createCliHome } from '../../../e2e/cli/program.js';
import { patient, reportOf, shell } from '../../../e2e/stack/fixture.js';

describe('a sandbox that was deleted', () => {
  let cli: CliHome;
  let sandboxId = '';
  const env = { SANDFLOW_IDLE_SECONDS: '10' };
  const run = (...args: string[]) => cli.run(args, env);
  const jobs = async () => {
    const { stdout } = await run('jobs', 'list', '--json');
    return (JSON.parse(stdout) as { jobs: { jobId: string }[] }).jobs.map(({ jobId }) => jobId).sort();
  };
  const batches = async () => {
    const { stdout } = await run('fanout', 'list', '--json');
    return (JSON.parse(stdout) as { batches: { batchId: string }[] }).batches.map(({ batchId }) => batchId).sort();
  };

  beforeAll(async () => {
    cli = createCliHome();
    expect((await run('up')).exitCode).toBe(0);
    sandboxId = reportOf(await run('run', shell('echo made'), '--id', 'made', '--json')).sandboxId ?? '';
    expect((await run('run', shell('echo inside'), '--id', 'inside', '--sandbox', sandboxId)).exitCode).toBe(0);
    expect((await run('run', shell('echo forked'), '--id', 'forked', '--fork', sandboxId)).exitCode).toBe(0);
    await writeFile(join(cli.home, 'items.jsonl'), `${JSON.stringify(shell('echo good'))}\n`);
    await writeFile(join(cli.home, 'bad.jsonl'), `${JSON.stringify(shell('exit 3'))}\n`);
    expect((await run('fanout', 'items.jsonl', '--source', sandboxId, '--id', 'batch')).exitCode).toBe(0);
    expect((await run('fanout', 'bad.jsonl', '--source', sandboxId, '--id', 'failed')).exitCode).toBe(1);
    expect((await run('api', 'DELETE', `/sandboxes/${sandboxId}`, '--confirm', sandboxId)).exitCode).toBe(0);
    const isGone = async () =>
      expect(await run('api', 'GET', `/sandboxes/${sandboxId}`)).toMatchObject({ exitCode: 1 });
    await vi.waitFor(isGone, patient);
  });
  afterAll(() => cli.close());

  it.each([
    ['run --sandbox', () => ['run', 'x', '--sandbox', sandboxId]],
    ['run --fork', () => ['run', 'x', '--fork', sandboxId]],
    ['run --id --again', () => ['run', shell('echo inside'), '--id', 'inside', '--sandbox', sandboxId, '--again']],
    ['jobs rerun of a job inside it', () => ['jobs', 'rerun', 'inside']],
    ['jobs rerun of a job in its fork', () => ['jobs', 'rerun', 'forked', '--id', 'new']],
    ['fanout --source', () => ['fanout', 'items.jsonl', '--source', sandboxId]],
    ['fanout --source --dry-run', () => ['fanout', 'items.jsonl', '--source', sandboxId, '--dry-run']],
    ['fanout resume', () => ['fanout', 'resume', 'failed']],
  ])('is an error of %s, which starts nothing and says how to go on', async (_, args) => {
    const ended = await run(...args(), '--json');
    expect(ended).toMatchObject({ exitCode: 2, stderr: expect.stringContaining(`There is no sandbox ${sandboxId}`) });
    expect(ended.stderr).toContain('Nothing was started. Check the id with `sandflow sandboxes`.');
    expect(JSON.parse(ended.stdout)).toMatchObject({ error: { code: 'sandbox_not_found', status: 404 } });
  });

  it('has let none of these start a job or a batch', async () => {
    expect(await jobs()).toEqual(['forked', 'inside', 'made']);
    expect(await batches()).toEqual(['batch', 'failed']);
  });

  it('does not keep a repeated id from attaching to its job or batch, and nothing is asked', async () => {
    const again = await run('run', shell('echo inside'), '--id', 'inside', '--sandbox', sandboxId);
    expect(again).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('inside') });
    expect(again.stderr).toContain('Job inside already finished; showing its result.');
    const rerun = await run('jobs', 'rerun', 'inside', '--id', 'forked');
    expect(rerun, 'it is another job').toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('"forked" exists'),
    });
    const batch = await run('fanout', 'items.jsonl', '--source', sandboxId, '--id', 'batch');
    expect(batch).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('Batch batch already exists') });
  });

  it('ends a job and a batch that --no-check starts, and the end says how to go on', async () => {
    const rerun = await run('jobs', 'rerun', 'forked', '--no-check', '--json');
    expect(rerun.exitCode).toBe(1);
    expect(reportOf(rerun)).toMatchObject({ outcome: 'rejected', error: { code: 'sandbox_not_found' } });
    const batch = await run('fanout', 'items.jsonl', '--snapshot', 'nosuch', '--no-check', '--id', 'late');
    expect(batch).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('source_failed') });
    expect(batch.stderr).toContain('A snapshot named "nosuch" does not exist.');
    expect(batch.stderr).toContain('Otherwise start a new batch with another --source or --snapshot.');
  });
});
