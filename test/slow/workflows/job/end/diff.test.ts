/** The patch of a repository, from jobs in the local service. `diff-scripts.test.ts` has the kinds of changes. */

import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { JobInput } from '../../../../../src/protocol/job/job-input.js';
import { cli as runCli } from '../../../../unit/cli/in-process.js';
import { progressOf } from '../../../../workflows/job-progress.js';
import { createStand, deployment, type Stand, script } from '../../../../workflows/workflow-harness.js';

const run = promisify(execFile);
let stand: Stand;
let folder: string;
beforeAll(async () => {
  stand = await createStand();
  folder = await mkdtemp(join(tmpdir(), 'sandflow-patches-'));
});
afterAll(async () => {
  await stand.close();
  await rm(folder, { recursive: true, force: true });
});

const who = 'git config user.name a && git config user.email a@example.com';
const begin = `git init -q app && cd app && ${who} && echo one >one.txt && echo two >two.txt && git add -A && GIT_AUTHOR_DATE='@0 +0000' GIT_COMMITTER_DATE='@0 +0000' git commit -q -m base`;
const edits =
  "cd app; echo three >three.txt; git add -A; git commit -q --amend -m mine; printf 'a\\r\\n' >one.txt; rm two.txt; printf '\\0\\1' >'b c.bin'";

const start = (over: Partial<JobInput>) =>
  stand.start({ commands: [begin], prompts: [{ prompt: script(edits) }], collectDiff: 'app', ...over });
const patchOf = (files: readonly { readonly diff?: unknown }[]) => files.find(({ diff }) => diff !== undefined);

describe('the patch of a job', () => {
  it('applies to a fresh checkout of the base, byte for byte, and costs three calls', async () => {
    const without = await (await start({ collectDiff: undefined })).result();
    const handle = await start({});
    const result = await handle.result();
    expect(result.outcome).toBe('completed');
    const [patch] = result.files;
    expect(patch).toMatchObject({
      path: 'changes.patch',
      error: null,
      partial: false,
      unchanged: false,
      diff: { outcome: 'changes', repository: expect.stringMatching(/\/app$/), changedFiles: 4, notes: [] },
    });
    // One of them reads the sandbox again before the stop.
    expect(result.apiCalls).toBe(without.apiCalls + 3);
    await writeFile(join(folder, 'changes.patch'), await stand.results.get(patch?.ref ?? ''));
    await run('/bin/sh', ['-c', begin], { cwd: folder });
    const app = join(folder, 'app');
    const { stdout: head } = await run('git', ['rev-parse', 'HEAD'], { cwd: app });
    expect(head.trim()).toBe(patch?.diff?.base);
    await run('git', ['apply', '--check', '../changes.patch'], { cwd: app });
    await run('git', ['apply', '../changes.patch'], { cwd: app });
    expect((await readdir(app)).sort()).toEqual(['.git', 'b c.bin', 'one.txt', 'three.txt']);
    const { stdout } = await run('/bin/sh', ['-c', "cat one.txt three.txt 'b c.bin'"], { cwd: app });
    expect(stdout).toBe('a\r\nthree\n\0\x01');
    const left = await readdir('/tmp');
    expect(left.filter((name) => name.includes(`${result.sandboxId}`) && name.includes('sandflow'))).toEqual([]);
  });

  it('is collected and marked partial if the job is cancelled, and has no answer that is cut', async () => {
    const handle = await start({ prompts: [{ prompt: script(`${edits}; sleep 60`) }] });
    await expect.poll(async () => (await progressOf(handle)).phase, { timeout: 30_000 }).toBe('following');
    const sandboxId = (await progressOf(handle)).sandboxId ?? '';
    const madeAll = async () => (await stand.api.runCommand(sandboxId, { command: 'ls app' })).stdout;
    await expect.poll(madeAll, { timeout: 30_000 }).toContain('b c.bin');
    await handle.cancel();
    const result = await handle.result();
    expect(result.outcome).toBe('cancelled');
    expect(patchOf(result.files)).toMatchObject({ error: null, partial: true, diff: { outcome: 'changes' } });
  });

  it.each([
    ['no_changes', { prompts: [{ prompt: script('echo nothing') }] }, null],
    ['not_a_repository', { collectDiff: 'elsewhere' }, 'The sandbox has no such folder'],
    ['not_a_repository', { commands: ['mkdir app'], prompts: [{ prompt: script(begin) }] }, /in no git repository/],
    [
      'base_unknown',
      { prompts: [{ prompt: script(`rm -rf app; ${begin}; git checkout -q --orphan x; rm -rf .git; git init -q`) }] },
      /no longer has the commit/,
    ],
    ['too_large', { prompts: [{ prompt: script('head -c 40000000 /dev/urandom >app/big') }] }, /more than 32 MiB/],
  ] as const)('%s: is said, and does not fail the job', async (outcome, over, error) => {
    const result = await (await start(over as Partial<JobInput>)).result();
    expect(result).toMatchObject({ outcome: 'completed', error: null });
    const expected = error === null || typeof error === 'string' ? error : expect.stringMatching(error);
    expect(patchOf(result.files)).toMatchObject({ path: 'changes.patch', error: expected, diff: { outcome } });
  });

  it('comes through lost answers and refusals of the service, and says if the command is forbidden', async () => {
    await stand.fault({ kind: 'error', endpoint: 'runCommand', status: 503, code: 'http_500', times: 1 });
    const trouble = async () => {
      const handle = await start({ commands: undefined, source: { kind: 'create', body: { setupScript: begin } } });
      return handle.result();
    };
    expect(patchOf((await trouble()).files)).toMatchObject({
      error: null,
      diff: { outcome: 'changes', changedFiles: 4 },
    });
    await stand.fault({
      kind: 'error',
      endpoint: 'runCommand',
      status: 403,
      code: 'api_key_action_forbidden',
      times: 1,
    });
    const result = await trouble();
    expect(result.outcome).toBe('completed');
    expect(patchOf(result.files)).toMatchObject({ ref: null, diff: { outcome: 'failed' } });
  });

  it('is not collected from a sandbox that is gone, and the job says so', async () => {
    const handle = await start({ prompts: [{ prompt: script('sleep 60') }] });
    await expect.poll(async () => (await progressOf(handle)).phase, { timeout: 30_000 }).toBe('following');
    await stand.api.deleteSandbox((await progressOf(handle)).sandboxId ?? '');
    const result = await handle.result();
    expect(result.outcome).toBe('sandbox_failed');
    expect(patchOf(result.files)).toMatchObject({ ref: null, partial: true, error: expect.any(String) });
  });
});

describe('sandflow run --get-diff', () => {
  it('saves the patch beside the answer, and shows what it holds', async () => {
    const env = {
      TEMPORAL_ADDRESS: inject('temporalAddress'),
      SANDBOX_API_URL: stand.service.url ?? '',
      SANDBOX_API_KEY: 'test-key',
      SANDFLOW_DEPLOYMENT: deployment,
      SANDFLOW_TASK_QUEUE: stand.taskQueue,
      SANDFLOW_RESULTS: stand.resultsDirectory,
    };
    const given = ['run', script(edits), '--setup', begin, '--get-diff=app:saved.patch', '--json'];
    const ended = await runCli(given, { cwd: folder, env });
    expect(ended.stderr).toMatch(/changes\.patch → .*saved\.patch \(4 changed files\)/);
    expect(ended.exitCode).toBe(0);
    expect(JSON.parse(ended.stdout).files).toMatchObject([{ localPath: expect.stringMatching(/saved\.patch$/) }]);
    expect(await readdir(folder)).toContain('saved.patch');
  });
});
