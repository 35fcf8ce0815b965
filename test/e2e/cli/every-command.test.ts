/**
 * The main paths through the built command line, and every other command once with success, on one stack.
 * Costs 23 CPU s.
 */
import { chmod, cp, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { fixInFork } from '../../unit/house/snippets/fix-in-fork.js';
import { review } from '../../unit/house/snippets/start-job.js';
import { readSource, repository } from '../../unit/house/source-imports.js';
import {
  accepted,
  arm,
  type BooksRead,
  embeddedBooks,
  embeddedService,
  patient,
  releaseAgents,
  reportOf,
  shell,
  untilBooks,
  worksUntilReleased,
} from '../stack/fixture.js';
import { actingCommands, type CommandBench, createCommandBench } from './command-bench.js';
import { commandsIn } from './printed-commands.js';
import type { Started } from './program.js';

/** Commands that another test of the gate runs. Its file must contain their words. */
const elsewhere: Readonly<Record<string, string>> = {
  'jobs attributes': 'test/workflows/search-attributes.test.ts',
  'schedule add': 'test/workflows/schedule/command.test.ts',
  'schedule list': 'test/workflows/schedule/command.test.ts',
  'schedule show': 'test/workflows/schedule/command.test.ts',
  'schedule run-now': 'test/workflows/schedule/command.test.ts',
  'schedule pause': 'test/workflows/schedule/command.test.ts',
  'schedule resume': 'test/workflows/schedule/command.test.ts',
  'schedule remove': 'test/workflows/schedule/command.test.ts',
  'codec-server': 'test/workflows/encryption/codec-server.test.ts',
  'stops sweep': 'test/workflows/stop/sweep.test.ts',
  'store copy': 'test/unit/cli/store/copy.test.ts',
  'upgrade check': 'test/workflows/upgrade/command.test.ts',
  'upgrade switch': 'test/workflows/upgrade/command.test.ts',
  'upgrade drain': 'test/workflows/upgrade/command.test.ts',
  exec: 'test/e2e/cli/sandbox-commands.test.ts',
  cp: 'test/e2e/cli/sandbox-commands.test.ts',
  ssh: 'test/e2e/cli/sandbox-commands.test.ts',
  supervisor: 'test/e2e/faults/kill-each-part.test.ts',
};

/** A command costs more than a look at the books. */
const seldom = { interval: 500 };

let bench: CommandBench;
let stack: Started;
beforeAll(async () => {
  bench = createCommandBench();
  const { command } = JSON.parse(readSource('examples/agent/local-service.json')).commandAgents['claude-code'];
  const commandAgents = { 'claude-code': { command, isolation: 'plain' } };
  await writeFile(join(bench.cli.home, 'local-service.json'), JSON.stringify({ commandAgents, faultsEnabled: true }));
  const up = () => bench.cli.start(['up', '--foreground', '--ready-json']);
  const untilReady = () =>
    vi.waitFor(() => void expect(stack.stdout(), bench.cli.said()).toMatch(/"ready":true.*\n/), patient);
  stack = up();
  const end = await Promise.race([untilReady(), stack.ended]);
  // Another test may take a port between its choice and its use. The next start chooses another.
  if (end && /port \d+ is (already )?in use/i.test(end.stderr)) stack = up();
  await untilReady();
});
afterAll(() => bench.cli.close());

const books = async (): Promise<BooksRead> => {
  const read = await embeddedBooks(bench.cli);
  if (!read) throw new Error('The service does not answer.');
  return read;
};
const stateOf = async (sandboxId: string) => (await books()).sandboxes.find(({ id }) => id === sandboxId)?.state;
const promptsAtWork = ({ prompts }: BooksRead) => prompts.filter(({ status }) => status === 'running').length;

async function createByHand(name: string): Promise<string> {
  const { sandbox } = JSON.parse(await bench.done('api', 'POST', '/sandboxes', '--field', `name=${name}`));
  await expect.poll(() => stateOf(sandbox.id)).toBe('ready');
  return sandbox.id;
}

/** The sandbox of the job `once`, which is stopped at its end. */
let source = '';

describe('the built command line', () => {
  it('runs a job, attaches the same id to it, while it runs and afterwards, and stops its sandbox', async () => {
    const { cli } = bench;
    const args = ['run', worksUntilReleased, '--id', 'once'];
    const first = cli.start(args);
    await untilBooks(cli, (read) => promptsAtWork(read) === 1);
    const beside = cli.start([...args, '--json']);
    await expect.poll(beside.stderr).toContain('the agent is working');
    await releaseAgents(cli);
    expect(await first.ended).toMatchObject({ exitCode: 0, stdout: 'through\n' });
    const ended = await beside.ended;
    expect(ended.exitCode).toBe(0);
    const report = { outcome: 'completed', prompts: [{ result: 'through\n' }], stop: { kept: 'saved' }, left: [] };
    expect(reportOf(ended)).toMatchObject({ jobId: 'once', ...report });
    source = reportOf(ended).sandboxId ?? '';
    expect(JSON.parse(await bench.done(...args, '--json'))).toMatchObject({ sandboxId: source, ...report });
    expect(accepted(await books())).toEqual({ sandboxes: 1, prompts: 1, stops: 1 });
    expect(await stateOf(source)).toBe('archived');
  });

  it('runs each item of a batch in a fork of the source, and stops the forks', async () => {
    const { home } = bench.cli;
    const items = ['one', 'two'].map((id) => ({ id, prompt: shell(`echo ${id} of $(ls go)`) }));
    await writeFile(join(home, 'items.jsonl'), items.map((item) => `${JSON.stringify(item)}\n`).join(''));
    const { stdout } = await bench.built('fanout', 'items.jsonl', '--source', source, '--id', 'batch', '--json');
    const { resultsFile, ...batch } = JSON.parse(stdout);
    expect(batch).toMatchObject({ outcome: 'completed', sourceSandboxId: source });
    const lines = (await readFile(join(home, resultsFile), 'utf8')).trimEnd().split('\n');
    const jobs = lines.map((line) => JSON.parse(line).job);
    expect(jobs.map(({ prompts }) => prompts[0].result)).toEqual(['one of go\n', 'two of go\n']);
    const forks = jobs.map(({ sandboxId }) => sandboxId);
    expect(new Set([source, ...forks]).size).toBe(3);
    expect(await Promise.all([source, ...forks].map(stateOf))).toEqual(['archived', 'archived', 'archived']);
    expect(accepted(await books())).toEqual({ sandboxes: 3, prompts: 3, stops: 3 });
  });

  it('puts a folder with its modes, and saves a folder of a job and of each item, also once more', async () => {
    const { home } = bench.cli;
    await mkdir(join(home, 'tree', '.git'), { recursive: true });
    await writeFile(join(home, 'tree', '.git', 'HEAD'), 'ref: refs/heads/main');
    await writeFile(join(home, 'tree', 'make'), '#!/bin/sh\nmkdir ../out && cp -r .git make ../out && echo made');
    await chmod(join(home, 'tree', 'make'), 0o755);
    const args = ['run', shell('cd work && ./make'), '--put', 'tree/:work', '--get', 'out/', '--id', 'folders'];
    for (const again of [false, true]) {
      const [file] = JSON.parse((await bench.built(...args, '--json')).stdout).files;
      expect(file, `again: ${again}`).toMatchObject({ path: 'out/', localPath: join(home, 'out'), error: null });
    }
    expect((await stat(join(home, 'out', 'make'))).mode & 0o777).toBe(0o755);
    expect(await readFile(join(home, 'out', '.git', 'HEAD'), 'utf8')).toBe('ref: refs/heads/main');
    const item = { id: 'one', prompt: shell('cd work && ./make'), put: { work: 'tree/' }, get: ['out/'] };
    await writeFile(join(home, 'folders.jsonl'), JSON.stringify(item));
    const batch = ['folders.jsonl', '--source', source, '--id', 'folders-batch', '--out', 'saved'];
    await bench.built('fanout', ...batch);
    await bench.built('fanout', 'watch', 'folders-batch', '--out', 'saved');
    expect((await stat(join(home, 'saved/files/one/out/make'))).mode & 0o777).toBe(0o755);
    const results = ['fanout', 'results', 'folders-batch', '--format'];
    const prediction = { instance_id: 'one', model_name_or_path: 'mine', model_patch: '' };
    const predicted = await bench.run([...results, 'predictions', '--model-name', 'mine']);
    expect(JSON.parse(predicted.stdout)).toEqual(prediction);
    expect([predicted.exitCode, predicted.stderr]).toEqual([1, expect.stringContaining('1 item that completed')]);
    expect(await bench.done(...results, 'junit')).toContain('<testcase classname="folders-batch" name="one" time="');
  });

  it('stops sandboxes and says that their work is saved, and a cleanup deletes one and not the protected one', async () => {
    const [old, golden] = [await createByHand('old'), await createByHand('old-golden')];
    const stopped = await bench.built('stop', old, golden, '--wait');
    const saved = (id: string) => `${id}  archived, work saved`;
    expect(stopped.stdout.trimEnd().split('\n').toSorted()).toEqual([saved(old), saved(golden)].toSorted());
    expect([await stateOf(old), await stateOf(golden)]).toEqual(['archived', 'archived']);

    const policy = `name: nights
limits: {maxPercent: 100}
protect: ["*-golden"]
rules:
  - rule: old ones
    match: {name: "old*"}
    action: delete-sandbox
`;
    await writeFile(join(bench.cli.home, 'policy.yaml'), policy);
    expect(await bench.done('cleanup', 'plan', 'policy.yaml')).toMatch(new RegExp(`^${old} .*delete-sandbox$`, 'm'));
    expect(await stateOf(old)).toBe('archived');
    const cleaned = await bench.built('cleanup', 'run', 'policy.yaml', '--all');
    expect(cleaned.stderr).toContain('nights: applied · 1 due of 7');
    expect(cleaned.stdout).toMatch(new RegExp(`^${old} .* deleted$`, 'm'));
    expect(cleaned.stdout).toMatch(new RegExp(`^${golden} .* protected`, 'm'));
    const { sandboxes } = JSON.parse(await bench.done('sandboxes', '--json'));
    const left = sandboxes.map(({ id }: { readonly id: string }) => id);
    expect(left).toHaveLength(6);
    expect(left).toEqual(expect.arrayContaining([golden, source]));
  });
});

it('a job whose check fails works in a second round, and one that stays unproven has an exit code of its own', async () => {
  const { cli } = bench;
  const checked = ['--check', 'test -e fixed', '--end', 'delete', '--no-check'];
  const told = ['--rounds', '2', '--check-prompt', `{{command}}\n${shell('touch fixed')}`];
  const proven = await bench.built('run', shell('true'), ...checked, ...told);
  expect(proven.stderr).toContain('round 1: failed: test -e fixed (exit code 1');
  expect(proven.stderr).toContain('round 2: every check passed');
  const { exitCode, stderr } = await cli.start(['run', shell('true'), ...checked]).ended;
  expect([exitCode, stderr]).toEqual([5, expect.stringContaining('check_failed: The check "test -e fixed" exited')]);
});

describe('each other command succeeds', () => {
  it('on a running job', async () => {
    const { done } = bench;
    expect(await done('jobs', 'rerun', 'once', '--id', 'again', '--detach')).toBe('again\n');
    await untilBooks(bench.cli, (read) => promptsAtWork(read) === 1);
    await expect.poll(() => done('jobs', 'list', '--open'), seldom).toContain('again');
    await expect.poll(() => done('jobs', 'show', 'again'), seldom).toContain('the agent is working');
    await done('jobs', 'prompt', 'again', 'Say hello');
    expect(await done('jobs', 'logs', 'again')).toContain('the agent is working');
    expect(await done('jobs', 'trace', 'again')).toContain('sendAndFollowPrompt');
    await expect.poll(() => done('status', '--json'), seldom).toContain('"openIds":["again"]');
    expect(await done('jobs', 'cancel', 'again', '--wait', '--json')).toContain('"cancelled"');
  });

  it('on a job that waits for a person', async () => {
    const { done } = bench;
    await arm(embeddedService(bench.cli), [{ kind: 'error', endpoint: 'sendPrompt', status: 502, html: true }]);
    await done('run', shell('echo resolved'), '--id', 'doubt', '--detach');
    await expect.poll(() => done('jobs', 'show', 'doubt'), seldom).toContain('outcome_unknown');
    await done('jobs', 'resolve', 'doubt', '--resend');
    expect(await done('jobs', 'watch', 'doubt')).toBe('resolved\n');
  });

  it('on an ended job', async () => {
    expect(await bench.done('continue', 'once', shell('echo more'), '--id', 'more')).toBe('more\n');
    expect(await bench.done('jobs', 'watch', 'once')).toBe('through\n');
  });

  it('on a job that the first snippet of docs/library.md has started', async () => {
    vi.stubEnv('SANDFLOW_HOME', bench.cli.home);
    expect(await review('by-library')).toContain('shell');
    vi.unstubAllEnvs();
    expect(await bench.done('jobs', 'show', 'by-library', '--json')).toContain('"completed"');
  });

  it('on a job that the snippet of the README has started, once for one id', async () => {
    vi.stubEnv('SANDFLOW_HOME', bench.cli.home);
    const fixed = await fixInFork('by-readme', source, shell('ls go'));
    expect(fixed).toEqual({ outcome: 'completed', answer: 'go\n', left: [] });
    const { prompts } = await books();
    expect(await fixInFork('by-readme', source, shell('ls go'))).toEqual(fixed);
    expect((await books()).prompts).toHaveLength(prompts.length);
    vi.unstubAllEnvs();
    expect(await bench.done('jobs', 'show', 'by-readme', '--json')).toContain('"completed"');
  });

  it('on the result store, which the worker has marked', async () => {
    const { stderr } = await bench.built('store', 'clean', '--dry-run');
    expect(stderr).toMatch(/Results of forgotten jobs: 0 of [1-9]\d* folders due/);
  });

  it('on a batch', async () => {
    const { done } = bench;
    await expect.poll(() => done('fanout', 'list'), seldom).toContain('batch');
    expect(await done('fanout', 'show', 'batch')).toContain('2 completed');
    expect(await done('fanout', 'watch', 'batch')).toBe('fanout-batch/results.jsonl\n');
    expect((await done('fanout', 'results', 'batch')).match(/\n/g)).toHaveLength(2);
    expect(await done('fanout', 'logs', 'batch', 'one')).toContain('one of go');
    expect(await done('fanout', 'report', 'batch')).toBe('fanout-batch/report.html\n');
    expect(await done('fanout', 'resume', 'batch')).toBe('fanout-batch/results.jsonl\n');
    await writeFile(join(bench.cli.home, 'long.jsonl'), JSON.stringify(shell('while true; do sleep 0.2; done')));
    await done('fanout', 'long.jsonl', '--source', source, '--id', 'long', '--detach');
    await untilBooks(bench.cli, (read) => promptsAtWork(read) === 1);
    expect(await done('fanout', 'cancel', 'long', '--wait', '--json')).toContain('"outcome":"cancelled"');
  });

  it('with an agent of the user, as docs/agents.md prints it: a run, a follow-up and forks', async () => {
    const { cli, done } = bench;
    await cp(join(repository, 'examples'), join(cli.home, 'examples'), { recursive: true });
    await writeFile(join(cli.home, 'secrets.json'), '{"set": {"MODEL_KEY": "k"}}');
    const page = readSource('docs/agents.md');
    const block = /```sh\n(sandflow run .*?)```/s.exec(page)?.[1] ?? '';
    const printed = [...page.matchAll(/```text\n(.*?)```/gs)].map(([, text]) => text);
    const [run = [], secrets = [], follow = []] = commandsIn(block);
    const [first, , second] = [await done(...run), await done(...secrets), await done(...follow)];
    const SANDBOX = JSON.parse(await done('jobs', 'show', 'fence', '--json')).sandboxId;
    const [fanout = [], logs = []] = commandsIn(block, { SANDBOX }).slice(3);
    await done(...fanout);
    const answers = await readFile(join(cli.home, 'fanout-colours', 'results.jsonl'), 'utf8');
    const [red] = answers.split('\n').map((line) => line && JSON.parse(line).job.prompts[0].result);
    expect([first, second, red]).toEqual(printed);
    expect(await done(...logs)).toContain('You say: Paint it red.');
  });

  it('after a change of local-service.json, and up, run and doctor tell of it', async () => {
    const { cli, run } = bench;
    const file = join(cli.home, 'local-service.json');
    const before = await readFile(file, 'utf8');
    const told = `${file} has changed since the local service started.`;
    await writeFile(file, JSON.stringify({ ...JSON.parse(before), commandAgents: {} }));
    for (const args of [['up'], ['run', worksUntilReleased, '--id', 'once']]) {
      expect((await run(args)).stderr).toContain(told);
    }
    expect(JSON.parse(await bench.done('doctor', '--json')).checks).toContainEqual(
      expect.objectContaining({ name: 'local', status: 'warning', message: expect.stringContaining(told) }),
    );
    await writeFile(file, JSON.stringify(JSON.parse(before), null, 2));
    expect((await run(['up'])).stderr).not.toContain(told);
  });

  it('on sandboxes, stops and cleanups', async () => {
    const { done } = bench;
    expect(await done('sandboxes')).toContain(source);
    expect(await done('sandboxes', 'show', source)).toContain('archived');
    await done('stops', 'list');
    expect(await done('stops', 'explain', source)).toContain('The work up to the stop is saved.');
    await expect.poll(() => done('cleanup', 'report'), seldom).toContain('deleted');
    expect(await done('cleanup', 'validate', 'policy.yaml')).toContain('nights: 1 rule');
  });

  it('on settings and keys', async () => {
    const { done } = bench;
    expect(await done('config')).toContain(bench.cli.home);
    expect(await done('encryption', 'new-key', '--id', 'one')).toMatch(/^one\S+\n$/);
    await done('encryption', 'off');
  });

  it('on webhooks, and the bridge still gets its deliveries', async () => {
    const { done } = bench;
    const other = 'http://127.0.0.1:9/webhooks/sandbox';
    const { webhookId } = JSON.parse(
      await done('webhooks', 'connect', '--no-test', '--url', other, '--name', 'other', '--json'),
    );
    await done('webhooks', 'rotate', webhookId);
    expect(await done('webhooks', 'list')).toContain(webhookId);
    await done('webhooks', 'delete', webhookId);
    expect(await done('webhooks', 'list')).not.toContain(webhookId);
    await done('webhooks', 'connect');
  });

  it('on the local service, and the stack is healthy afterwards', async () => {
    const { done } = bench;
    await done('local', 'clock');
    await done('local', 'reset', '--yes');
    expect(accepted(await books())).toEqual({ sandboxes: 0, prompts: 0, stops: 0 });
    await writeFile(join(bench.cli.home, 'seed.json'), '\uFEFF{"version":1,"sandboxes":[{"name":"seeded"}]}');
    await done('local', 'seed', 'seed.json');
    expect((await books()).sandboxes.map(({ name }) => name)).toEqual(['seeded']);
    expect(JSON.parse(await done('doctor', '--json'))).toMatchObject({ healthy: true });
  });

  it('on the stack, which ends with down', async () => {
    // The stack runs these commands.
    const pid = expect.any(Number);
    const parts = { temporal: pid, 'local-service': pid, worker: pid, bridge: pid };
    const up = async () => JSON.parse(await bench.done('up', '--json'));
    await expect.poll(up, seldom).toMatchObject({ running: true, status: { foreground: true, parts } });
    for (const command of ['local', 'worker', 'bridge']) bench.served(command);
    await expect.poll(async () => (await bench.run(['down'])).exitCode, seldom).toBe(0);
    expect(await stack.ended).toMatchObject({ exitCode: 0 });
    expect(bench.cli.alive()).toEqual([]);
  });
});

it('every command of the grammar has succeeded here, or another test of the gate is named for it', () => {
  const missing = actingCommands().filter((name) => !bench.succeeded.has(name) && !(name in elsewhere));
  expect(missing, 'commands that need a line in a test above').toEqual([]);
});

it('each test that is named for a command is there and has its words', () => {
  const all = actingCommands();
  expect(Object.keys(elsewhere).filter((name) => !all.includes(name))).toEqual([]);
  const wrong = Object.entries(elsewhere).filter(([name, file]) => {
    const words = name.split(' ').map((word) => `'${word}'`);
    return !readSource(file).includes(words.slice(-2).join(', '));
  });
  expect(wrong).toEqual([]);
});
