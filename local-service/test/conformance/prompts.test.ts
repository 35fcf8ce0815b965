import { expect } from 'vitest';
import { rule } from './rule.js';
import { startLocalTarget, useTarget } from './target/index.js';

const target = useTarget();

const shell = (script: string): string => `\`\`\`sh\n${script}\n\`\`\``;

rule(
  ['prompts.conversation', 'prompts.response', 'prompts.status'],
  'prompts of one conversation run in order',
  async () => {
    const id = await target.ready();
    const first = await target.prompt(id, shell('sleep 0.2; echo one >> log'), { new: true });
    const { conversationId } = first.body;
    const second = await target.prompt(id, shell('echo two >> log; cat log'), { conversationId });
    expect(second.body.conversationId).toBe(conversationId);
    const end = await target.promptEnd(id, second.body.promptId);
    expect(end.result).toContain('one\ntwo');
    expect(Date.parse(end.startedAt ?? '')).toBeGreaterThanOrEqual(
      Date.parse((await target.promptEnd(id, first.body.promptId)).endedAt ?? ''),
    );
  },
  { needs: ['local'] },
);

rule(
  ['prompts.parallel-conversations', 'prompts.new-conversation'],
  'conversations run side by side',
  async () => {
    const id = await target.ready();
    const waiter = await target.prompt(id, shell('until test -e go; do sleep 0.02; done; echo went'), { new: true });
    const opener = await target.prompt(id, shell('touch go'), { new: true });
    expect(opener.body.conversationId).not.toBe(waiter.body.conversationId);
    expect((await target.promptEnd(id, waiter.body.promptId)).result).toContain('went');
  },
  { needs: ['local'] },
);

rule(
  ['prompts.events', 'prompts.events-conversation'],
  'the event history shows what happened, in order, and pages by the last id',
  async () => {
    const id = await target.ready();
    const { body } = await target.prompt(id, shell('echo seen'), { new: true });
    await target.promptEnd(id, body.promptId);
    const all = (await target.call('GET', `/sandboxes/${id}/events`)).body.events;
    const expected = ['prompt.queued', 'prompt.started', 'agent.tool', 'agent.message', 'prompt.completed'];
    expect(all.map(({ type }) => type)).toEqual(expected);
    expect(all.map((event) => event.id)).toEqual([...all.map((event) => event.id)].sort());
    expect(all[0]).toMatchObject({ promptId: body.promptId, data: { prompt: shell('echo seen') } });
    const rest = await target.call('GET', `/sandboxes/${id}/events?after=${all[1]?.id}&limit=2`);
    expect(rest.body.events).toEqual(all.slice(2, 4));
    const none = await target.call('GET', `/sandboxes/${id}/events?conversation=conv_000000000000000000000000`);
    expect(none.body.events).toEqual([]);
    expect((await target.call('GET', `/sandboxes/${id}/events?after=what`)).status).toBe(400);
  },
  { needs: ['local'] },
);

rule(
  ['prompts.interrupt', 'prompts.interrupt-conversation'],
  'an interrupt ends running and waiting prompts of one conversation only',
  async () => {
    const id = await target.ready();
    const running = (await target.prompt(id, shell('sleep 600'), { new: true })).body;
    const waiting = (await target.prompt(id, 'later', { conversationId: running.conversationId })).body;
    const other = (await target.prompt(id, shell('until test -e go; do sleep 0.02; done'), { new: true })).body;
    const answer = await target.call('POST', `/sandboxes/${id}/interrupt?conversation=${running.conversationId}`);
    expect(answer.body).toMatchObject({ type: 'sandbox.interrupted', interrupted: 2 });
    expect((await target.promptEnd(id, running.promptId)).status).toBe('interrupted');
    expect((await target.promptEnd(id, waiting.promptId)).status).toBe('interrupted');
    expect((await target.call('GET', `/sandboxes/${id}`)).body.sandbox.state).toBe('running');
    await target.call('PUT', `/sandboxes/${id}/files`, { body: { path: 'go', content: '' } });
    expect((await target.promptEnd(id, other.promptId)).status).toBe('completed');
    await target.reach(id, 'idle');
  },
  { needs: ['local'] },
);

rule(
  ['prompts.status', 'states.stop-accepted'],
  'a stop interrupts the prompts of the sandbox',
  async () => {
    const id = await target.ready();
    const { body } = await target.prompt(id, shell('sleep 600'));
    await target.archive(id);
    expect(await target.promptEnd(id, body.promptId)).toMatchObject({ status: 'interrupted', result: null });
  },
  { needs: ['local'] },
);

rule(
  ['prompts.status', 'states.running'],
  'a failed prompt says why, and the sandbox is idle',
  async () => {
    const id = await target.ready();
    const { body } = await target.prompt(id, shell('exit 4'));
    expect(await target.promptEnd(id, body.promptId)).toMatchObject({
      status: 'failed',
      error: expect.stringContaining('4'),
    });
    await target.reach(id, 'idle');
  },
  { needs: ['local'] },
);

rule(
  ['errors.sandbox-not-promptable', 'states.usable'],
  'a sandbox accepts prompts only while it is usable',
  async () => {
    const local = await startLocalTarget();
    const id = await local.ready();
    await local.archive(id);
    const refused = await local.prompt(id, 'hello');
    expect(refused).toMatchObject({ status: 409, body: { code: 'sandbox_not_promptable' } });
    expect(local.service.books.prompts()).toEqual([]);
  },
  { needs: ['local'] },
);

