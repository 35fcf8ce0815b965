/** The result of a job names what it could not end, find again or confirm; what becomes of its files and its auto-stop. */

import { describe, expect, it } from 'vitest';
import { ownerWorkflowId } from '../../../../src/addresses/addresses.js';
import { ApiError, ConnectionError, UnexpectedResponseError } from '../../../../src/client/index.js';
import type { JobResult } from '../../../../workflows/index.js';
import { atDeadline } from '../../at-deadline.js';
import { shareChangedStand } from '../../changed-stand.js';
import { progressOf } from '../../job-progress.js';
import { stepsOf } from '../../steps.js';
import { believesNothing, letGo, type Stand, script, shortTiming, untilGo } from '../../workflow-harness.js';
import { resetToBeginning } from '../reset-job.js';

const { stand, change } = shareChangedStand();

const run = async (over = {}): Promise<JobResult> => (await stand.start(over)).result();
const refusal = (
  endpoint: 'getSandbox' | 'createSandbox' | 'readFile',
  status: number,
  code: string,
  meaning: 'permanent' | 'throttled_shortly' | 'throttled_for_long',
) =>
  new ApiError(`${endpoint}: ${code}`, {
    endpoint,
    status,
    code,
    typed: true,
    meaning,
    requestId: 'req_1',
    retryAfterMs: null,
    details: null,
  });
const notFound = () => Promise.reject(refusal('getSandbox', 404, 'sandbox_not_found', 'permanent'));

describe('a created sandbox that is not found', () => {
  it('is awaited while reads may lag, and no second one is created', async () => {
    await stand.fault({ kind: 'webhook_drop', event: 'sandbox.ready' });
    let asked = 0;
    change.getSandbox = (id, options) => {
      asked += 1;
      return asked <= 3 ? notFound() : stand.api.getSandbox(id, options);
    };
    const before = stand.service.books.sandboxes().length;
    expect(await run({ timing: believesNothing })).toMatchObject({
      outcome: 'completed',
      sandboxName: expect.stringMatching(/-main-1$/),
      left: [],
    });
    expect(stand.service.books.sandboxes().length - before).toBe(1);
  });

  it('is replaced after that time, named in `left`, and stopped if it appears', async () => {
    await stand.fault({ kind: 'webhook_drop', event: 'sandbox.ready' });
    let first: string | undefined;
    let asked = 0;
    change.createSandbox = (body, options) => {
      asked += 1;
      return stand.api.createSandbox(body, options);
    };
    change.getSandbox = (id, options) => {
      first ??= id;
      return id === first && asked === 1 ? notFound() : stand.api.getSandbox(id, options);
    };
    const result = await run({
      timing: { safetyPollFirstMs: 300, safetyPollGrowth: 1, safetyPollMaxMs: 300, readLagMs: 2_000 },
    });
    expect(result).toMatchObject({ outcome: 'completed', sandboxName: expect.stringMatching(/-main-2$/) });
    expect(result.left).toMatchObject([
      { kind: 'sandbox', sandboxId: first, why: expect.stringContaining('its stop was requested') },
    ]);
    await expect.poll(async () => (await stand.api.getSandbox(first ?? '')).sandbox.state).toBe('archived');
  });
});

describe('a create', () => {
  it.each(['are all lost', 'name no sandbox'])(
    'is named in `left` if its answers %s until the deadline',
    async (how) => {
      change.createSandbox = async (body, options) => {
        await stand.api.createSandbox(body, options);
        if (how === 'are all lost') throw new ConnectionError('createSandbox', true, 'UND_ERR_SOCKET');
        throw new UnexpectedResponseError('createSandbox', 202, 'sandbox.id', 'is missing');
      };
      const made = () => stand.service.books.sandboxes().map(({ name }) => name);
      const before = made().length;
      const timing = { ...shortTiming, cleanUpMs: 2_500 };
      const { result, job } = await atDeadline(1_500, {
        start: (deadlineMs) => stand.start({ deadlineMs, timing }),
        reached: (handle) =>
          made()
            .slice(before)
            .some((name) => ownerWorkflowId(name) === handle.workflowId),
      });
      expect(result).toMatchObject({ outcome: 'deadline_exceeded', sandboxId: null });
      expect(result.left).toMatchObject([
        { kind: 'sandbox', sandboxId: null, why: expect.stringContaining('unknown') },
      ]);
      expect(made()).toContain(result.left[0]?.sandboxName);
      // After the deadline, nobody waited for another attempt.
      const steps = await stepsOf(job);
      expect(steps.slice(steps.indexOf('deadline fired'))).not.toContain('createSandbox completed');
    },
  );

  it('has a key whose age counts from the first call that may have been accepted; refused calls do not count', async () => {
    const sent: number[] = [];
    let refused = 0;
    change.createSandbox = (body, options) => {
      refused += 1;
      if (refused <= 2) return Promise.reject(refusal('createSandbox', 429, 'rate_limited', 'throttled_shortly'));
      return stand.api.createSandbox(body, options);
    };
    const handle = await stand.start({});
    expect(await handle.result()).toMatchObject({ outcome: 'completed' });
    for (const { activityTaskScheduledEventAttributes: scheduled } of (await handle.fetchHistory()).events ?? []) {
      if (scheduled?.activityType?.name !== 'createSandbox') continue;
      const [payload] = scheduled.input?.payloads ?? [];
      sent.push(JSON.parse(Buffer.from(payload?.data ?? []).toString()).firstSentAtMs);
    }
    expect(sent).toHaveLength(3);
    expect(new Set(sent).size).toBe(3);
  });
});

