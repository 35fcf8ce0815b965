import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { itemWorkflowId } from '../../../../src/addresses/addresses.js';
import { fanoutPlaces, fanoutPrefix, itemRecords } from '../../../../src/addresses/fanout-addresses.js';
import type { FanoutPolicy } from '../../../../src/protocol/fanout/fanout-input.js';
import { resolveUpdate } from '../../../../src/protocol/messages.js';
import { fanoutProgress } from '../../../../src/workflow-client/fanouts/fanout-client.js';
import { resumeFanout } from '../../../../src/workflow-client/fanouts/resume-fanout.js';
import {
  archivedSandbox,
  batchOf,
  chunkOf,
  ended,
  fanoutInput,
  forks,
  items,
  leftForks,
  lines,
  promptedForks,
  source,
  storedResults,
  submit,
} from '../../../workflows/fanout/fanout-harness.js';
import { changed } from '../../../workflows/fanout/source-harness.js';
import { progressOf } from '../../../workflows/job-progress.js';
import { heal } from '../../../workflows/stop/stop-harness.js';
import { createStand, deployment, letGo, type Stand, untilGo } from '../../../workflows/workflow-harness.js';

let stand: Stand;
let sandboxId: string;
/** Forks that the list omits (trap S13). */
const hidden = new Set<string>();
beforeAll(async () => {
  stand = await createStand({
    worker: { forksPerSecond: 1_000 },
    through: (client) => ({
      ...client,
      async listSandboxes(...args) {
        const answer = await client.listSandboxes(...args);
        return { ...answer, sandboxes: answer.sandboxes.filter(({ name }) => !hidden.has(name ?? '')) };
      },
      async listAllSandboxes(...args) {
        return (await client.listAllSandboxes(...args)).filter(({ name }) => !hidden.has(name ?? ''));
      },
    }),
  });
  sandboxId = await archivedSandbox(stand);
});
afterAll(() => stand.close());

const itemOf = (input: { readonly batchId: string }, index: number) =>
  stand.client.workflow.getHandle(itemWorkflowId(deployment, input.batchId, index));

/** Waits until the work of an item is stored and its fork is not archived yet. */
async function untilArchival(input: ReturnType<typeof fanoutInput>): Promise<string> {
  const { batchKey } = await fanoutProgress(stand.client, input);
  const stored = async () => (await storedResults(stand, { ...input, batchKey }))[0]?.times.endedAt;
  const isWorked = async () => (await storedResults(stand, { ...input, batchKey }))[0]?.outcome;
  await expect.poll(isWorked).toBe('completed');
  expect(await stored()).toBe(null);
  return batchKey;
}

describe('an item whose workflow is terminated while its fork is being archived', () => {
  it('is not prompted again: its result exists, and its fork is followed to its end', async () => {
    await stand.fault({ kind: 'stop_fails', times: 1_000 });
    const input = await submit(stand, fanoutInput(source(sandboxId), { policy: { end: 'stop' } }), items(1));
    await untilArchival(input);
    await itemOf(input, 0).terminate();
    await heal(stand);
    const result = await ended(stand, input);
    expect(result).toMatchObject({ outcome: 'completed', counts: { completed: 1, retried: 0 }, left: [] });
    expect(promptedForks(stand, input)).toEqual(['i0-1']);
    const [line] = await lines(stand, result);
    expect(line).toMatchObject({ generation: 1, outcome: 'completed', job: { stop: { status: 'completed' } } });
    expect([line?.times.endedAt, leftForks(stand, input)]).toEqual([expect.any(String), []]);
  });

  it('is ended, with its chunk and batch, when the batch is resumed, and its result is kept', async () => {
    await stand.fault({ kind: 'stop_fails', times: 1_000 });
    const input = await submit(stand, fanoutInput(source(sandboxId), { policy: { end: 'stop' } }), items(1));
    await untilArchival(input);
    const all = [batchOf(stand, input), chunkOf(stand, input, 0), itemOf(input, 0)];
    await Promise.all(all.map((workflow) => workflow.terminate()));
    await heal(stand);
    await resumeFanout(stand.client, input, { taskQueue: stand.taskQueue });
    const result = await ended(stand, input);
    expect(result).toMatchObject({ outcome: 'completed', counts: { completed: 1 }, left: [] });
    expect(promptedForks(stand, input)).toEqual(['i0-1']);
    expect((await lines(stand, result))[0]).toMatchObject({ generation: 1, job: { stop: { status: 'completed' } } });
  });
});

it('a prompt is followed in a fork that the list omits, and not prompted there again', async () => {
  const input = await submit(
    stand,
    fanoutInput(source(sandboxId)),
    items(1, () => `${untilGo}; echo at last`),
  );
  await expect.poll(() => promptedForks(stand, input)).toEqual(['i0-1']);
  for (const { name } of forks(stand, input)) hidden.add(name);
  await itemOf(input, 0).terminate();
  const again = async () => (await itemOf(input, 0).describe()).status.name;
  await expect.poll(again).toBe('RUNNING');
  await letGo(stand, forks(stand, input)[0]?.id);
  const result = await ended(stand, input);
  expect(result).toMatchObject({ outcome: 'completed', counts: { completed: 1 } });
  expect(promptedForks(stand, input)).toEqual(['i0-1']);
});

