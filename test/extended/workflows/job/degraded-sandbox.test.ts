import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { progressOf } from '../../../workflows/job-progress.js';
import { createStand, type Stand, script } from '../../../workflows/workflow-harness.js';

const reason = 'a firewall rule blocks the tunnel';

let stand: Stand;
beforeAll(async () => {
  stand = await createStand();
});
afterAll(() => stand.close());

async function change(sandboxId: string, health: object): Promise<void> {
  const answer = await fetch(`${stand.service.adminUrl}/sandboxes/${sandboxId}`, {
    method: 'PATCH',
    headers: { authorization: 'Bearer test-key', 'content-type': 'application/json' },
    body: JSON.stringify(health),
  });
  expect(answer.ok, await answer.text()).toBe(true);
}

const stateOf = async (sandboxId: string) => (await stand.api.getSandbox(sandboxId)).sandbox.state;

describe('client rows: a job whose sandbox is degraded', () => {
  it('shows it in its progress and its result', async () => {
    const { sandbox } = await stand.api.createSandbox({ name: 'by hand' });
    await expect.poll(() => stateOf(sandbox.id)).toBe('ready');
    await change(sandbox.id, { health: 'degraded', reason });
    const source = { kind: 'existing', sandboxId: sandbox.id } as const;
    const handle = await stand.start({ source, end: 'keep', prompts: [{ prompt: script('read line < go') }], put: [] });
    const progress = () => progressOf(handle);
    await expect
      .poll(async () => (await progress()).degraded)
      .toMatchObject({
        sandboxId: sandbox.id,
        reason,
      });
    await handle.cancel();
    expect((await handle.result()).degraded).toMatchObject({
      sandboxId: sandbox.id,
      reason,
      since: expect.any(String),
    });
  });

  it('shows in its result what happened during the prompt, although the sandbox has recovered', async () => {
    const handle = await stand.start({ prompts: [{ prompt: script('while [ ! -e go ]; do sleep 0.1; done') }] });
    const sandboxId = async () => (await progressOf(handle)).sandboxId ?? '';
    await expect.poll(async () => (await progressOf(handle)).phase).toBe('following');
    const id = await sandboxId();
    await expect.poll(() => stateOf(id)).toBe('running');
    await change(id, { health: 'degraded', reason });
    const lists = () => stand.service.books.calls().filter(({ endpoint }) => endpoint === 'listSandboxes').length;
    const before = lists();
    await expect.poll(lists).toBeGreaterThan(before + 1);
    await change(id, { health: 'ok' });
    await stand.api.writeFile(id, { path: 'go', content: '' });
    expect(await handle.result()).toMatchObject({ outcome: 'completed', degraded: { sandboxId: id, reason } });
  });

  it('says nothing of a sandbox that was well', async () => {
    expect(await (await stand.start({})).result()).toMatchObject({ outcome: 'completed', degraded: null });
  });
});
