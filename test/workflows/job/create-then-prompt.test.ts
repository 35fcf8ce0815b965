import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createStand, type Stand, script, withoutPolls } from '../workflow-harness.js';
import { eventsOf, tasksOf, workOf } from '../workflow-work.js';

let stand: Stand;
/** The call that sends a prompt also follows it to its end. */
let quick: Stand;
beforeAll(async () => {
  stand = await createStand();
  quick = await createStand({ worker: { follow: { minIntervalMs: 100, briefFollowMs: 30_000 } } });
});
afterAll(async () => {
  await stand.close();
  await quick.close();
});

const callsOf = (sandboxId: string | null) =>
  stand.service.books.calls({ sandboxId: sandboxId ?? '' }).map(({ endpoint }) => endpoint);

describe('a plain job', () => {
  it('runs a prompt in a fresh sandbox, woken by webhooks, and archives it', async () => {
    const handle = await stand.start({ timing: withoutPolls });
    const result = await handle.result();
    expect(result).toMatchObject({ outcome: 'completed', error: null, setup: null, deletion: null });
    expect(result.prompts).toMatchObject([{ status: 'completed', result: expect.stringContaining('hello') }]);
    expect(result.stop).toMatchObject({ status: 'completed', kept: 'saved', error: null });
    expect(result.wakes).toMatchObject([
      { waitedFor: 'usable', by: 'webhook', event: 'sandbox.ready' },
      { waitedFor: 'archived', by: 'webhook', event: 'sandbox.archived' },
    ]);
    const { sandbox } = await stand.api.getSandbox(result.sandboxId ?? '');
    expect(sandbox.state).toBe('archived');
  });

  it('makes five calls, its transcript, and its follow', async () => {
    const result = await (await stand.start({ timing: withoutPolls })).result();
    expect(callsOf(result.sandboxId)).toEqual([
      'createSandbox',
      'sendPrompt',
      'getPrompt',
      'listEvents',
      'stopSandbox',
      'getSandbox',
    ]);
    expect(result.apiCalls).toBe(6);
  });

  it('needs seven workflow tasks, four activities, one timer, and 39 events', async () => {
    const handle = await quick.start({ timing: withoutPolls });
    await handle.result();
    const work = await workOf(handle);
    expect(work.activities).toEqual(['createSandbox', 'getSandbox', 'sendAndFollowPrompt', 'stopSandbox']);
    expect({ timers: work.timers, tasks: tasksOf(work), events: eventsOf(work) }).toEqual({
      timers: 1,
      tasks: 7,
      events: 39,
    });
  });
});

describe('a prompt that takes longer than a moment', () => {
  it('costs one more workflow task, one more activity, and six more events', async () => {
    const prompts = [{ prompt: script('sleep 1') }];
    const handle = await stand.start({ prompts, timing: withoutPolls });
    await handle.result();
    const work = await workOf(handle);
    expect(work.activities).toEqual([
      'createSandbox',
      'followPrompt',
      'getSandbox',
      'sendAndFollowPrompt',
      'stopSandbox',
    ]);
    expect({ timers: work.timers, tasks: tasksOf(work), events: eventsOf(work) }).toEqual({
      timers: 1,
      tasks: 8,
      events: 45,
    });
  });
});

