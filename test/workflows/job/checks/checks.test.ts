/** A check proves the work of a job, runs at most once each time, and its failure is the next prompt. Gate. */
import { readdir } from 'node:fs/promises';
import { describe, expect, it, vi } from 'vitest';
import { ApiError } from '../../../../src/client/index.js';
import { promptJob } from '../../../../src/workflow-client/jobs/job-client.js';
import type { JobInput } from '../../../../workflows/index.js';
import { shareChangedStand } from '../../changed-stand.js';
import {
  archivedSandbox,
  fanoutInput,
  lines,
  run as runBatch,
  source,
  storedGenerations,
} from '../../fanout/fanout-harness.js';
import { progressOf } from '../../job-progress.js';
import { deployment, letGo, patient, script, shortTiming, untilGo } from '../../workflow-harness.js';

const { stand, change } = shareChangedStand();

const input = { end: 'keep', onUnknownOutcome: 'abandon' } as const;
const start = (over: Partial<JobInput>) => stand.start({ ...input, ...over });
const run = async (over: Partial<JobInput>) => (await start(over)).result();
const readFile = async (id: string | null, path: string) => (await stand.api.readFile(id ?? '', path)).content;
const promptsIn = (id: string | null) => stand.service.books.prompts().filter(({ sandboxId }) => sandboxId === id);
const markers = async (id: string | null) =>
  (await readdir('/tmp')).filter((name) => name.startsWith(`.sandflow-${id}`));
/** A failed check makes the agent run this. */
const thenRun = (commands: string) => `{{command}} said {{output}}\n${script(commands)}`;

describe('the checks of a job', () => {
  it('prove the work at once: they failed before the first prompt, and pass after it', async () => {
    const result = await run({
      prompts: [{ prompt: script('touch fixed') }],
      checks: ['test -e fixed', 'echo linted'],
    });
    expect(result).toMatchObject({ outcome: 'completed', error: null });
    expect(result.rounds).toMatchObject([
      { round: 0, passed: false, promptIndex: null, runs: [{ exitCode: 1 }, { exitCode: 0, output: 'linted' }] },
      { round: 1, passed: true, promptIndex: null, runs: [{ command: 'test -e fixed', exitCode: 0 }, { exitCode: 0 }] },
    ]);
    expect(await markers(result.sandboxId)).toEqual([]);
  });

  it('tell the agent in its conversation what failed, and prove what it then does', async () => {
    const result = await run({
      prompts: [{ prompt: script('echo one') }],
      checks: ['echo "file is missing" && test -e two'],
      rounds: 3,
      checkPrompt: thenRun('touch two'),
    });
    expect(result).toMatchObject({ outcome: 'completed' });
    expect(result.rounds).toMatchObject([
      { round: 0, passed: false },
      { round: 1, passed: false, promptIndex: 1 },
      { round: 2, passed: true, promptIndex: null },
    ]);
    const [first, second] = result.prompts;
    expect(second?.conversationId).toBe(first?.conversationId);
    expect(promptsIn(result.sandboxId)).toHaveLength(2);
    expect(second?.prompt).toMatch(/^echo "file is missing" && test -e two said file is missing\n/);
  });

  it('that fail twice in the same way end the job early, and its files are collected', async () => {
    const result = await run({ checks: ['date +%s.%N; false'], rounds: 5, collect: ['note'], end: 'stop' });
    expect(result).toMatchObject({
      outcome: 'unverified',
      error: {
        code: 'check_repeated',
        message: expect.stringContaining('exited with 1 in round 2 as in the one before'),
      },
      stop: { status: 'completed' },
      files: [{ path: 'note', partial: false }],
    });
    expect(result.rounds?.map(({ round, promptIndex }) => [round, promptIndex])).toEqual([
      [0, null],
      [1, 1],
      [2, null],
    ]);
  });

  it('that still fail after the last round leave the work unverified', async () => {
    const differs = 'echo x >> log; sed "s/x/y/;s/^/$(wc -l < log | tr 1-9 a-i)/" log; false';
    const result = await run({ checks: [differs], rounds: 2, checkBefore: false });
    expect(result).toMatchObject({ outcome: 'unverified', error: { code: 'check_failed' } });
    expect(result.rounds?.map(({ round }) => round)).toEqual([1, 2]);
    expect(promptsIn(result.sandboxId)).toHaveLength(2);
  });

  it('that pass before the first prompt are told, and the job goes on', async () => {
    const handle = await start({ checks: ['true'], rounds: 4, prompts: [{ prompt: script(untilGo) }] });
    await expect.poll(async () => (await progressOf(handle)).phase).toBe('following');
    const { rounds, maxRounds, sandboxId } = await progressOf(handle);
    expect({ rounds, maxRounds }).toMatchObject({ rounds: [{ round: 0, passed: true }], maxRounds: 4 });
    await letGo(stand, sandboxId);
    expect(await handle.result()).toMatchObject({ outcome: 'completed', rounds: [{ round: 0 }, { round: 1 }] });
  });

  it('that cannot start end the job before it costs', async () => {
    const result = await run({ checks: ['true', 'no-such-command --version'], end: 'stop' });
    expect(result).toMatchObject({
      outcome: 'unverified',
      error: {
        code: 'check_not_started',
        message: expect.stringContaining('"no-such-command --version" exited with 127'),
      },
      prompts: [{ status: 'not_sent' }],
      rounds: [{ round: 0 }],
      left: [],
    });
    expect(promptsIn(result.sandboxId)).toEqual([]);
  });

  it('that the service refuses end the job before it costs', async () => {
    await stand.fault({ kind: 'error', endpoint: 'runCommand', status: 400, code: 'invalid_request' });
    const result = await run({ checks: ['true'] });
    expect(result).toMatchObject({ outcome: 'unverified', error: { code: 'check_not_started', status: 400 } });
    expect(promptsIn(result.sandboxId)).toEqual([]);
  });

  it('by a key that may run no command end the job by that refusal', async () => {
    await stand.fault({ kind: 'error', endpoint: 'runCommand', status: 403, code: 'api_key_action_forbidden' });
    const result = await run({ checks: ['true'] });
    expect(result).toMatchObject({ outcome: 'rejected', error: { code: 'api_key_action_forbidden', status: 403 } });
    expect(promptsIn(result.sandboxId)).toEqual([]);
  });
});

