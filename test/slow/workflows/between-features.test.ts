/** Interactions of two features of a job: a cancel during a change of runs, an old read after a resume, a wrong answer. */
import { expect, it } from 'vitest';
import { ApiError, ConnectionError } from '../../../src/client/index.js';
import { sandboxEventSignal } from '../../../workflows/index.js';
import { shareChangedStand } from '../../workflows/changed-stand.js';
import { script, shortTiming } from '../../workflows/workflow-harness.js';

const { stand, change, restore } = shareChangedStand();

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const refused = (endpoint: 'sendPrompt' | 'listSandboxes') =>
  new ApiError(`${endpoint}: rate_limited`, {
    ...{ endpoint, status: 429, code: 'rate_limited', typed: true, meaning: 'throttled_shortly' },
    ...{ requestId: 'req_1', retryAfterMs: null, details: null },
  });
const stateOf = async (id: string | null) => (await stand.api.getSandbox(id ?? '')).sandbox.state;
const ready = async (name: string) => {
  const { sandbox } = await stand.api.createSandbox({ name, ttlSeconds: 900 });
  await expect.poll(() => stateOf(sandbox.id)).toBe('ready');
  return sandbox.id;
};

it('a cancel while a run continues as new ends the job and its sandbox', async () => {
  let hung = 0;
  change.updateSandbox = async (id, body, options) => {
    hung += 1;
    await sleep(4_000);
    return stand.api.updateSandbox(id, body, options);
  };
  const handle = await stand.start({
    prompts: [{ prompt: script('sleep 40') }],
    ttlSeconds: 4,
    maxHistoryEvents: 34,
    timing: { ...shortTiming, safetyPollFirstMs: 200, safetyPollGrowth: 1, safetyPollMaxMs: 200 },
  });
  await expect.poll(() => hung, { timeout: 15_000 }).toBeGreaterThan(0);
  // Queries and updates add to the history, which is long while the renewal hangs.
  // Its history is long while the renewal hangs.
  const event = { type: 'sandbox.hydrated', sandboxId: 'bx_none', sandboxName: 'x' } as const;
  for (let i = 0; i < 12; i += 1) {
    await handle.signal(sandboxEventSignal, { ...event, id: `evt_${i}`, createdAt: new Date().toISOString() });
  }
  await sleep(700);
  await handle.cancel();
  const result = await handle.result();
  expect(result).toMatchObject({ outcome: 'cancelled', stop: { status: 'completed' } });
});

it('a stop soon after a resume does not accept the state before the resume', async () => {
  const id = await ready('resumed-and-stopped');
  await stand.api.stopSandbox(id);
  await expect.poll(() => stateOf(id)).toBe('archived');
  const old = await stand.api.getSandbox(id);
  let resumedAt = Number.POSITIVE_INFINITY;
  change.resumeSandbox = async (...args) => {
    const answer = await stand.api.resumeSandbox(...args);
    resumedAt = Date.now();
    return answer;
  };
  change.getSandbox = async (...args) => {
    const age = Date.now() - resumedAt;
    return args[0] === id && age >= 0 && age < 5_000 ? old : stand.api.getSandbox(...args);
  };
  const handle = await stand.start({
    source: { kind: 'existing', sandboxId: id },
    end: 'stop',
    timing: { ...shortTiming, readLagMs: 8_000 },
  });
  const result = await handle.result();
  restore();
  expect(result).toMatchObject({ outcome: 'completed', stop: { status: 'completed' } });
  expect(await stateOf(id)).toBe('archived');
});

it('a prompt that may have been sent is not called not_sent after its repetition was refused', async () => {
  const id = await ready('shared-resend');
  let sent = 0;
  change.sendPrompt = async (...args) => {
    sent += 1;
    if (sent > 1) throw refused('sendPrompt');
    await stand.api.sendPrompt(...args);
    throw new ConnectionError('sendPrompt', true, 'UND_ERR_SOCKET');
  };
  const handle = await stand.start({
    source: { kind: 'existing', sandboxId: id },
    prompts: [{ prompt: script('sleep 30') }],
    end: 'keep',
    onUnknownOutcome: 'resend',
    deadlineMs: 18_000,
  });
  const result = await handle.result();
  expect(sent).toBeGreaterThan(1);
  expect(result).toMatchObject({
    outcome: 'deadline_exceeded',
    prompts: [{ status: 'unknown' }],
    left: [{ kind: 'prompt', sandboxId: id }],
  });
});

it('a cancel does not stop or rename a sandbox that an answer to the create wrongly named', async () => {
  const innocent = await ready('innocent');
  const touched: string[] = [];
  let lists = 0;
  let hides = true;
  change.createSandbox = async (body, options) => {
    await stand.api.createSandbox(body, options);
    return { ...(await stand.api.getSandbox(innocent)) } as never;
  };
  change.listAllSandboxes = async (...args) => {
    lists += 1;
    if (hides) throw refused('listSandboxes');
    return stand.api.listAllSandboxes(...args);
  };
  change.updateSandbox = (...args) => {
    touched.push(args[0]);
    return stand.api.updateSandbox(...args);
  };
  change.stopSandbox = (...args) => {
    touched.push(args[0]);
    return stand.api.stopSandbox(...args);
  };
  const handle = await stand.start({});
  await expect.poll(() => lists, { timeout: 10_000 }).toBeGreaterThan(0);
  await handle.cancel();
  const result = await handle.result();
  hides = false;
  expect(touched).not.toContain(innocent);
  expect(await stateOf(innocent)).toBe('ready');
  expect(result).toMatchObject({ outcome: 'cancelled', sandboxId: null });
  expect(result.left.map(({ sandboxName }) => sandboxName)).toContainEqual(expect.stringMatching(/-main-1$/));
});

it('the deadline does not wait for an unanswered renewal', async () => {
  change.updateSandbox = (_id, _body, options) =>
    new Promise((_, reject) => {
      options?.signal?.addEventListener('abort', () => reject(options.signal?.reason));
      setTimeout(() => reject(new ConnectionError('updateSandbox', true, 'x')), 100_000);
    });
  const handle = await stand.start({
    prompts: [{ prompt: script('sleep 60') }],
    ttlSeconds: 4,
    deadlineMs: 5_000,
    timing: { ...shortTiming, cleanUpMs: 10_000 },
  });
  const result = await handle.result();
  expect(result.outcome).toBe('deadline_exceeded');
  expect(result.durationMs).toBeLessThan(45_000);
});