describe('a deletion', () => {
  it('that fails is requested again', async () => {
    let asked = 0;
    change.deleteSandbox = async (id, options) => {
      asked += 1;
      return asked === 1 ? { ok: true, operationId: 'del_1' } : stand.api.deleteSandbox(id, options);
    };
    change.getDeletionOperation = async (id, options) => {
      const failed = { id, status: 'failed', error: 'disk' };
      return id === 'del_1' ? { ok: true, operation: failed } : stand.api.getDeletionOperation(id, options);
    };
    expect(await run({ end: 'delete' })).toMatchObject({ deletion: { status: 'completed' }, error: null, left: [] });
    expect(asked).toBe(2);
  });

  it('that keeps failing is named', async () => {
    change.deleteSandbox = async () => ({ ok: true, operationId: 'del_1' });
    change.getDeletionOperation = async () => ({
      ok: true,
      operation: { id: 'del_1', status: 'failed', error: 'disk' },
    });
    const result = await run({ end: 'delete', timing: { ...shortTiming, cleanUpMs: 240_000 } });
    expect(result).toMatchObject({
      outcome: 'completed',
      deletion: { status: 'failed', error: 'disk' },
      error: { code: 'clean_up_unfinished' },
      left: [{ kind: 'sandbox', sandboxId: result.sandboxId, why: 'The deletion was last seen failed: disk.' }],
    });
  });
});

