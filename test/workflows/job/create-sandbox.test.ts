/** A job distinguishes its own sandbox from others, and forgets none, whatever an answer or a person says. */

import { ApplicationFailure } from '@temporalio/common';
import { expect, it } from 'vitest';
import { outcomeUnknown } from '../../../activities/retry/classify.js';
import { resolveUpdate } from '../../../workflows/index.js';
import { shareChangedStand } from '../changed-stand.js';
import { clean, policyFor } from '../cleanup/cleanup-harness.js';
import { progressOf } from '../job-progress.js';
import { claimAs } from '../watch/lease-harness.js';
import { letGo, script, shortTiming, untilGo } from '../workflow-harness.js';

const { stand, change } = shareChangedStand();

const missing = { kind: 'error', status: 404, code: 'sandbox_not_found' } as const;
const stateOf = async (id: string | null | undefined) => (await stand.api.getSandbox(id ?? '')).sandbox.state;

it('a sandbox that the answer to a create wrongly named is not adopted if the list omits the job’s own', async () => {
  const { sandbox: innocent } = await stand.api.createSandbox({ name: 'made a moment ago' });
  const touched: string[] = [];
  let answers = 0;
  change.createSandbox = async (body, options) => {
    const own = await stand.api.createSandbox(body, options);
    answers += 1;
    return answers === 1 ? { ...own, sandbox: innocent } : own;
  };
  change.listAllSandboxes = async (...args) =>
    (await stand.api.listAllSandboxes(...args)).filter(({ name }) => name === innocent.name);
  for (const name of ['updateSandbox', 'stopSandbox', 'sendPrompt'] as const) {
    change[name] = (id: string, ...rest: never[]) => {
      touched.push(id);
      return (stand.api[name] as (id: string, ...rest: never[]) => never)(id, ...rest);
    };
  }
  const result = await (await stand.start({})).result();
  expect(result).toMatchObject({ outcome: 'completed', left: [] });
  expect(new Set(touched)).toEqual(new Set([result.sandboxId]));
  expect(result.sandboxId).not.toBe(innocent.id);
  expect((await stand.api.getSandbox(innocent.id)).sandbox).toMatchObject({ name: innocent.name, state: 'ready' });
});

it('a 404 to a deletion counts as a lag until it has lasted, and the deletion is requested again', async () => {
  await stand.fault({ ...missing, endpoint: 'deleteSandbox', times: 1 });
  const result = await (await stand.start({ end: 'delete' })).result();
  expect(result).toMatchObject({ outcome: 'completed', deletion: { status: 'completed' }, left: [] });
});

it.each([
  // A deletion is requested four times.
  ['deleteSandbox', 'delete', 'The deletion was last seen failed', 240_000],
  ['stopSandbox', 'stop', 'The stop was not accepted', 6_000],
] as const)('a sandbox that %s never finds, and reads show, is named in the result', async (...row) => {
  const [endpoint, end, why, cleanUpMs] = row;
  await stand.fault({ ...missing, endpoint, times: 1_000 });
  const timing = { ...shortTiming, readLagMs: 500, cleanUpMs };
  const result = await (await stand.start({ end, timing })).result();
  expect(result).toMatchObject({
    outcome: 'completed',
    error: { code: 'clean_up_unfinished' },
    left: [{ kind: 'sandbox', sandboxId: result.sandboxId, why: expect.stringContaining(why) }],
  });
});

it('a sandbox whose stop was cancelled at the moment of its call is named in the result', async () => {
  change.stopSandbox = () => {
    throw ApplicationFailure.nonRetryable('A cancel came before the stop was sent', 'not_sent');
  };
  const result = await (await stand.start({})).result();
  expect(result).toMatchObject({
    outcome: 'completed',
    error: { code: 'clean_up_unfinished' },
    left: [{ kind: 'sandbox', sandboxId: result.sandboxId }],
  });
});

it('a stop whose call fails after the cleanup time is reported as out of time, not by its failure', async () => {
  const handle = await stand.start({ timing: { ...shortTiming, cleanUpMs: 3_000 } });
  const isCancelRequested = async () =>
    (await handle.fetchHistory()).events?.some((event) => event.activityTaskCancelRequestedEventAttributes) ?? false;
  change.stopSandbox = async () => {
    await expect.poll(isCancelRequested).toBe(true);
    return await stand.api.stopSandbox('bx_00000000');
  };
  expect(await handle.result()).toMatchObject({
    outcome: 'completed',
    error: { code: 'clean_up_unfinished' },
    left: [{ kind: 'sandbox' }],
  });
});

it('a create that is repeated by decision has its own generation beyond the limit', async () => {
  let sent = 0;
  change.createSandbox = (...args) => {
    sent += 1;
    if (sent > 1) return stand.api.createSandbox(...args);
    throw outcomeUnknown('The create was first sent more than 23 hours ago.', { endpoint: 'createSandbox' });
  };
  const handle = await stand.start({ maxGenerations: 1 });
  await expect.poll(async () => (await progressOf(handle)).blocked?.reason).toBe('outcome_unknown');
  await handle.executeUpdate(resolveUpdate, { args: [{ action: 'resend' }] });
  expect(await handle.result()).toMatchObject({
    outcome: 'completed',
    sandboxName: expect.stringMatching(/-main-2$/),
    left: [{ sandboxId: null, sandboxName: expect.stringMatching(/-main-1$/) }],
  });
});