describe('prompts', () => {
  it('run in order in one conversation', async () => {
    const prompts = [{ prompt: script('echo one > note') }, { prompt: script('cat note; echo two') }];
    const result = await (await stand.start({ prompts })).result();
    expect(result.prompts.map(({ status }) => status)).toEqual(['completed', 'completed']);
    expect(result.prompts[1]?.result).toContain('one');
    expect(new Set(result.prompts.map(({ conversationId }) => conversationId)).size).toBe(1);
  });

  it('run side by side in their own conversations', async () => {
    const wait = 'until [ -e other ]; do sleep 0.1; done';
    const prompts = [{ prompt: script(`${wait}; cat other`) }, { prompt: script('echo met > part; mv part other') }];
    const result = await (await stand.start({ prompts, conversations: 'each' })).result();
    expect(result.outcome).toBe('completed');
    expect(result.prompts[0]?.result).toContain('met');
    expect(new Set(result.prompts.map(({ conversationId }) => conversationId)).size).toBe(2);
  });

  it('end the job as prompt_failed at the first failure, and the sandbox is still stopped', async () => {
    const prompts = [{ prompt: script('echo before; exit 3') }, { prompt: script('echo never') }];
    const result = await (await stand.start({ prompts })).result();
    expect(result).toMatchObject({ outcome: 'prompt_failed', stop: { status: 'completed' } });
    expect(result.prompts.map(({ status }) => status)).toEqual(['failed', 'not_sent']);
    expect(result.error?.message).toContain('3');
  });

  it('are rejected with the details of a provider that is not configured', async () => {
    const result = await (await stand.start({ prompts: [{ prompt: 'hi', provider: 'nobody' }] })).result();
    expect(result).toMatchObject({
      outcome: 'rejected',
      error: { status: expect.any(Number) },
      stop: { status: 'completed' },
    });
  });
});

describe('files', () => {
  it('are put before the first prompt and collected after the last', async () => {
    const put = [{ path: 'in/data.txt', content: { base64: Buffer.from('payload').toString('base64') } }];
    const prompts = [
      { prompt: script('mkdir -p out; rev in/data.txt > out/data.txt || tr a-z A-Z < in/data.txt > out/data.txt') },
    ];
    const result = await (await stand.start({ put, prompts, collect: ['out/data.txt', 'out/missing.txt'] })).result();
    expect(result.outcome).toBe('completed');
    const [file, missing] = result.files;
    expect((await stand.results.get(file?.ref ?? '')).toString()).toMatch(/daolyap|PAYLOAD/);
    expect(missing).toMatchObject({ ref: null, error: expect.any(String) });
  });
});

describe('the end of a job', () => {
  it('deletes the sandbox and follows the deletion', async () => {
    const result = await (await stand.start({ end: 'delete' })).result();
    expect(result).toMatchObject({ outcome: 'completed', deletion: { status: 'completed' }, stop: null });
    await expect(stand.api.getSandbox(result.sandboxId ?? '')).rejects.toMatchObject({ status: 404 });
  });

  it('keeps the sandbox running', async () => {
    const result = await (await stand.start({ end: 'keep' })).result();
    expect(result).toMatchObject({ outcome: 'completed', deletion: null, stop: null });
    const { sandbox } = await stand.api.getSandbox(result.sandboxId ?? '');
    expect(sandbox.state).toBe('idle');
    await stand.api.stopSandbox(sandbox.id);
  });

  it('reports that nothing was kept with snapshots off', async () => {
    const result = await (await stand.start({ source: { kind: 'create', body: { snapshots: false } } })).result();
    expect(result.stop).toMatchObject({ status: 'completed', kept: 'none' });
  });
});

describe('a setup script', () => {
  const withSetup = (setupScript: string) => ({ source: { kind: 'create' as const, body: { setupScript } } });

  it('is awaited before the first prompt', async () => {
    const prompts = [{ prompt: script('cat ready') }];
    const result = await (await stand.start({ ...withSetup('sleep 0.5; echo set up > ready'), prompts })).result();
    expect(result).toMatchObject({ outcome: 'completed', setup: { status: 'done', error: null } });
    expect(result.prompts[0]?.result).toContain('set up');
  });

  it('that fails ends the job before a prompt is sent', async () => {
    const result = await (await stand.start(withSetup('echo broken >&2; exit 4'))).result();
    expect(result).toMatchObject({
      outcome: 'sandbox_failed',
      setup: { status: 'failed' },
      error: { code: 'setup_failed' },
    });
    expect(callsOf(result.sandboxId)).not.toContain('sendPrompt');
    expect(result.stop?.status).toBe('completed');
  });
});
