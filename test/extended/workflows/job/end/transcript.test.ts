import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { jobTranscripts } from '../../../../../src/addresses/transcript-places.js';
import type { StoredTranscript } from '../../../../../src/result-store/stored-transcript.js';
import { progressOf } from '../../../../workflows/job-progress.js';
import { createStand, type Stand, script } from '../../../../workflows/workflow-harness.js';

let stand: Stand;
beforeAll(async () => {
  stand = await createStand();
});
afterAll(() => stand.close());

type Handle = Awaited<ReturnType<Stand['start']>>;

async function transcriptOf({ workflowId, firstExecutionRunId }: Handle): Promise<StoredTranscript | undefined> {
  const [stored] = await stand.results.list(jobTranscripts(workflowId, firstExecutionRunId));
  return stored && JSON.parse((await stand.results.get(stored.ref)).toString('utf8'));
}

const readsOf = (sandboxId: string | null) =>
  stand.service.books.calls({ sandboxId: sandboxId ?? '' }).filter(({ endpoint }) => endpoint === 'listEvents').length;
const typesOf = (transcript: StoredTranscript | undefined) => transcript?.events.map(({ type }) => type);
const whole = ['prompt.queued', 'prompt.started', 'agent.tool', 'agent.message', 'prompt.completed'];

async function untilFollowed(handle: Handle): Promise<void> {
  const phase = async () => (await progressOf(handle)).phase;
  await expect.poll(phase).toBe('following');
}

it.each(['stop', 'delete', 'keep'] as const)('is stored with one read before the sandbox ends by %s', async (end) => {
  const handle = await stand.start({ end });
  const { sandboxId, outcome, left } = await handle.result();
  expect({ outcome, left }).toEqual({ outcome: 'completed', left: [] });
  const transcript = await transcriptOf(handle);
  expect(transcript).toMatchObject({ sandboxId, complete: true });
  expect(typesOf(transcript)).toEqual(whole);
  expect(readsOf(sandboxId)).toBe(1);
});

it('holds all conversations of a job, read at once, and none of others', async () => {
  const { sandbox } = await stand.api.createSandbox({ name: `kept-${randomUUID()}` }, { idempotencyKey: randomUUID() });
  await expect.poll(async () => (await stand.api.getSandbox(sandbox.id)).sandbox.state).toBe('ready');
  await stand.api.sendPrompt(sandbox.id, { prompt: script('echo foreign'), new: true, provider: 'codex' });
  await expect.poll(async () => (await stand.api.getSandbox(sandbox.id)).sandbox.state).toBe('idle');
  const before = readsOf(sandbox.id);
  const handle = await stand.start({
    source: { kind: 'existing', sandboxId: sandbox.id },
    end: 'keep',
    conversations: 'each',
    prompts: [{ prompt: script('echo one') }, { prompt: script('echo two') }],
  });
  expect((await handle.result()).outcome).toBe('completed');
  const transcript = await transcriptOf(handle);
  expect(new Set(transcript?.events.map(({ conversationId }) => conversationId)).size).toBe(2);
  expect(JSON.stringify(transcript)).not.toContain('foreign');
  // Each send reads once, too.
  expect(readsOf(sandbox.id) - before).toBe(3);
});

it('delays no end and changes no outcome if the history cannot be read', async () => {
  const prompts = [{ prompt: script('while [ ! -e go ]; do sleep 0.1; done') }];
  const handle = await stand.start({ prompts, end: 'delete' });
  await untilFollowed(handle);
  // Longer than the read may take.
  await stand.fault({ kind: 'latency', endpoint: 'listEvents', ms: 20_000 });
  const { sandboxId } = await progressOf(handle);
  await stand.api.writeFile(sandboxId ?? '', { path: 'go', content: '' });
  expect(await handle.result()).toMatchObject({ outcome: 'completed', deletion: { status: 'completed' }, left: [] });
  expect(await transcriptOf(handle)).toBeUndefined();
});

it('is stored although the service first refuses both the read and the end of the sandbox', async () => {
  const prompts = [{ prompt: script('while [ ! -e go ]; do sleep 0.1; done') }];
  const handle = await stand.start({ prompts, end: 'delete' });
  await untilFollowed(handle);
  const { sandboxId } = await progressOf(handle);
  const refused = { kind: 'error', status: 429, code: 'rate_limited', retryAfterSeconds: 1, times: 1 } as const;
  for (const endpoint of ['listEvents', 'deleteSandbox'] as const) await stand.fault({ ...refused, endpoint });
  await stand.api.writeFile(sandboxId ?? '', { path: 'go', content: '' });
  expect(await handle.result()).toMatchObject({ outcome: 'completed', deletion: { status: 'completed' }, left: [] });
  expect(typesOf(await transcriptOf(handle))?.at(-1)).toBe('prompt.completed');
});

it('tells the phases that the job went through', async () => {
  const { phases } = await (await stand.start({})).result();
  expect(phases?.map(({ phase }) => phase)).toEqual([
    'creating',
    'waiting_for_sandbox',
    'prompting',
    'following',
    'stopping',
    'waiting_for_archive',
  ]);
  const times = phases?.map(({ at }) => Date.parse(at)) ?? [];
  expect(times).toEqual(times.toSorted((a, b) => a - b));
});

it('has the phase in which the agent works before the end of each prompt, however short', async () => {
  const short = [{ prompt: script('true') }, { prompt: script('true') }];
  const { phases, prompts } = await (await stand.start({ prompts: short })).result();
  const began = phases?.filter(({ phase }) => phase === 'following').map(({ at }) => Date.parse(at));
  const ended = prompts.map(({ endedAt }) => Date.parse(endedAt ?? ''));
  expect(began).toHaveLength(2);
  expect(began?.map((at, index) => at <= (ended[index] ?? 0))).toEqual([true, true]);
});
