/** The auto-stop of a sandbox is renewed while its job works, in whatever way the service lets it. */

import { describe, it, type TestContext } from 'vitest';
import type { DeviationName } from '../../../../local-service/src/index.js';
import { ApiError, type SandboxClient } from '../../../../src/client/index.js';
import { resolveUpdate } from '../../../../workflows/index.js';
import { progressOf } from '../../../workflows/job-progress.js';
import { createStand, letGo, type StandOptions, script, untilGo } from '../../../workflows/workflow-harness.js';

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

async function standWith(onTestFinished: TestContext['onTestFinished'], options: StandOptions) {
  const stand = await createStand(options);
  onTestFinished(() => stand.close());
  return stand;
}

describe.concurrent('a job', () => {
  it.for([
    ['renews it', []],
    ['does not change it', ['A-auto-stop-renewal']],
    ['is refused as no change', ['A-auto-stop-renewal.refused']],
  ] as [string, DeviationName[]][])(
    'S11: keeps its sandbox alive while nothing runs in it, if the same auto-stop %s',
    async ([, deviations], { expect, onTestFinished }) => {
      const stand = await standWith(onTestFinished, { service: { deviations } });
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
      const blocked = async () => (await progressOf(handle)).blocked?.reason;
      await expect.poll(blocked).toBe('outcome_unknown');
      const { sandboxId } = await progressOf(handle);
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
    },
  );

  it.for<[string, (answer: () => Promise<Shown>) => Promise<Shown>, string]>([
    ['accepts without an effect', async (answer) => withoutMove(await answer()), 'does not move'],
    ['moves by no more than the length changes', async (answer) => fromItsStart(await answer()), 'does not move'],
    ['refuses', () => Promise.reject(refusal), 'needs sandbox.update'],
  ])(
    'says while it works if the service %s what should renew the auto-stop',
    async ([, play, why], { expect, onTestFinished }) => {
      let isPlayed = true;
      const stand = await standWith(onTestFinished, {
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
      const unrenewed = async () => (await progressOf(handle)).autoStop;
      await expect.poll(unrenewed).toMatchObject({ message: expect.stringContaining(why), since: expect.any(String) });
      isPlayed = false;
      await expect.poll(unrenewed).toBeNull();
      await letGo(stand, (await progressOf(handle)).sandboxId);
      expect((await handle.result()).outcome).toBe('completed');
    },
  );
});