it('a sandbox is ended if its create was not answered, and later calls are refused', async () => {
  const refused = { kind: 'error', endpoint: 'createSandbox' } as const;
  await stand.fault({ kind: 'drop_response', endpoint: 'createSandbox' });
  await stand.fault({ ...refused, status: 429, code: 'rate_limited' });
  await stand.fault({ ...refused, status: 403, code: 'forbidden' });
  const handle = await stand.start({ end: 'stop' });
  const result = await handle.result();
  expect(result.outcome).toBe('rejected');
  const [sandbox] = stand.service.books.sandboxes().filter(({ name }) => name.includes(handle.workflowId));
  const isNamed = result.left.some(({ sandboxName }) => sandboxName === sandbox?.name);
  expect(isNamed || sandbox?.state === 'archived').toBe(true);
});

it('a job counts every attempt of its own calls', async () => {
  const error = { kind: 'error', status: 503, code: 'http_500', times: 2 } as const;
  for (const endpoint of ['createSandbox', 'listEvents', 'runCommand', 'stopSandbox'] as const)
    await stand.fault({ ...error, endpoint });
  const before = stand.service.books.calls().length;
  const result = await (await stand.start({ commands: ['true'] })).result();
  // All follows of jobs share the list.
  const own = stand.service.books.calls().filter(({ endpoint }, at) => at >= before && endpoint !== 'listSandboxes');
  expect(result).toMatchObject({ outcome: 'completed', apiCalls: own.length });
});

it('a sandbox that another job works in is not stopped, and is named', async () => {
  const owner = await stand.start({ prompts: [{ prompt: script(`${untilGo}; echo mine`) }] });
  await expect.poll(async () => (await progressOf(owner)).phase).toBe('following');
  const { sandboxId } = await progressOf(owner);
  const guest = await stand.start({
    source: { kind: 'existing', sandboxId: sandboxId ?? '' },
    prompts: [],
    commands: ['touch began; until [ -e done ]; do sleep 0.1; done; echo theirs'],
    end: 'keep',
  });
  const began = () =>
    stand.api.readFile(sandboxId ?? '', 'began').then(
      () => true,
      () => false,
    );
  await expect.poll(began).toBe(true);
  await letGo(stand, sandboxId);
  const result = await owner.result();
  expect(result).toMatchObject({
    outcome: 'completed',
    error: { code: 'sandbox_leased' },
    left: [{ kind: 'sandbox', sandboxId, why: expect.stringContaining(guest.workflowId) }],
  });
  await stand.api.writeFile(sandboxId ?? '', { path: 'done', content: '' });
  expect(await guest.result()).toMatchObject({ outcome: 'completed' });
});

it('a sandbox that another job has worked in is stopped', async () => {
  const owner = await stand.start({ prompts: [{ prompt: script(`${untilGo}; echo mine`) }] });
  await expect.poll(async () => (await progressOf(owner)).phase).toBe('following');
  const { sandboxId } = await progressOf(owner);
  const source = { kind: 'existing', sandboxId: sandboxId ?? '' } as const;
  const guest = await stand.start({ source, prompts: [], commands: ['echo theirs'], end: 'keep' });
  expect(await guest.result()).toMatchObject({ outcome: 'completed' });
  await letGo(stand, sandboxId);
  expect(await owner.result()).toMatchObject({ outcome: 'completed', stop: { status: 'completed' }, left: [] });
});

it('a sandbox that a person has renamed is leased, so no cleanup stops it by its new name', async () => {
  // The job renews its auto-stop soon, and the sandbox has a longer one, which a busy machine does not miss.
  const longTtl = { ttlSeconds: 600 };
  change.createSandbox = (body, options) => stand.api.createSandbox({ ...body, ...longTtl }, options);
  change.updateSandbox = (id, body, options) => stand.api.updateSandbox(id, { ...body, ...longTtl }, options);
  const handle = await stand.start({ prompts: [{ prompt: script(untilGo) }], ttlSeconds: 4 });
  await expect.poll(async () => (await progressOf(handle)).phase).toBe('following');
  const { sandboxId } = await progressOf(handle);
  await stand.api.updateSandbox(sandboxId ?? '', { name: 'renamed-by-hand' });
  await expect
    .poll(async () => (await claimAs(stand, sandboxId ?? '', 'somebody', 1)).leasedBy)
    .toEqual([handle.workflowId]);
  const done = await clean(stand, policyFor('renamed', 'stop'));
  expect(done.of(sandboxId ?? '')).toBe('skipped: leased');
  await letGo(stand, sandboxId);
  expect(await handle.result()).toMatchObject({ outcome: 'completed', left: [] });
  expect(await stateOf(sandboxId)).toBe('archived');
});
