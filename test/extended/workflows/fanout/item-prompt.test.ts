import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { PromptRecord } from '../../../../activities/prompt/record.js';
import { executionOf, itemStep, itemWorkflowId } from '../../../../src/addresses/addresses.js';
import { fanoutPrefix } from '../../../../src/addresses/fanout-addresses.js';
import type { FanoutItemInput } from '../../../../src/protocol/fanout/fanout-input.js';
import type { fanoutItem } from '../../../../workflows/index.js';
import { progressOf } from '../../../workflows/job-progress.js';
import {
  createPlayedStand,
  lostAnswer,
  type PlayedStand,
  somebodysSandbox,
} from '../../../workflows/played-service.js';
import { heal } from '../../../workflows/stop/stop-harness.js';
import { deployment, jobInput, letGo, script, untilGo } from '../../../workflows/workflow-harness.js';

let stand: PlayedStand;
let key: string;
let sourceId: string;
beforeEach(async () => {
  stand = await createPlayedStand();
  key = `0198f000-0000-7000-8000-${randomBytes(6).toString('hex')}`;
  sourceId = await somebodysSandbox(stand);
});
afterEach(() => stand.close());

const text = script(`${untilGo}; echo through`);

function start(lookFirst: boolean) {
  const origin = {
    key,
    execution: executionOf(key),
    batchId: 'batch',
    step: itemStep(3),
    firstGeneration: 1,
    lookFirst,
  };
  const input: FanoutItemInput = {
    job: jobInput({
      ...{ jobId: 'batch', source: { kind: 'fork', sandboxId: sourceId }, prompts: [{ prompt: text }] },
      ...{ onUnknownOutcome: 'abandon', origin },
    }),
    ...{
      batchId: 'batch',
      itemId: 'item 3',
      index: 3,
      labels: {},
      type: 'default',
      queuedAt: new Date().toISOString(),
    },
    ...{ resultPrefix: `fanout/sf-${deployment}-batch/${key}/items/3`, chunkWorkflowId: 'nobody' },
  };
  return stand.client.workflow.start<typeof fanoutItem>('fanoutItem', {
    workflowId: itemWorkflowId(deployment, 'batch', 3),
    taskQueue: stand.taskQueue,
    args: [input],
  });
}
const promptStatus = async (handle: Awaited<ReturnType<typeof start>>) => (await progressOf(handle)).prompts[0]?.status;
/** What the record of the prompt says, which a second run reads. */
async function recordedPhase(): Promise<string | undefined> {
  const [record] = await stand.results.list(`${fanoutPrefix(deployment, 'batch', key)}/sent`);
  return record && (JSON.parse(String(await stand.results.get(record.ref))) as PromptRecord).phase;
}
/** The service refuses the prompt until the fault is healed, and no second attempt of the activity replaces the record. */
const refusePrompt = () =>
  stand.fault({
    ...{ kind: 'error', endpoint: 'sendPrompt', status: 429, code: 'rate_limited' },
    retryAfterSeconds: 3_600,
  });
/** Lets the agent of the fork end. */
const release = () => letGo(stand, promptsSent()[0]?.sandboxId);
const promptsSent = () => stand.service.books.prompts().filter(({ sandboxId }) => sandboxId !== sourceId);

describe('a second run of an item', () => {
  it('continues with the first prompt, in a fork that the list omits', async () => {
    stand.play({ listAllSandboxes: async () => [] });
    const first = await start(false);
    await expect.poll(() => promptStatus(first)).toBe('queued');
    await first.terminate();
    await release();
    const second = await (await start(true)).result();
    expect(second).toMatchObject({ outcome: 'completed', generation: 1 });
    expect(promptsSent()).toHaveLength(1);
  });

  it('does not repeat what the first run may have sent, and adopts what arrived', async () => {
    let arrive: () => void = () => undefined;
    const terminated = new Promise<void>((resolve) => (arrive = resolve));
    let calls = 0;
    stand.play({
      sendPrompt: async (id, body) => {
        calls += 1;
        await terminated;
        // It arrives after the run that sent it has ended.
        await stand.api.sendPrompt(id, body);
        throw lostAnswer('sendPrompt');
      },
    });
    const first = await start(false);
    await expect.poll(() => calls).toBe(1);
    await first.terminate();
    const second = await start(true);
    arrive();
    await expect.poll(() => promptsSent().length).toBe(1);
    await release();
    expect(await second.result()).toMatchObject({ outcome: 'completed' });
    expect([promptsSent().length, calls]).toEqual([1, 1]);
  });

  it('adopts a stopped fork that the list omits, and does not prompt another', async () => {
    stand.play({ listAllSandboxes: async () => [] });
    const first = await start(false);
    await expect.poll(() => promptStatus(first)).toBe('queued');
    const [sent] = promptsSent();
    await first.terminate();
    await release();
    const state = async () => (await stand.api.getSandbox(sent?.sandboxId ?? '')).sandbox.state;
    const phase = () => promptsSent()[0]?.status;
    await expect.poll(phase).toBe('completed');
    await stand.api.stopSandbox(sent?.sandboxId ?? '');
    await expect.poll(state).toBe('archived');
    expect(await (await start(true)).result()).toMatchObject({ outcome: 'completed', generation: 1 });
    expect(promptsSent()).toHaveLength(1);
  });

  describe('an item whose fork is gone', () => {
    const secondRun = async (first: Awaited<ReturnType<typeof start>>) => {
      await first.terminate();
      const fork = stand.service.books.sandboxes().find(({ id }) => id !== sourceId);
      await stand.api.deleteSandbox(fork?.id ?? '');
      await heal(stand);
      return start(true);
    };

    it('works in another fork if the records show that the first was never prompted', async () => {
      await refusePrompt();
      const first = await start(false);
      await expect.poll(() => recordedPhase()).toBe('not_sent');
      const second = await secondRun(first);
      await expect.poll(() => promptsSent().length).toBe(1);
      await release();
      expect(await second.result()).toMatchObject({ outcome: 'completed', generation: 2 });
      expect(promptsSent()).toHaveLength(1);
    });

    it('does not if it was prompted', async () => {
      const first = await start(false);
      await expect.poll(() => promptStatus(first)).toBe('queued');
      expect(await (await secondRun(first)).result()).toMatchObject({ outcome: 'outcome_unknown' });
      expect(promptsSent()).toHaveLength(1);
    });
  });

  it('sends at once if the record says that it was not sent, or there is none', async () => {
    await refusePrompt();
    const first = await start(false);
    await expect.poll(() => recordedPhase()).toBe('not_sent');
    await first.terminate();
    const second = await start(true);
    await expect.poll(() => promptsSent().length).toBe(1);
    await release();
    expect(await second.result()).toMatchObject({ outcome: 'completed' });
    expect(promptsSent()).toHaveLength(1);
  });
});