describe('files', () => {
  const work = { prompts: [{ prompt: script('echo half > out.txt; sleep 600') }], collect: ['out.txt'] };
  type Handle = Awaited<ReturnType<Stand['start']>>;
  const works = async (handle: Handle) => {
    await expect
      .poll(async () => {
        const { sandboxId } = await progressOf(handle);
        return sandboxId && (await stand.api.readFile(sandboxId, 'out.txt').catch(() => null))?.content;
      })
      .toContain('half');
  };

  it('are collected at a deadline', async () => {
    const half = async ({ workflowId }: Awaited<ReturnType<Stand['start']>>) => {
      const own = stand.service.books.sandboxes().find(({ name }) => ownerWorkflowId(name) === workflowId);
      return (await stand.api.readFile(own?.id ?? '', 'out.txt')).content === 'half\n';
    };
    const { result } = await atDeadline(4_000, {
      start: (deadlineMs) => stand.start({ ...work, deadlineMs }),
      reached: half,
    });
    expect(result).toMatchObject({ outcome: 'deadline_exceeded', files: [{ size: 5, partial: true, error: null }] });
  });

  it('are collected after a failed prompt, and marked partial', async () => {
    const result = await run({ ...work, prompts: [{ prompt: script('echo half > out.txt; exit 1') }] });
    expect(result).toMatchObject({
      outcome: 'prompt_failed',
      stop: { status: 'completed' },
      files: [{ path: 'out.txt', size: 5, partial: true, unchanged: false, error: null }],
    });
  });

  it.each([
    ['cancelled', 'sleep 600', async (handle: Handle) => handle.cancel()],
    [
      'prompt_failed',
      `${untilGo}; exit 1`,
      async (handle: Handle) => letGo(stand, (await progressOf(handle)).sandboxId),
    ],
  ])('that could not be read are not deleted with the sandbox: %s', async (outcome, then, end) => {
    const prompts = [{ prompt: script(`echo half > out.txt; ${then}`) }];
    const timing = { ...shortTiming, cleanUpMs: 16_000 };
    const handle = await stand.start({ ...work, prompts, end: 'delete', timing });
    await works(handle);
    change.readFile = () => Promise.reject(refusal('readFile', 503, 'unavailable', 'throttled_shortly'));
    await end(handle);
    const result = await handle.result();
    expect(result).toMatchObject({ outcome, stop: { status: 'completed', kept: 'saved' }, deletion: null });
    expect(result.left).toMatchObject([
      { kind: 'sandbox', sandboxId: result.sandboxId, why: expect.stringContaining('stopped and not deleted') },
    ]);
  });

  it('that could not be read are not deleted by a job that was reset, and has not come to its prompts again', async () => {
    const timing = { ...shortTiming, cleanUpMs: 16_000 };
    const handle = await stand.start({ ...work, end: 'delete', timing });
    await works(handle);
    let asked = 0;
    change.readFile = (_id, _path, options) => {
      asked += 1;
      return new Promise((_, reject) => options?.signal?.addEventListener('abort', reject));
    };
    const again = await resetToBeginning(stand, handle);
    // It reads the file before it looks for what the earlier run has sent.
    await expect.poll(() => asked).toBeGreaterThan(0);
    await again.cancel();
    const result = await again.result();
    expect(result).toMatchObject({
      outcome: 'cancelled',
      prompts: [{ status: 'interrupted' }],
      stop: { status: 'completed' },
      deletion: null,
    });
    expect(result.left).toMatchObject([
      { kind: 'sandbox', sandboxId: result.sandboxId, why: expect.stringContaining('stopped and not deleted') },
    ]);
  });

  it('that the job did not change are marked as unchanged', async () => {
    const put = [{ path: 'in.txt', content: { base64: Buffer.from('in').toString('base64') } }];
    const result = await run({
      put,
      collect: ['in.txt', 'new.txt'],
      prompts: [{ prompt: script('echo x > new.txt') }],
    });
    expect(result.files).toMatchObject([
      { path: 'in.txt', unchanged: true, partial: false },
      { path: 'new.txt', unchanged: false, partial: false },
    ]);
  });

  it('of a sandbox that somebody stopped are not awaited, and the outcome is sandbox_failed', async () => {
    // If the job waited for the files, or for its deadline, it would not end during the test.
    const handle = await stand.start({ ...work, timing: { ...shortTiming, cleanUpMs: 3_600_000 } });
    await works(handle);
    const { sandboxId } = await progressOf(handle);
    await stand.api.stopSandbox(sandboxId ?? '');
    const result = await handle.result();
    expect(result).toMatchObject({ outcome: 'sandbox_failed', files: [{ error: expect.any(String), partial: true }] });
  });
});

describe('the auto-stop of a sandbox', () => {
  it('of an existing sandbox is renewed to its current value, not to the one at the start', async () => {
    const { sandbox } = await stand.api.createSandbox({ name: 'shared', ttlSeconds: 900 });
    await expect.poll(async () => (await stand.api.getSandbox(sandbox.id)).sandbox.state).toBe('ready');
    const set: unknown[] = [];
    change.updateSandbox = (id, body, options) => {
      set.push(body);
      return stand.api.updateSandbox(id, body, options);
    };
    const handle = await stand.start({
      source: { kind: 'existing', sandboxId: sandbox.id },
      prompts: [{ prompt: script(untilGo) }],
      end: 'keep',
      ttlSeconds: 2,
    });
    await expect.poll(async () => (await progressOf(handle)).phase).toBe('following');
    // A renewal in progress may have read the previous value.
    const renewed = async () => {
      await stand.api.updateSandbox(sandbox.id, { ttlSeconds: 7_200 });
      set.length = 0;
      await expect.poll(() => set.length).toBeGreaterThan(0);
      return set[0];
    };
    await expect.poll(renewed).toEqual({ ttlSeconds: 7_200 });
    set.length = 0;
    await expect.poll(() => set.length).toBeGreaterThan(0);
    await letGo(stand, sandbox.id);
    await handle.result();
    expect(new Set(set.map((body) => JSON.stringify(body)))).toEqual(new Set(['{"ttlSeconds":7200}']));
  });

  it('ends the wait for a ready sandbox if it has archived it without a stop record', async () => {
    await stand.fault({ kind: 'webhook_drop', event: 'sandbox.ready' });
    change.getSandbox = async (id, options) => {
      const answer = await stand.api.getSandbox(id, options);
      return { ...answer, sandbox: { ...answer.sandbox, state: 'archived', stop: null } };
    };
    const result = await run({ timing: { ...shortTiming, cleanUpMs: 3_000 } });
    expect(result).toMatchObject({ outcome: 'sandbox_failed', error: { code: 'sandbox_stopped' } });
  });
});