describe('a resumed batch with another size and auto-stop, whose stopped fork the list omits', () => {
  /** Terminates batch, chunk and item while the item works. */
  async function cutShort() {
    const abandon = { policy: { onUnknownOutcome: 'abandon' } } as const;
    const input = await submit(
      stand,
      fanoutInput(source(sandboxId), abandon),
      items(1, () => `${untilGo}; echo done`),
    );
    await expect.poll(() => promptedForks(stand, input)).toEqual(['i0-1']);
    const { batchKey } = await fanoutProgress(stand.client, input);
    const all = [batchOf(stand, input), chunkOf(stand, input, 0), itemOf(input, 0)];
    await Promise.all(all.map((workflow) => workflow.terminate()));
    const fork = forks(stand, input)[0] as { readonly id: string; readonly name: string };
    await letGo(stand, fork.id);
    const ofItem = () => stand.service.books.prompts({ sandboxId: fork.id });
    await expect.poll(() => ofItem()[0]?.status).toBe('completed');
    hidden.add(fork.name);
    await stand.api.stopSandbox(fork.id);
    const state = async () => (await stand.api.getSandbox(fork.id)).sandbox.state;
    await expect.poll(state).toBe('archived');
    return {
      input,
      fork,
      key: itemRecords(fanoutPlaces({ ...input, batchKey }).item(0)).key(1),
      promptKey: `${fanoutPrefix(deployment, input.batchId, batchKey)}/sent/i0/${fork.id}/0/record.json`,
    };
  }
  const resume = (input: ReturnType<typeof fanoutInput>, policy: Partial<FanoutPolicy> = {}) =>
    resumeFanout(stand.client, input, {
      taskQueue: stand.taskQueue,
      policy: { ttlSeconds: 1_200, type: 'large', ...policy },
    });
  /** What the item wrote of its fork or of its prompt before it was terminated. */
  const recordOf = async (key: string) =>
    JSON.parse((await stand.results.get(`file-store:${key}`)).toString('utf8')) as Readonly<Record<string, unknown>>;
  const rewrite = async (key: string, over: object) =>
    stand.results.put(key, Buffer.from(JSON.stringify({ ...(await recordOf(key)), ...over })));
  const dayAgo = () => ({ firstSentAtMs: Date.now() - 25 * 3_600_000 });

  /** Resumes the batch, whose item then asks for its fork. @returns what names it */
  async function asked(input: ReturnType<typeof fanoutInput>) {
    await resume(input, { onUnknownOutcome: 'wait' });
    const item = itemOf(input, 0);
    const blocked = async () => (await progressOf(item)).blocked;
    await expect.poll(blocked).toMatchObject({ reason: 'outcome_unknown', step: 'create' });
    return (id: string) => item.executeUpdate(resolveUpdate, { args: [{ action: 'sent', sandboxId: id }] });
  }

  it('requests the fork with the original body, and adopts what was done in it', async () => {
    const { input } = await cutShort();
    await resume(input);
    const result = await ended(stand, input);
    expect(result).toMatchObject({ outcome: 'completed', counts: { completed: 1 }, left: [] });
    expect([promptedForks(stand, input), forks(stand, input).length]).toEqual([['i0-1'], 1]);
    expect((await lines(stand, result))[0]).toMatchObject({ generation: 1, outcome: 'completed' });
  });

  it('reports an unknown outcome for a fork that was requested more than a day ago, and creates no second one', async () => {
    const { input, key } = await cutShort();
    await rewrite(key, dayAgo());
    const asked = () => stand.service.books.calls().filter(({ endpoint }) => endpoint === 'forkSandbox').length;
    const before = asked();
    await resume(input);
    const result = await ended(stand, input);
    expect(result).toMatchObject({ counts: { byOutcome: { outcome_unknown: 1 } } });
    expect([promptedForks(stand, input), forks(stand, input).length, asked()]).toEqual([['i0-1'], 1, before]);
  });

  it.each([
    ['was answered', { left: {}, meanwhile: undefined }],
    ['was not answered before the worker died', { left: { phase: 'sending', accepted: null }, meanwhile: undefined }],
    ['was answered, and its source has changed since', { left: {}, meanwhile: changed }],
  ])('does not prompt again in such a fork that a person names: its prompt %s', async (_, { left, meanwhile }) => {
    const { input, fork, key, promptKey } = await cutShort();
    await expect.poll(async () => (await recordOf(promptKey)).phase).toBe('accepted');
    await rewrite(promptKey, left);
    await rewrite(key, dayAgo());
    const name = await asked(input);
    await meanwhile?.(stand, sandboxId);
    await name(fork.id);
    const result = await ended(stand, input);
    expect(result).toMatchObject({ outcome: 'completed', counts: { completed: 1 }, left: [] });
    expect([promptedForks(stand, input), forks(stand, input).length]).toEqual([['i0-1'], 1]);
  });

  it('does not prompt in a fork that a person has made of a changed source meanwhile, and names', async () => {
    const { input, key } = await cutShort();
    await rewrite(key, dayAgo());
    const name = await asked(input);
    await changed(stand, sandboxId);
    const { sandbox } = await stand.api.forkSandbox(sandboxId, { name: 'by hand' });
    await name(sandbox.id);
    expect(await ended(stand, input)).toMatchObject({ outcome: 'source_failed', error: { code: 'source_changed' } });
    expect(stand.service.books.prompts({ sandboxId: sandbox.id })).toEqual([]);
  });
});
