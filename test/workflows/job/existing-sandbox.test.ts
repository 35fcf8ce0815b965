import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sandboxWatchId } from '../../../src/addresses/addresses.js';
import { progressOf } from '../job-progress.js';
import { claimAs } from '../watch/lease-harness.js';
import { createStand, letGo, type Stand, script, untilGo, withoutPolls } from '../workflow-harness.js';

let stand: Stand;
beforeAll(async () => {
  stand = await createStand({ service: { timings: { hydrationMs: 4_000 } } });
});
afterAll(() => stand.close());

/** A manually created sandbox with a file in it. */
async function somebodysSandbox(state: 'usable' | 'archived'): Promise<string> {
  const { sandbox } = await stand.api.createSandbox({ name: 'by hand', ttlSeconds: 3_600 });
  const stateOf = async () => (await stand.api.getSandbox(sandbox.id)).sandbox.state;
  await expect.poll(stateOf).toBe('ready');
  await stand.api.writeFile(sandbox.id, { path: 'note', content: 'from before' });
  if (state === 'archived') {
    await stand.api.stopSandbox(sandbox.id);
    await expect.poll(stateOf).toBe('archived');
  }
  return sandbox.id;
}

const existing = (sandboxId: string) => ({ source: { kind: 'existing' as const, sandboxId }, end: 'keep' as const });
const readNote = [{ prompt: script('cat note') }];
const watchStatus = async (sandboxId: string) =>
  (await stand.client.workflow.getHandle(sandboxWatchId(sandboxId)).describe()).status.name;

describe('a job in an existing sandbox', () => {
  it('prompts it if it is usable, and leaves it as it was', async () => {
    const sandboxId = await somebodysSandbox('usable');
    const handle = await stand.start({ ...existing(sandboxId), prompts: readNote });
    const result = await handle.result();
    expect(result).toMatchObject({ outcome: 'completed', sandboxId, stop: null });
    const { times, machineType } = await progressOf(handle);
    expect(machineType).toBe('default');
    expect(times).toMatchObject({ createdAt: null });
    const steps = [times?.startedAt, times?.usableAt, times?.promptedAt, times?.answeredAt, times?.endingAt];
    expect(steps.map((time) => typeof time)).toEqual(steps.map(() => 'string'));
    expect([...steps].sort()).toEqual(steps);
    expect(result.prompts[0]?.result).toContain('from before');
    expect((await stand.api.getSandbox(sandboxId)).sandbox.state).toBe('idle');
  });

  it('takes no prompt of its history for its own if the answer was lost, and says why', async () => {
    const sandboxId = await somebodysSandbox('usable');
    await stand.fault({ kind: 'drop_response', endpoint: 'sendPrompt' });
    const input = { ...existing(sandboxId), prompts: readNote, onUnknownOutcome: 'abandon' as const };
    const result = await (await stand.start(input)).result();
    expect(result).toMatchObject({ outcome: 'outcome_unknown', prompts: [{ status: 'unknown', promptId: null }] });
    expect(result.error?.message).toContain('is no proof, because it also has the prompts of others');
    expect(stand.service.books.prompts({ sandboxId })).toHaveLength(1);
  });

  it('client rows: continues a conversation of it, without an auto-stop', async () => {
    const sandboxId = await somebodysSandbox('archived');
    const first = await (await stand.start({ ...existing(sandboxId), prompts: readNote, ttlSeconds: null })).result();
    expect((await stand.api.getSandbox(sandboxId)).sandbox.ttlSeconds).toBeNull();
    const conversationId = first.prompts[0]?.conversationId ?? '';
    const prompts = [...readNote, { prompt: 'And now?' }];
    const next = await (await stand.start({ ...existing(sandboxId), prompts, conversationId })).result();
    expect(next.outcome).toBe('completed');
    expect(next.prompts.map((prompt) => prompt.conversationId)).toEqual([conversationId, conversationId]);
    expect(new Set(stand.service.books.prompts({ sandboxId }).map((prompt) => prompt.conversationId)).size).toBe(1);
  });

  it('client rows: forks it without snapshots and monitoring, and leaves it as it was', async () => {
    const sandboxId = await somebodysSandbox('archived');
    const source = { kind: 'fork', sandboxId, snapshots: false, monitoring: false } as const;
    const result = await (await stand.start({ source, prompts: readNote, end: 'keep' })).result();
    expect(result.prompts[0]?.result).toContain('from before');
    const { sandbox } = await stand.api.getSandbox(result.sandboxId ?? '');
    expect(sandbox).toMatchObject({ snapshots: false, monitoring: false, ttlSeconds: 600 });
    expect((await stand.api.getSandbox(sandboxId)).sandbox.state).toBe('archived');
  });

  it('resumes it if it is archived, woken through the watch', async () => {
    const sandboxId = await somebodysSandbox('archived');
    const input = { ...existing(sandboxId), prompts: readNote, end: 'stop' as const, timing: withoutPolls };
    const result = await (await stand.start(input)).result();
    expect(result).toMatchObject({ outcome: 'completed', stop: { status: 'completed', kept: 'saved' } });
    expect(result.prompts[0]?.result).toContain('from before');
    expect(result.wakes.map(({ by, event }) => [by, event])).toEqual([
      ['webhook', 'sandbox.ready'],
      ['webhook', 'sandbox.archived'],
    ]);
    expect(stand.service.books.stops({ sandboxId })).toHaveLength(2);
  });

  it('waits until it is hydrated on request', async () => {
    const sandboxId = await somebodysSandbox('archived');
    const input = { ...existing(sandboxId), prompts: readNote, waitFor: 'hydrated', timing: withoutPolls } as const;
    const result = await (await stand.start(input)).result();
    expect(result.outcome).toBe('completed');
    const hydrated = result.wakes.find(({ waitedFor }) => waitedFor === 'hydrated');
    expect(hydrated).toMatchObject({ by: 'webhook', event: 'sandbox.hydrated' });
  });

  it('ends the watch when the last waiter has left', async () => {
    const sandboxId = await somebodysSandbox('usable');
    await (await stand.start({ ...existing(sandboxId), prompts: readNote })).result();
    await expect.poll(() => watchStatus(sandboxId)).toBe('COMPLETED');
  });

  it('is rejected if the sandbox does not exist, and leaves no watch open', async () => {
    const result = await (await stand.start(existing('bx_22222222'))).result();
    expect(result).toMatchObject({ outcome: 'rejected', error: { code: 'sandbox_not_found' }, sandboxId: null });
    await expect.poll(() => watchStatus('bx_22222222')).toBe('COMPLETED');
  });

  it('ends as sandbox_failed if somebody stops the sandbox under the prompt', async () => {
    const sandboxId = await somebodysSandbox('usable');
    const handle = await stand.start({ ...existing(sandboxId), prompts: [{ prompt: script('sleep 600') }] });
    await expect.poll(async () => (await stand.api.getSandbox(sandboxId)).sandbox.state).toBe('running');
    await stand.api.stopSandbox(sandboxId);
    expect(await handle.result()).toMatchObject({ outcome: expect.stringMatching(/sandbox_failed|prompt_failed/) });
  });
});