const wrongPrompts = [
  ['an empty prompt', { prompt: '  ' }, 400, 'prompt_required'],
  ['no prompt', {}, 400, 'prompt_required'],
  ['a prompt of another type', { prompt: 7 }, 400, 'invalid_request'],
  ['an unknown conversation', { prompt: 'a', conversationId: 'conv_00' }, 404, 'not_found'],
  ['an unknown provider', { prompt: 'a', provider: 'nobody' }, 400, 'invalid_request'],
  ['an unknown effort', { prompt: 'a', reasoningEffort: 'huge' }, 400, 'invalid_request'],
] as const;

rule(
  ['prompts.required', 'errors.prompt-required', 'prompts.reasoning-effort-enum'],
  'invalid prompts are refused, each with its code',
  async () => {
    const id = await target.ready();
    for (const [which, body, status, code] of wrongPrompts) {
      const refused = await target.call('POST', `/sandboxes/${id}/prompt`, { body });
      expect(refused, which).toMatchObject({ status, body: { code } });
    }
  },
);

rule(
  'errors.provider-required',
  'a prompt without a provider is refused if there is no default',
  async () => {
    const local = await startLocalTarget({ defaultProvider: null });
    const id = await local.ready();
    expect(await local.prompt(id, 'hello')).toMatchObject({ status: 400, body: { code: 'provider_required' } });
    expect(await local.prompt(id, 'hello', { provider: 'nobody' })).toMatchObject({
      body: { code: 'invalid_request' },
    });
    expect(await local.prompt(id, 'hello', { provider: 'pi' })).toMatchObject({ status: 202 });
  },
  { needs: ['local'] },
);

rule(
  ['prompts.provider-aliases', 'prompts.provider-not-configured', 'prompts.provider-models'],
  'aliases name their provider, and an unconfigured one says where to configure it',
  async () => {
    const local = await startLocalTarget({ scriptedProviders: ['claude'] });
    const id = await local.ready();
    const { body } = await local.prompt(id, 'hello', { provider: 'claude' });
    expect((await local.promptEnd(id, body.promptId)).provider).toBe('claude-code');
    const refused = await local.prompt(id, 'hello');
    expect(refused).toMatchObject({ status: 409, body: { code: 'provider_not_configured' } });
    expect(refused.body.error.details).toEqual({ provider: 'codex', setupUrl: expect.stringContaining('codex') });
    const { providers } = (await local.call('GET', '/provider-models')).body;
    expect(providers.filter(({ configured }) => configured).map(({ provider }) => provider)).toEqual(['claude-code']);
  },
  { needs: ['local'] },
);

rule(
  ['prompts.provider-models', 'prompts.reasoning-effort-accepted'],
  'the settings list the models of a provider, and a model or an effort outside of that list is refused',
  async () => {
    const models = { claude: [{ model: 'sonnet', reasoningEfforts: ['low'] }, { model: 'plain' }] } as const;
    const commandAgents = { 'claude-code': { command: 'echo done' } };
    const local = await startLocalTarget({ models, commandAgents });
    const id = await local.ready();
    const { providers } = (await local.call('GET', '/provider-models')).body;
    expect(providers.find(({ provider }) => provider === 'claude-code')?.models).toEqual([
      { model: 'sonnet', reasoningEfforts: ['low'] },
      { model: 'plain', reasoningEfforts: [] },
    ]);
    const send = (more: object) => local.prompt(id, 'hello', { provider: 'claude-code', ...more });
    expect(await send({ model: 'opus' })).toMatchObject({
      status: 400,
      body: { code: 'invalid_request', message: expect.stringContaining('It has sonnet, plain.') },
    });
    expect((await send({ model: 'sonnet', reasoningEffort: 'high' })).status).toBe(400);
    expect((await send({ model: 'plain', reasoningEffort: 'low' })).status).toBe(400);
    for (const more of [{}, { model: 'plain' }, { model: 'sonnet', reasoningEffort: 'low' }]) {
      expect((await send(more)).status).toBe(202);
    }
    expect((await local.prompt(id, 'hello', { provider: 'pi', model: 'any' })).status).toBe(202);
  },
  { needs: ['local'] },
);

rule(
  'prompts.providers',
  'a provider with its own command runs that command inside the sandbox',
  async () => {
    const local = await startLocalTarget({ commandAgents: { pi: { command: 'cat > got; echo answered' } } });
    const id = await local.ready();
    const { body } = await local.prompt(id, 'do the work', { provider: 'pi' });
    expect((await local.promptEnd(id, body.promptId)).result).toContain('answered');
    expect((await local.call('GET', `/sandboxes/${id}/files?path=got`)).body.content).toContain('do the work');
  },
  { needs: ['local'] },
);

rule(
  ['trap.S2', 'prompts.response'],
  'the service can imitate one that returns no prompt id',
  async () => {
    const local = await startLocalTarget({ deviations: ['A-prompt-id'] });
    const id = await local.ready();
    const { body } = await local.prompt(id, 'hello');
    expect(Object.keys(body).sort()).toEqual(['conversationId', 'ok', 'type']);
  },
  { needs: ['local'] },
);

rule(
  ['prompts.reasoning-effort-accepted', 'prompts.model-optional'],
  'a model that the catalog does not list is accepted, and no reasoning effort with it',
  async () => {
    const local = await startLocalTarget();
    const id = await local.ready();
    const send = (more: object) => local.prompt(id, 'hello', { model: 'nobody-lists-me', ...more });
    for (const reasoningEffort of ['none', 'low', 'medium', 'high', 'xhigh', 'max']) {
      const refused = await send({ reasoningEffort });
      expect(refused, reasoningEffort).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
      expect(refused.body.message).toMatch(/reasoningEffort/);
    }
    const { promptId } = (await send({})).body;
    expect(await local.promptEnd(id, promptId)).toMatchObject({ model: 'nobody-lists-me', reasoningEffort: null });
    expect((await local.prompt(id, 'hello', { reasoningEffort: 'high' })).status).toBe(202);
  },
  { needs: ['local'] },
);
