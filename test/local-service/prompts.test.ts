import { expect, test } from 'vitest';
import { startService } from './service-under-test.js';

const shell = (script: string): string => `\`\`\`sh\n${script}\n\`\`\``;

test('prompts of one conversation run in order', async () => {
  const under = await startService();
  const id = await under.ready();
  const first = await under.prompt(id, shell('sleep 0.2; echo one >> log'), { new: true });
  const { conversationId } = first.body;
  const second = await under.prompt(id, shell('echo two >> log; cat log'), { conversationId });
  expect(second.body.conversationId).toBe(conversationId);
  const end = await under.promptEnd(id, second.body.promptId);
  expect(end.result).toContain('one\ntwo');
  expect(Date.parse(end.startedAt ?? '')).toBeGreaterThanOrEqual(
    Date.parse((await under.promptEnd(id, first.body.promptId)).endedAt ?? ''),
  );
});

test('conversations run side by side', async () => {
  const under = await startService();
  const id = await under.ready();
  const waiter = await under.prompt(id, shell('until test -e go; do sleep 0.02; done; echo went'), { new: true });
  const opener = await under.prompt(id, shell('touch go'), { new: true });
  expect(opener.body.conversationId).not.toBe(waiter.body.conversationId);
  expect((await under.promptEnd(id, waiter.body.promptId)).result).toContain('went');
});

test('the event history tells what happened, in order, and pages by the last id', async () => {
  const under = await startService();
  const id = await under.ready();
  const { body } = await under.prompt(id, shell('echo seen'), { new: true });
  await under.promptEnd(id, body.promptId);
  const all = (await under.call('GET', `/sandboxes/${id}/events`)).body.events;
  const expected = ['prompt.queued', 'prompt.started', 'agent.tool', 'agent.message', 'prompt.completed'];
  expect(all.map(({ type }) => type)).toEqual(expected);
  expect(all.map((event) => event.id)).toEqual([...all.map((event) => event.id)].sort());
  expect(all[0]).toMatchObject({ promptId: body.promptId, data: { prompt: shell('echo seen') } });
  const rest = await under.call('GET', `/sandboxes/${id}/events?after=${all[1]?.id}&limit=2`);
  expect(rest.body.events).toEqual(all.slice(2, 4));
  const none = await under.call('GET', `/sandboxes/${id}/events?conversation=conv_000000000000000000000000`);
  expect(none.body.events).toEqual([]);
  expect((await under.call('GET', `/sandboxes/${id}/events?after=what`)).status).toBe(400);
});

test('an interrupt ends what runs and what waits, of one conversation only', async () => {
  const under = await startService();
  const id = await under.ready();
  const running = (await under.prompt(id, shell('sleep 30'), { new: true })).body;
  const waiting = (await under.prompt(id, 'later', { conversationId: running.conversationId })).body;
  const other = (await under.prompt(id, shell('until test -e go; do sleep 0.02; done'), { new: true })).body;
  const answer = await under.call('POST', `/sandboxes/${id}/interrupt?conversation=${running.conversationId}`);
  expect(answer.body).toMatchObject({ type: 'sandbox.interrupted', interrupted: 2 });
  expect((await under.promptEnd(id, running.promptId)).status).toBe('interrupted');
  expect((await under.promptEnd(id, waiting.promptId)).status).toBe('interrupted');
  expect((await under.call('GET', `/sandboxes/${id}`)).body.sandbox.state).toBe('running');
  await under.call('PUT', `/sandboxes/${id}/files`, { body: { path: 'go', content: '' } });
  expect((await under.promptEnd(id, other.promptId)).status).toBe('completed');
  await under.reach(id, 'idle');
});

test('a stop interrupts the prompts of the sandbox', async () => {
  const under = await startService();
  const id = await under.ready();
  const { body } = await under.prompt(id, shell('sleep 30'));
  await under.archive(id);
  expect(await under.promptEnd(id, body.promptId)).toMatchObject({ status: 'interrupted', result: null });
});

test('a failed prompt says why, and the sandbox is idle', async () => {
  const under = await startService();
  const id = await under.ready();
  const { body } = await under.prompt(id, shell('exit 4'));
  expect(await under.promptEnd(id, body.promptId)).toMatchObject({
    status: 'failed',
    error: expect.stringContaining('4'),
  });
  await under.reach(id, 'idle');
});

test('a sandbox takes prompts while it is usable and not otherwise', async () => {
  const under = await startService();
  const id = await under.ready();
  await under.archive(id);
  const refused = await under.prompt(id, 'hello');
  expect(refused).toMatchObject({ status: 409, body: { code: 'sandbox_not_promptable' } });
  expect(under.service.books.prompts()).toEqual([]);
});

test.each([
  ['an empty prompt', { prompt: '  ' }, 400, 'prompt_required'],
  ['no prompt', {}, 400, 'prompt_required'],
  ['a prompt of another type', { prompt: 7 }, 400, 'invalid_request'],
  ['an unknown conversation', { prompt: 'a', conversationId: 'conv_00' }, 404, 'not_found'],
  ['an unknown provider', { prompt: 'a', provider: 'nobody' }, 400, 'provider_required'],
  ['an unknown effort', { prompt: 'a', reasoningEffort: 'huge' }, 400, 'invalid_request'],
])('%s is refused', async (_title, body, status, code) => {
  const under = await startService();
  const id = await under.ready();
  expect(await under.call('POST', `/sandboxes/${id}/prompt`, { body })).toMatchObject({ status, body: { code } });
});

test('aliases name their provider, and one that is not configured says where to set it up', async () => {
  const under = await startService({ scriptedProviders: ['claude'] });
  const id = await under.ready();
  const { body } = await under.prompt(id, 'hello', { provider: 'claude' });
  expect((await under.promptEnd(id, body.promptId)).provider).toBe('claude-code');
  const refused = await under.prompt(id, 'hello');
  expect(refused).toMatchObject({ status: 409, body: { code: 'provider_not_configured' } });
  expect(refused.body.error.details).toEqual({ provider: 'codex', setupUrl: expect.stringContaining('codex') });
  const { providers } = (await under.call('GET', '/provider-models')).body;
  expect(providers.filter(({ configured }) => configured).map(({ provider }) => provider)).toEqual(['claude-code']);
});

test('a provider with a command of its own runs that command inside the sandbox', async () => {
  const under = await startService({ commandAgents: { pi: { command: 'cat > got; echo answered' } } });
  const id = await under.ready();
  const { body } = await under.prompt(id, 'do the work', { provider: 'pi' });
  expect((await under.promptEnd(id, body.promptId)).result).toContain('answered');
  expect((await under.call('GET', `/sandboxes/${id}/files?path=got`)).body.content).toContain('do the work');
});

test('S2: a service that tells no prompt id can be imitated', async () => {
  const under = await startService({ profile: { omitPromptId: true } });
  const id = await under.ready();
  const { body } = await under.prompt(id, 'hello');
  expect(Object.keys(body).sort()).toEqual(['conversationId', 'ok', 'type']);
});