describe('a lease', () => {
  it('keeps a sandbox from being deleted while a job uses it', async () => {
    const sandboxId = await somebodysSandbox('usable');
    const handle = await stand.start({ ...existing(sandboxId), prompts: [{ prompt: script(untilGo) }] });
    await expect.poll(async () => (await progressOf(handle)).phase).toBe('following');
    const claim = await claimAs(stand, sandboxId, 'somebody');
    expect(claim).toEqual({ granted: false, claimedBy: [], leasedBy: [handle.workflowId] });
    await letGo(stand, sandboxId);
    await handle.result();
  });

  it.each(['stop', 'delete'] as const)('keeps another job from its --end %s while a job prompts', async (end) => {
    const sandboxId = await somebodysSandbox('usable');
    const prompts = [{ prompt: script(`${untilGo}; echo mine`) }];
    const borrower = await stand.start({ ...existing(sandboxId), prompts });
    await expect.poll(async () => (await progressOf(borrower)).phase).toBe('following');
    const ender = await stand.start({ ...existing(sandboxId), prompts: [], commands: ['true'], end });
    const result = await ender.result();
    expect(result).toMatchObject({ outcome: 'completed', stop: null, error: { code: 'sandbox_leased' } });
    expect(result.deletion?.status).toBe(end === 'delete' ? 'leased' : undefined);
    expect(result.left).toMatchObject([{ sandboxId, why: expect.stringContaining(borrower.workflowId) }]);
    await letGo(stand, sandboxId);
    expect(await borrower.result()).toMatchObject({ outcome: 'completed', prompts: [{ status: 'completed' }] });
  });

  it('of two jobs that prompt: a terminated one leaves the other its prompt', async () => {
    const sandboxId = await somebodysSandbox('usable');
    const same = { ...existing(sandboxId), prompts: [{ prompt: script(`${untilGo}; echo same`) }] };
    const [one, other] = await Promise.all([stand.start(same), stand.start(same)]);
    await expect.poll(() => stand.service.books.prompts({ sandboxId }).length).toBe(2);
    await other.terminate('test');
    await letGo(stand, sandboxId);
    expect(await one.result()).toMatchObject({ outcome: 'completed', prompts: [{ status: 'completed' }], left: [] });
    expect(stand.service.books.prompts({ sandboxId })).toHaveLength(2);
  });
});

describe('a named snapshot', () => {
  it('is a possible source of a job', async () => {
    const sandboxId = await somebodysSandbox('archived');
    await stand.api.updateSandbox(sandboxId, { snapshotName: 'prepared' });
    const source = { kind: 'create' as const, body: { from: 'prepared' } };
    const result = await (await stand.start({ source, prompts: readNote, waitFor: 'hydrated' })).result();
    expect(result.outcome).toBe('completed');
    expect(result.prompts[0]?.result).toContain('from before');
  });
});
