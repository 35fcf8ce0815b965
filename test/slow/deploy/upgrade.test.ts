/**
 * Five deploys while 200 jobs run: versions for the first time, a new one, a bad build, a rollback, and one more. Workers
 * are processes of the built program, and so are the commands of the operator.
 * Tier: all. Four minutes, and some 250 CPU seconds.
 */
import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, inject, onTestFinished, test } from 'vitest';
import { createCliHome } from '../../e2e/cli/program.js';
import { repository } from '../../unit/house/source-imports.js';
import { createStand, deployment, script } from '../../workflows/workflow-harness.js';

const jobs = 200;
/** Those of a deploy run while the next one is made, and some while all are. */
const secondsOf = (index: number) => 20 + ((index * 37) % 101);
const arrivalMs = 400;

/** A build whose jobs call an activity that no worker has. */
function badBuild(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sandflow-build-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const name of ['dist', 'package.json']) cpSync(join(repository, name), join(folder, name), { recursive: true });
  symlinkSync(join(repository, 'node_modules'), join(folder, 'node_modules'));
  const bundle = join(folder, 'dist', 'workflow-bundle.js');
  writeFileSync(bundle, readFileSync(bundle, 'utf8').replaceAll('createSandbox', 'makeSandbox'));
  return join(folder, 'dist', 'src', 'cli', 'main.js');
}

interface Drain {
  readonly versions: readonly {
    readonly version: string;
    readonly isCurrent: boolean;
    readonly running: number;
    readonly untilAt: string | null;
  }[];
}

test('five deploys lose, double and fail no job', { timeout: 1_200_000 }, async () => {
  const stand = await createStand({ service: { timings: { archiveMs: 500 } } });
  onTestFinished(() => stand.close());
  const home = createCliHome();
  onTestFinished(() => home.close());
  const keyFile = join(home.home, 'key');
  writeFileSync(keyFile, 'test-key', { mode: 0o600 });
  const env = {
    TEMPORAL_ADDRESS: inject('temporalAddress'),
    SANDBOX_API_URL: stand.service.url,
    SANDBOX_API_KEY_FILE: keyFile,
    SANDFLOW_DEPLOYMENT: deployment,
    SANDFLOW_TASK_QUEUE: stand.taskQueue,
    SANDFLOW_RESULTS: stand.resultsDirectory,
  };
  const upgrade = (...args: string[]) => home.run(['upgrade', ...args], env);
  const deploy = async (buildId: string) => {
    const worker = home.start(['worker', '--ready-json'], { ...env, SANDFLOW_BUILD_ID: buildId });
    await expect.poll(worker.stdout, { timeout: 60_000 }).toContain('ready');
    return {
      async end() {
        worker.process.kill('SIGTERM');
        expect((await worker.ended).exitCode).toBe(0);
      },
    };
  };
  const switchTo = (buildId: string) =>
    expect.poll(async () => (await upgrade('switch', buildId)).exitCode, { timeout: 60_000 }).toBe(0);
  const drain = async () => JSON.parse((await upgrade('drain', '--json')).stdout) as Drain;
  const runningOn = async (buildId: string) =>
    (await drain()).versions.find(({ version }) => version === buildId)?.running;

  const starting = Array.from({ length: jobs }, async (_, index) => {
    await sleep(index * arrivalMs);
    const commands = `sleep ${secondsOf(index)}; echo answer ${index}`;
    return stand.start({ jobId: `job-${index}`, prompts: [{ prompt: script(commands) }], timing: undefined });
  });
  await Promise.all(starting.slice(0, 20));

  const bad = spawn(process.execPath, [badBuild(), 'upgrade', 'check', '--json'], {
    env: { ...process.env, ...env, SANDFLOW_HOME: home.home },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const badEnd = new Promise((resolve) => bad.once('close', resolve));
  const [answer] = await Promise.all([text(bad.stdout), text(bad.stderr)]);
  const { refused } = JSON.parse(answer) as { refused: { workflowId: string; type: string; isPinned: boolean }[] };
  expect(refused.filter(({ type, isPinned }) => type === 'createThenPrompt' && !isPinned).length).toBeGreaterThan(10);
  expect(await badEnd).toBe(1);

  // The first worker has no version. What it began goes on with the first version.
  expect(await upgrade('check')).toMatchObject({ exitCode: 0 });
  const v1 = await deploy('v1');
  await switchTo('v1');
  await Promise.all(starting.slice(0, 60));
  const v2 = await deploy('v2');
  await switchTo('v2');
  await Promise.all(starting.slice(0, 100));
  await switchTo('v1');
  await Promise.all(starting.slice(0, 140));
  const v3 = await deploy('v3');
  await switchTo('v3');
  const handles = await Promise.all(starting);

  const seen = await drain();
  process.stdout.write(
    `upgrade: ${JSON.stringify(seen.versions.map(({ version, running, untilAt }) => ({ version, running, untilAt })))}\n`,
  );
  for (const { isCurrent, running, untilAt } of seen.versions)
    if (!isCurrent && running > 0) expect(Date.parse(untilAt ?? '')).toBeGreaterThan(Date.now());
  await expect.poll(() => runningOn('v2'), { timeout: 300_000, interval: 2_000 }).toBe(0);
  await v2.end();
  await expect.poll(() => runningOn('v1'), { timeout: 300_000, interval: 2_000 }).toBe(0);
  await v1.end();

  const results = await Promise.all(handles.map((handle) => handle.result()));
  expect(results.map(({ outcome }) => outcome)).toEqual(results.map(() => 'completed'));
  expect(results.map(({ prompts: [prompt] }) => prompt?.result?.trim())).toEqual(
    results.map((_, index) => `answer ${index}`),
  );
  const sandboxes = await stand.api.listAllSandboxes({});
  expect(sandboxes).toHaveLength(jobs);
  const prompts = await Promise.all(
    sandboxes.map(
      async ({ id }) => (await stand.api.listEvents(id)).events.filter(({ type }) => type === 'prompt.queued').length,
    ),
  );
  expect(prompts).toEqual(sandboxes.map(() => 1));
  expect(new Set(sandboxes.map(({ state }) => state))).toEqual(new Set(['archived']));
  await v3.end();
  process.stdout.write(`upgrade: ${jobs} jobs, ${sandboxes.length} sandboxes, ${prompts.length} prompts\n`);
});