describe('a check runs once', () => {
  const counting = 'echo ran >> runs';

  it('if its answer is lost', async () => {
    const handle = await start({
      checks: [`${counting}; echo told`],
      checkBefore: false,
      prompts: [{ prompt: script(untilGo) }],
    });
    await expect.poll(async () => (await progressOf(handle)).phase).toBe('following');
    await stand.fault({ kind: 'drop_response', endpoint: 'runCommand' });
    await letGo(stand, (await progressOf(handle)).sandboxId);
    const result = await handle.result();
    expect(result).toMatchObject({
      outcome: 'completed',
      rounds: [{ round: 1, runs: [{ exitCode: 0, output: 'told' }] }],
    });
    expect(await readFile(result.sandboxId, 'runs')).toBe('ran\n');
  });

  it('if its worker ends between its start and its answer', async () => {
    const handle = await start({ checks: [`${counting}; ${untilGo}; echo told`], checkBefore: false });
    await expect.poll(async () => (await progressOf(handle)).phase).toBe('checking');
    const sandboxId = (await progressOf(handle)).sandboxId;
    await vi.waitFor(async () => expect(await readFile(sandboxId, 'runs')).toBe('ran\n'), patient);
    await stand.restartWorker();
    await letGo(stand, sandboxId);
    expect(await handle.result()).toMatchObject({
      outcome: 'completed',
      rounds: [{ round: 1, passed: true, runs: [{ exitCode: 0, output: 'told' }] }],
    });
    expect(await readFile(sandboxId, 'runs')).toBe('ran\n');
  });

  it('in each round, however often the job continues as new', async () => {
    const handle = await start({
      checks: [counting, 'wc -l < runs | tr -d " " | tr 1-9 a-i; [ "$(wc -l < runs)" -ge 4 ]'],
      rounds: 5,
      maxHistoryEvents: 25,
      timing: { ...shortTiming, safetyPollFirstMs: 200 },
    });
    const result = await handle.result();
    expect(result).toMatchObject({ outcome: 'completed' });
    expect(result.rounds?.map(({ round, passed }) => [round, passed])).toEqual([
      [0, false],
      [1, false],
      [2, false],
      [3, true],
    ]);
    expect(await readFile(result.sandboxId, 'runs')).toBe('ran\n'.repeat(4));
    expect(promptsIn(result.sandboxId)).toHaveLength(3);
    const { runId } = await stand.client.workflow.getHandle(handle.workflowId).describe();
    expect(runId).not.toBe(handle.firstExecutionRunId);
  });

  it('also if the job continues as new between two checks of a round, and takes no prompt then', async () => {
    const fields = { endpoint: 'runCommand', status: 429, code: 'rate_limited', meaning: 'throttled_shortly' } as const;
    let isRefused = true;
    change.runCommand = (id, body, options) => {
      if (!isRefused || !body.command.includes('echo second')) return stand.api.runCommand(id, body, options);
      const others = { typed: true, requestId: null, retryAfterMs: 200, details: null };
      return Promise.reject(new ApiError('slow down', { ...fields, ...others }));
    };
    const handle = await start({
      ...{ checks: [counting, 'echo second'], checkBefore: false, maxHistoryEvents: 40 },
      timing: { ...shortTiming, safetyPollFirstMs: 200, safetyPollGrowth: 1, safetyPollMaxMs: 200 },
    });
    const newest = async () => (await stand.client.workflow.getHandle(handle.workflowId).describe()).runId;
    await expect.poll(newest).not.toBe(handle.firstExecutionRunId);
    const { jobId } = await progressOf(handle);
    const late = promptJob(stand.client, { deployment, jobId }, { prompt: 'more' });
    await expect(late).rejects.toThrow('accepts no prompts');
    isRefused = false;
    const result = await handle.result();
    expect(result).toMatchObject({
      outcome: 'completed',
      rounds: [{ round: 1, runs: [{ exitCode: 0 }, { exitCode: 0 }] }],
    });
    expect(await readFile(result.sandboxId, 'runs')).toBe('ran\n');
  });

  it('and a person decides if it is unknown whether it ran: one that did proves nothing', async () => {
    change.runCommand = async (id, body, options) => {
      const text = body.command.replaceAll('/tmp/.sandflow', '/proc/none/.sandflow');
      if (body.command.includes(counting)) {
        const answer = await stand.api.runCommand(id, { ...body, command: text }, options);
        if (!answer.stderr.includes('no_place')) throw new Error('socket hang up');
        return answer;
      }
      return stand.api.runCommand(id, { ...body, command: text }, options);
    };
    const handle = await start({ checks: [counting], checkBefore: false, onUnknownOutcome: 'wait' });
    await expect.poll(async () => (await progressOf(handle)).blocked?.step).toBe('command');
    await handle.executeUpdate('resolve', { args: [{ action: 'sent' }] });
    const result = await handle.result();
    expect(result).toMatchObject({ outcome: 'unverified', rounds: [{ round: 1, runs: [{ exitCode: null }] }] });
    expect(await readFile(result.sandboxId, 'runs')).toBe('ran\n');
  });
});

