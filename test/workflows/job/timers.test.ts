import { NativeConnection } from '@temporalio/worker';
import { afterEach, describe, expect, inject, it } from 'vitest';
import { ApiError, createSandboxClient, type SandboxClient } from '../../../src/client/index.js';
import { createSandflowWorker } from '../../../src/worker/index.js';
import { progressQuery, resolveUpdate } from '../../../workflows/index.js';
import { createStand, letGo, type Stand, script, untilGo } from '../workflow-harness.js';

type Shown = Awaited<ReturnType<SandboxClient['updateSandbox']>>;
const longAgoMs = Date.UTC(2026, 0, 1);
const stoppingAt = (answer: Shown, atMs: number): Shown => ({
  ...answer,
  sandbox: { ...answer.sandbox, archiveAfter: new Date(atMs).toISOString() },
});
const withoutMove = (answer: Shown) => stoppingAt(answer, longAgoMs);
/** The auto-stop counts from the start of the sandbox. */
const fromItsStart = (answer: Shown) => stoppingAt(answer, longAgoMs + (answer.sandbox.ttlSeconds ?? 0) * 1_000);
const refusal = new ApiError('The key needs sandbox.update.', {
  ...{ endpoint: 'updateSandbox', status: 403, code: 'api_key_action_forbidden', typed: true, meaning: 'permanent' },
  ...{ requestId: null, retryAfterMs: null, details: null },
});

let stand: Stand | undefined;
afterEach(async () => {
  await stand?.close();
  stand = undefined;
});

