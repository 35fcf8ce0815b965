/** The three programs of agents that most people use, with a scripted model, in isolated sandboxes. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ServiceUnderTest, startService } from '../../../local-service/test/service/service-under-test.js';
import { type ModelServer, startModelServer } from './model-server.js';
import { programFolder, programNames, settingsFor, wirings } from './programs.js';

/** Programs install themselves, read their models and start: some seconds each, and more on a busy machine. */
const timeoutMs = 900_000;

describe.each(programNames)('%s', { timeout: timeoutMs }, (name) => {
  let model: ModelServer;
  let folder: Awaited<ReturnType<typeof programFolder>>;
  beforeAll(async () => {
    model = await startModelServer();
    folder = await programFolder(name);
  }, timeoutMs);
  afterAll(() => model.close());

  async function start(): Promise<ServiceUnderTest> {
    if (typeof folder !== 'string') throw new Error(folder.missing);
    return await startService({ ...settingsFor(name, folder, model), defaultProvider: name });
  }

  async function sandboxWithLogin(under: ServiceUnderTest): Promise<string> {
    const { login, environment: passed } = wirings[name];
    await under.call('POST', '/secrets', { body: { set: { [login]: 'sk-scripted' } } });
    const { body } = await under.call('GET', '/environments');
    const [environment] = (body as unknown as { readonly environments: readonly { readonly id: string }[] })
      .environments;
    await under.call('PUT', `/environments/${environment?.id}`, { body: passed(model) });
    return await under.ready();
  }

  async function ask(under: ServiceUnderTest, id: string, command: string, more = {}) {
    const { status, body } = await under.prompt(id, `Run: ${command}`, more);
    expect(status, JSON.stringify(body)).toBe(202);
    const { promptId, conversationId } = body;
    const prompt = await under.promptEnd(id, promptId);
    const { events } = (await under.call('GET', `/sandboxes/${id}/events?conversation=${conversationId}`)).body;
    return { prompt, conversationId, events: events.filter((event) => event.promptId === promptId) };
  }

  it('edits a file, tells what it does, and remembers after a stop, in forks, and after an interrupt', async (context) => {
    if (typeof folder !== 'string') return context.skip(folder.missing);
    const under = await start();
    const id = await sandboxWithLogin(under);

    const first = await ask(under, id, 'echo hello > made.txt; cat made.txt');
    expect(first.prompt).toMatchObject({ status: 'completed', error: null });
    expect(first.prompt.result).toMatch(/hello\nEarlier: nothing$/);
    const file = await under.call('GET', `/sandboxes/${id}/files?path=made.txt`);
    expect(file.body.content).toBe('hello\n');
    const told = first.events.filter(({ type }) => type.startsWith('agent.'));
    expect(told.map(({ type }) => type)).toEqual(['agent.tool', 'agent.message', 'agent.usage']);
    expect(told[0]?.data).toMatchObject({
      command: 'echo hello > made.txt; cat made.txt',
      exitCode: 0,
      output: expect.stringMatching(/^hello\n?$/),
    });
    expect(told[2]?.data).toMatchObject({ inputTokens: 22, outputTokens: 14 });

    await under.archive(id);
    await under.call('POST', `/sandboxes/${id}/resume`);
    await under.reach(id, 'ready', 'idle');
    const { conversationId } = first;
    const second = await ask(under, id, 'cat made.txt', { conversationId });
    expect(second.prompt.result).toMatch(/hello\nEarlier: echo hello > made.txt; cat made.txt$/);

    const earlier = 'echo hello > made.txt; cat made.txt; cat made.txt';
    const forks = await Promise.all(
      ['one', 'two'].map(async (word) => {
        const { body } = await under.call('POST', `/sandboxes/${id}/fork`);
        await under.reach(body.sandbox.id, 'ready');
        const { prompt } = await ask(under, body.sandbox.id, `echo ${word} >> made.txt; cat made.txt`, {
          conversationId,
        });
        return prompt.result;
      }),
    );
    expect(forks[0]).toContain(`hello\none\nEarlier: ${earlier}`);
    expect(forks[1]).toContain(`hello\ntwo\nEarlier: ${earlier}`);

    const long = (await under.prompt(id, 'Run: echo begun > begun.txt; sleep 600', { conversationId })).body;
    await expect.poll(async () => (await under.call('GET', `/sandboxes/${id}/files?path=begun.txt`)).status).toBe(200);
    await under.call('POST', `/sandboxes/${id}/interrupt`);
    expect(await under.promptEnd(id, long.promptId)).toMatchObject({ status: 'interrupted' });
    const after = await ask(under, id, 'cat begun.txt', { conversationId });
    expect(after.prompt.result).toMatch(new RegExp(`^Printed: [^]*begun\nEarlier: ${earlier}`));

    const other = await ask(under, id, 'cat begun.txt', { new: true });
    expect(other.prompt.result).toMatch(/\nEarlier: nothing$/);
  });

  it('begins its conversation anew if its first prompt was interrupted at once', async (context) => {
    if (typeof folder !== 'string') return context.skip(folder.missing);
    const under = await start();
    const id = await sandboxWithLogin(under);
    const { promptId, conversationId } = (await under.prompt(id, 'Run: true')).body;
    await under.call('POST', `/sandboxes/${id}/interrupt`);
    expect(await under.promptEnd(id, promptId)).toMatchObject({ status: 'interrupted' });
    const after = await ask(under, id, 'echo works', { conversationId });
    expect(after.prompt).toMatchObject({ status: 'completed', result: expect.stringContaining('works\nEarlier: ') });
  });

  it('is not configured in a sandbox without its login', async (context) => {
    if (typeof folder !== 'string') return context.skip(folder.missing);
    const under = await start();
    const id = await under.ready();
    const before = model.turns();
    const { status, body } = await under.prompt(id, 'Run: true');
    expect({ status, code: body.code }).toEqual({ status: 409, code: 'provider_not_configured' });
    expect(body.message).toContain(wirings[name].login);
    expect(model.turns()).toBe(before);
  });
});
