import { randomUUID } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CliHome, createCliHome } from '../../../e2e/cli/program.js';
import { temporalArguments } from '../../../setup/stack-harness.js';

const hello = fileURLToPath(new URL('../../../../examples/hello.md', import.meta.url));
const shell = (script: string) => `\`\`\`sh\n${script}\n\`\`\``;
/** Runs until the test ends it, so that no test depends on speed. */
const untilInterrupted = shell('while true; do sleep 0.2; done');

describe('sandflow run without configuration', () => {
  let cli: CliHome;
  beforeAll(() => {
    cli = createCliHome();
  });
  afterAll(() => cli.close());

  it('runs the example and prints its result on stdout and everything else on stderr', async () => {
    const { exitCode, stdout, stderr } = await cli.run(['run', hello]);
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('completed · job') });
    expect(stdout).toMatch(/^Hello from .*\nwritten by a durable job\n$/);
  });

  it('prints all lines of the agent in a pipe, in order, and the transcript of a job whose sandbox is deleted', async () => {
    const prompt = `${shell('echo first; sleep 1')}\n${shell('echo second')}`;
    const id = `told-${randomUUID().slice(0, 8)}`;
    const { stderr } = await cli.run(['run', prompt, '--id', id, '--end', 'delete']);
    const marks = [
      'creating the sandbox',
      'agent | first',
      'agent | second',
      'deleting the sandbox',
      `completed · job ${id}`,
    ];
    const places = marks.map((mark) => stderr.indexOf(mark));
    expect(places.includes(-1), stderr).toBe(false);
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    expect(stderr).toContain('See http://127.');
    expect(stderr).toContain(`next: sandflow jobs logs ${id}`);

    const { sandboxApiUrl, apiKeyFile } = JSON.parse((await cli.run(['status', '--json'])).stdout).status.stack;
    const headers = { authorization: `Bearer ${(await readFile(apiKeyFile, 'utf8')).trim()}` };
    const log = new URL('/_local/log?endpoint=listEvents&limit=1000', sandboxApiUrl);
    const calls = async () => (await fetch(log, { headers })).text();
    const before = await calls();
    const logs = await cli.run(['jobs', 'logs', id, '--json']);
    expect(await calls(), 'calls to the service for the transcript').toBe(before);
    const entries = logs.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(entries.filter(({ kind }) => kind === 'command').map(({ output }) => output)).toEqual([
      'first\n',
      'second\n',
    ]);
    expect(entries.at(-1)).toMatchObject({ kind: 'ended', outcome: 'completed' });
  });

  it('reports the whole job as JSON, woken by the webhook and confirmed as archived', async () => {
    const { exitCode, stdout } = await cli.run(['run', shell('echo one'), '--json', '--quiet']);
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      outcome: 'completed',
      prompts: [{ status: 'completed', result: expect.stringContaining('one') }],
      stop: { status: 'completed', kept: 'saved' },
      wakes: [
        { by: 'webhook', event: 'sandbox.ready' },
        { by: 'webhook', event: 'sandbox.archived' },
      ],
      error: null,
    });
  });

  it('puts files into the sandbox and collects files', async () => {
    await writeFile(join(cli.home, 'in.txt'), 'forth');
    const prompt = shell('cat data/in.txt > out.txt; echo " and back" >> out.txt');
    const files = ['--put', 'in.txt:data/in.txt', '--get', 'out.txt:got/out.txt'];
    expect(await cli.run(['run', prompt, ...files, '--id', 'files', '--end', 'delete'])).toMatchObject({
      exitCode: 0,
    });
    expect(await readFile(join(cli.home, 'got/out.txt'), 'utf8')).toBe('forth and back\n');
  });

  it('does not start an id twice, and starts it again with --again', async () => {
    const run = async (...more: string[]) => {
      const { exitCode, stdout } = await cli.run(['run', shell('hostname'), '--id', 'ci-7', '--json', ...more]);
      expect(exitCode).toBe(0);
      return JSON.parse(stdout).sandboxId as string;
    };
    const [first, beside] = await Promise.all([run(), run()]);
    expect(beside).toBe(first);
    expect(await run()).toBe(first);
    expect(await run('--again')).not.toBe(first);
  });

  it('refuses an id with another prompt, and prints the earlier result with --reuse', async () => {
    const earlier = await cli.run(['run', shell('echo earlier'), '--id', 'ci-8']);
    expect(earlier).toMatchObject({ exitCode: 0, stdout: 'earlier\n' });
    const refused = await cli.run(['run', shell('echo later'), '--id', 'ci-8', '--ttl', '10m', '--json']);
    expect(refused.exitCode).toBe(2);
    expect(JSON.parse(refused.stdout).error.code).toBe('job_differs');
    expect(refused.stderr).toContain('with other values: the prompts, --ttl. Nothing was started. Choose another --id');
    const reused = await cli.run(['run', shell('echo later'), '--id', 'ci-8', '--reuse']);
    expect(reused).toMatchObject({ exitCode: 0, stdout: 'earlier\n' });
  });

  it('exits with 1 for another outcome', async () => {
    const { exitCode, stdout } = await cli.run(['run', shell('exit 3'), '--end', 'delete', '--json']);
    expect(exitCode).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ outcome: 'prompt_failed', deletion: { status: 'completed' } });
  });

  it('detaches at the first Ctrl-C, stops watching at its deadline, and the job continues until it is cancelled', async () => {
    const watched = cli.start(['run', untilInterrupted, '--id', 'long']);
    await expect.poll(watched.stderr, { timeout: 60_000 }).toContain('the agent is working');
    watched.process.kill('SIGINT');
    expect(await watched.ended).toMatchObject({
      exitCode: 130,
      stderr: expect.stringContaining('sandflow jobs watch long'),
    });
    expect(await cli.run(['jobs', 'watch', 'long', '--watch-deadline', '1s'])).toMatchObject({ exitCode: 4 });
    expect((await cli.run(['jobs', 'show', 'long'])).stdout).toContain('the agent is working');
    expect((await cli.run(['jobs', 'resolve', 'long', '--abandon'])).exitCode).toBe(2);
    expect(await cli.run(['jobs', 'cancel', 'long', '--wait'])).toMatchObject({ exitCode: 0 });
    const { exitCode, stdout } = await cli.run(['jobs', 'watch', 'long', '--json']);
    expect(exitCode).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ outcome: 'cancelled', stop: { status: 'completed' } });
    // A retried step that does not wait must not take the failure for a start.
    expect(await cli.run(['run', untilInterrupted, '--id', 'long', '--detach'])).toMatchObject({
      exitCode: 1,
      stdout: 'long\n',
      stderr: expect.stringContaining('cancelled · job long'),
    });
    expect((await cli.run(['run', shell('echo short'), '--detach'])).exitCode).toBe(0);
    const { stderr: said } = await cli.run(['jobs', 'list', '--limit', '1']);
    expect(said).toContain('There are more jobs: --limit 10');
    // What was asked for is there.
    expect(await cli.run(['jobs', 'cancel', 'long'])).toMatchObject({
      exitCode: 0,
      stderr: expect.stringContaining('Job long had already ended: cancelled.'),
    });
  });

  it('starts a detached job, adds a prompt to it, and lists it', async () => {
    const release = 'while [ ! -e go ]; do sleep 0.1; done';
    expect(await cli.run(['run', shell(release), '--id', 'later', '--detach'])).toMatchObject({
      exitCode: 0,
      stdout: 'later\n',
    });
    const watched = cli.start(['jobs', 'watch', 'later', '--json']);
    await expect.poll(watched.stderr, { timeout: 60_000 }).toContain('the agent is working');
    expect((await cli.run(['jobs', 'prompt', 'later', shell('echo second')])).exitCode).toBe(0);
    const followed = cli.start(['jobs', 'logs', 'later', '-f']);
    await expect.poll(followed.stdout, { timeout: 60_000 }).toContain('the agent is working');
    const shown = await cli.run(['jobs', 'show', 'later']);
    expect(shown.stdout).toMatch(/workflow sf-\S+-later · http:\/\/127[\s\S]*prompt 1: the agent is working · /);
    expect(shown.stdout).not.toMatch(/queued|not_sent/);
    const [page = ''] = /http:\/\/127\S+/.exec(shown.stdout) ?? [];
    expect((await fetch(page)).status).toBe(200);
    const listed = JSON.parse((await cli.run(['jobs', 'list', '--open', '--json'])).stdout);
    expect(listed.jobs).toMatchObject([{ jobId: 'later', status: 'running' }]);
    await cli.run(['jobs', 'cancel', 'later']);
    expect((await followed.ended).stdout).toContain('job ended: cancelled');
    expect(JSON.parse((await watched.ended).stdout).prompts).toHaveLength(2);
  });

  it('keeps watching when Temporal is killed, and the job completes', async () => {
    const watched = cli.start(['run', shell('sleep 10; echo through'), '--id', 'kill', '--again']);
    await expect.poll(watched.stderr, { timeout: 60_000 }).toContain('the agent is working');
    const [temporal = Number.NaN] = cli.alive(temporalArguments);
    process.kill(temporal, 'SIGKILL');
    expect(await watched.ended).toMatchObject({
      exitCode: 0,
      stdout: 'through\n',
      stderr: expect.stringContaining('Reconnected.'),
    });
  });

  it('reports with doctor that everything works', async () => {
    const { exitCode, stdout } = await cli.run(['doctor', '--json']);
    expect({ exitCode, ...JSON.parse(stdout) }).toMatchObject({ exitCode: 0, healthy: true });
  });

  it('reset keeps the webhook of the bridge, and acts on no other service than the one it names', async () => {
    const wakes = async () => {
      const { stdout } = await cli.run(['run', shell('echo awake'), '--json', '--quiet']);
      return JSON.parse(stdout).wakes;
    };
    const woken = [{ by: 'webhook' }, { by: 'webhook' }];
    const reset = await cli.run(['local', 'reset', '--yes']);
    expect(reset).toMatchObject({ exitCode: 0, stderr: expect.stringContaining(`of the stack of ${cli.home}`) });
    expect(await wakes()).toMatchObject(woken);
    expect((await cli.run(['doctor'])).stdout).toMatch(/^ok +bridge .*has the secret/m);

    const other = cli.start(['local', '--port', '0', '--directory', 'other', '--ready-json']);
    await expect.poll(other.stdout, { timeout: 60_000 }).toContain('ready');
    const { url } = JSON.parse(other.stdout());
    const unclear = await cli.run(['local', 'reset', '--yes']);
    expect(unclear).toMatchObject({ exitCode: 2, stderr: expect.stringContaining(`SANDBOX_API_URL=${url} `) });
    other.process.kill('SIGTERM');
    await other.ended;
    expect((await cli.run(['local', 'clock'])).exitCode).toBe(0);
  });

  it('status starts nothing, down refuses while a job is open, and up keeps the stack', async () => {
    const started = Date.now();
    const readStatus = async () => JSON.parse((await cli.run(['status', '--json'])).stdout);
    const idle = { running: true, status: { kept: false, openJobs: 0, clients: [], endsAt: expect.any(String) } };
    await expect.poll(readStatus, { timeout: 60_000 }).toMatchObject(idle);
    const { status } = await readStatus();
    expect(status).toMatchObject({
      state: 'ready',
      stack: { apiKeyFile: join(cli.home, 'local-api-key') },
      parts: { temporal: expect.any(Number), worker: expect.any(Number), bridge: expect.any(Number) },
    });
    // The default: minutes, not seconds.
    expect(Date.parse(status.endsAt) - started).toBeGreaterThan(200_000);

    await cli.run(['run', untilInterrupted, '--id', 'open', '--detach']);
    const refused = await cli.run(['down']);
    expect(refused).toMatchObject({ exitCode: 2, stderr: expect.stringMatching(/\(open\).*sandflow down --force/) });
    expect((await cli.run(['up', '--json'])).stdout).toContain('"kept":true');
    expect((await cli.run(['status'])).stdout).toMatch(/^open +1 workflow \(open\)$/m);
    expect(await cli.run(['jobs', 'cancel', 'open', '--wait'])).toMatchObject({ exitCode: 0 });
    await expect.poll(async () => (await cli.run(['down'])).exitCode, { timeout: 60_000 }).toBe(0);
    expect(cli.alive()).toEqual([]);
    expect((await cli.run(['status'])).stdout).toContain('No stack is running');
    expect(await cli.run(['down', '--json'])).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('false') });
    expect(cli.alive()).toEqual([]);
  });
});
