/** What a command agent remembers: the disk, and the id of the conversation. */
import { expect, it } from 'vitest';
import { type ServiceUnderTest, startService } from '../service-under-test.js';

const remembering = 'cat "$AGENT_CONVERSATION_ID" 2>/dev/null; tee -a "$AGENT_CONVERSATION_ID"';

async function start(): Promise<ServiceUnderTest> {
  return await startService({ commandAgents: { codex: { command: remembering } } });
}

async function ask(under: ServiceUnderTest, id: string, text: string, more = {}) {
  const { status, body } = await under.prompt(id, `${text}\n`, more);
  if (status !== 202) return { status, result: null, conversationId: '' };
  const { result } = await under.promptEnd(id, body.promptId);
  return { status, result, conversationId: body.conversationId };
}

async function fork(under: ServiceUnderTest, id: string): Promise<string> {
  const { body } = await under.call('POST', `/sandboxes/${id}/fork`);
  await under.reach(body.sandbox.id, 'ready');
  return body.sandbox.id;
}

it('holds over a stop, in a fork, and in a fork of the fork, each on its own', async () => {
  const under = await start();
  const id = await under.ready();
  const { conversationId } = await ask(under, id, 'one');
  await under.archive(id);
  await under.call('POST', `/sandboxes/${id}/resume`);
  await under.reach(id, 'ready', 'idle');
  expect((await ask(under, id, 'two', { conversationId })).result).toBe('one\ntwo\n');
  const first = await fork(under, id);
  expect((await ask(under, first, 'three', { conversationId })).result).toBe('one\ntwo\nthree\n');
  const second = await fork(under, first);
  expect((await ask(under, second, 'four', { conversationId })).result).toBe('one\ntwo\nthree\nfour\n');
  expect((await ask(under, id, 'five', { conversationId })).result).toBe('one\ntwo\nfive\n');
});

it('does not hold in a fork for a prompt that names no conversation, nor for one that began after the fork', async () => {
  const under = await start();
  const id = await under.ready();
  await ask(under, id, 'one');
  const forked = await fork(under, id);
  expect((await ask(under, forked, 'two')).result).toBe('two\n');
  const later = await ask(under, id, 'three', { new: true });
  expect((await ask(under, forked, 'four', { conversationId: later.conversationId })).status).toBe(404);
});

it('is an assumption that the answer names', async () => {
  const under = await start();
  const id = await under.ready();
  const { conversationId } = await ask(under, id, 'one');
  const forked = await fork(under, id);
  const named = async (sandboxId: string) =>
    (await under.prompt(sandboxId, 'two', { conversationId })).headers.get('x-svc-assumptions');
  expect(await named(forked)).toContain('A-fork-conversations');
  expect(await named(id)).not.toContain('A-fork-conversations');
});