describe('a job', () => {
  it.each([
    ['renews it', 'renews'],
    ['does not change it', 'ignored'],
    ['is refused as no change', 'refused'],
  ] as const)('S11: keeps its sandbox alive while nothing runs in it, if the same auto-stop %s', async (_, sameTtl) => {
    stand = await createStand({ service: { profile: { sameTtl } } });
    const { adminUrl, books } = stand.service;
    // The clock of the service stands still, so that the auto-stop comes only if no renewal comes between its moves.
    const setClock = async (set: object) => {
      const headers = { authorization: 'Bearer test-key', 'content-type': 'application/json' };
      const answer = await fetch(`${adminUrl}/clock`, { method: 'POST', headers, body: JSON.stringify(set) });
      expect(answer.ok, await answer.text()).toBe(true);
    };
    const stateOf = () => books.sandboxes()[0]?.state;
    await setClock({ held: true });
    await stand.fault({ kind: 'error', endpoint: 'sendPrompt', status: 502, html: true });
    const handle = await stand.start({ ttlSeconds: 6 });
    await expect.poll(stateOf).toBe('provisioning');
    await setClock({ advanceSeconds: 0.5 });
    await expect.poll(stateOf).toBe('ready');
    const blocked = async () => (await handle.query(progressQuery)).blocked?.reason;
    await expect.poll(blocked).toBe('outcome_unknown');
    const { sandboxId } = await handle.query(progressQuery);
    const { api } = stand;
    const read = async () => (await api.getSandbox(sandboxId ?? '')).sandbox;
    const stopsAt = async () => Date.parse((await read()).archiveAfter ?? '');
    const first = await stopsAt();
    for (let moves = 1; moves <= 3; moves += 1) {
      await setClock({ advanceSeconds: 4 });
      expect((await read()).state).toBe('ready');
      await expect.poll(stopsAt).toBeGreaterThanOrEqual(first + moves * 4_000);
    }
    await setClock({ held: false });
    await handle.executeUpdate(resolveUpdate, { args: [{ action: 'resend' }] });
    expect((await handle.result()).outcome).toBe('completed');
  });

  it.each([
    ['accepts without an effect', async (answer: () => Promise<Shown>) => withoutMove(await answer()), 'does not move'],
    [
      'moves by no more than the length changes',
      async (answer: () => Promise<Shown>) => fromItsStart(await answer()),
      'does not move',
    ],
    ['refuses', () => Promise.reject(refusal), 'needs sandbox.update'],
  ])('D4: says while it works if the service %s what should renew the auto-stop', async (_, play, why) => {
    let isPlayed = true;
    stand = await createStand({
      through: (client) => ({
        ...client,
        updateSandbox: (...call) => {
          const answer = () => client.updateSandbox(...call);
          return isPlayed ? play(answer) : answer();
        },
      }),
    });
    const prompts = [{ prompt: script(untilGo) }];
    const handle = await stand.start({ ttlSeconds: 8, prompts });
    const unrenewed = async () => (await handle.query(progressQuery)).autoStop;
    await expect.poll(unrenewed).toMatchObject({ message: expect.stringContaining(why), since: expect.any(String) });
    isPlayed = false;
    await expect.poll(unrenewed).toBeNull();
    await letGo(stand, (await handle.query(progressQuery)).sandboxId);
    expect((await handle.result()).outcome).toBe('completed');
  });

  it('waits visibly while the key is refused, reads it again, and continues', async () => {
    stand = await createStand();
    let apiKey = 'revoked';
    const client = createSandboxClient({ baseUrl: stand.service.url, apiKey: () => apiKey });
    const taskQueue = `${stand.taskQueue}-other-key`;
    const connection = await NativeConnection.connect({ address: inject('temporalAddress') });
    const workflowBundle = { codePath: inject('workflowBundlePath') };
    const worker = await createSandflowWorker({
      connection,
      client,
      results: stand.results,
      taskQueue,
      workflowBundle,
    });
    const running = worker.run();
    try {
      const handle = await stand.start({}, { taskQueue });
      const message = async () => (await handle.query(progressQuery)).blocked?.message;
      await expect.poll(message).toContain('unauthorized');
      apiKey = 'test-key';
      expect((await handle.result()).outcome).toBe('completed');
    } finally {
      worker.shutdown();
      await running;
      await connection.close();
      await client.close();
    }
  });

  it('continues in another worker when its own one shuts down, which gives it back at once', async () => {
    stand = await createStand();
    const handle = await stand.start({ prompts: [{ prompt: script(`${untilGo}; echo done`) }] });
    const follow = async () => {
      const { pendingActivities } = (await handle.describe()).raw;
      return pendingActivities?.find(({ activityType }) => activityType?.name === 'followPrompt');
    };
    // A follow that is only on its way to the worker is not followed yet. Its first heartbeat shows that it is.
    await expect.poll(async () => (await follow())?.lastHeartbeatTime).toBeTruthy();
    await stand.restartWorker(async () => {
      // The worker has given the follow back: it is not awaited until its heartbeats are missed.
      const given = await follow();
      expect(given?.attempt).toBeGreaterThan(1);
      expect(given?.lastFailure?.timeoutFailureInfo ?? null).toBeNull();
    });
    await letGo(stand, (await handle.query(progressQuery)).sandboxId);
    const result = await handle.result();
    expect(result).toMatchObject({ outcome: 'completed', prompts: [{ status: 'completed' }] });
    expect(stand.service.books.prompts()).toHaveLength(1);
  });

  it('shows its progress in the Temporal UI', async () => {
    stand = await createStand();
    const handle = await stand.start({ prompts: [{ prompt: script(untilGo) }] });
    const details = async () =>
      ((await handle.query('__temporal_workflow_metadata')) as { currentDetails?: string }).currentDetails;
    await expect.poll(details).toMatch(/following.*Sandbox bx_/s);
    await letGo(stand, (await handle.query(progressQuery)).sandboxId);
    await handle.result();
    expect(await details()).toMatch(/ended.*Outcome: completed/s);
  });

  it('U22: shows its outcome and its error in the Temporal UI after its end', async () => {
    stand = await createStand();
    const handle = await stand.start({ prompts: [{ prompt: script('exit 3') }] });
    const { error } = await handle.result();
    const metadata = (await handle.query('__temporal_workflow_metadata')) as { currentDetails?: string };
    expect(metadata.currentDetails).toContain(`Outcome: prompt_failed\n\nError: ${error?.code}: ${error?.message}`);
  });
});