it('a cancel during a check ends the job, and no prompt is taken meanwhile', async () => {
  const handle = await start({ checks: [untilGo], checkBefore: false, end: 'stop' });
  await expect.poll(async () => (await progressOf(handle)).phase).toBe('checking');
  const { jobId } = await progressOf(handle);
  const late = promptJob(stand.client, { deployment, jobId }, { prompt: 'more' });
  await expect(late).rejects.toThrow('accepts no prompts');
  await handle.cancel();
  const result = await handle.result();
  expect(result).toMatchObject({ outcome: 'cancelled', stop: { status: 'completed' }, left: [] });
  expect(await markers(result.sandboxId)).toEqual([]);
});

it('of a batch, an item may have its own checks, and only proven items count for --first', async () => {
  const batch = fanoutInput(source(await archivedSandbox(stand)), {
    policy: { checks: ['test -e proven'], stopAt: { kind: 'successes', count: 1 }, concurrency: 1, retries: 1 },
  });
  const result = await runBatch(stand, batch, [
    { id: 'unproven', prompts: [{ prompt: script('true') }] },
    { id: 'stuck', prompts: [{ prompt: script('true') }], checks: ['no-such-command'] },
    { id: 'proven', prompts: [{ prompt: script('touch proven') }] },
    { id: 'late', prompts: [{ prompt: script('touch proven') }] },
  ]);
  expect(result).toMatchObject({ outcome: 'completed', counts: { completed: 1 } });
  const ends = (await lines(stand, result)).map(({ itemId, outcome, job }) => [itemId, outcome, job?.error?.code]);
  expect(ends).toEqual([
    ['unproven', 'unverified', 'check_failed'],
    ['stuck', 'unverified', 'check_not_started'],
    ['proven', 'completed', undefined],
    ['late', expect.stringMatching(/^(cancelled|not_started)$/), undefined],
  ]);
  expect(await storedGenerations(stand, result, 0)).toHaveLength(2);
  expect(await storedGenerations(stand, result, 1)).toHaveLength(1);
});
