import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SandboxClient } from '../../../../../src/client/index.js';
import type { JobInput } from '../../../../../workflows/index.js';
import { progressOf } from '../../../../workflows/job-progress.js';
import {
  createPlayedStand,
  type PlayedStand,
  refusal,
  somebodysSandbox,
} from '../../../../workflows/played-service.js';
import { believesNothing, letGo, script, untilGo } from '../../../../workflows/workflow-harness.js';

let stand: PlayedStand;
beforeEach(async () => {
  stand = await createPlayedStand();
});
afterEach(() => stand.close());

const phaseOf = async (handle: Awaited<ReturnType<PlayedStand['start']>>) => (await progressOf(handle)).phase;
const start = (over: Partial<JobInput> = {}) =>
  stand.start({ end: 'keep', prompts: [{ prompt: script('sleep 1; echo said') }], ...over });

describe('a follow whose shared list', () => {
  const lists: [string, SandboxClient['listAllSandboxes']][] = [
    ['is refused with 403', () => Promise.reject(refusal('listSandboxes', 403, 'forbidden'))],
    ['is refused with 401', () => Promise.reject(refusal('listSandboxes', 401, 'unauthorized'))],
    ['is refused with 429', () => Promise.reject(refusal('listSandboxes', 429, 'rate_limited'))],
    ['cannot be read', () => Promise.reject(new TypeError('garbage'))],
    ['never comes', () => new Promise(() => undefined)],
    ['leaves the sandbox out', async () => []],
    [
      'shows a state that cannot be',
      async () => (await stand.api.listAllSandboxes()).map((row) => ({ ...row, state: 7 as never })),
    ],
  ];
  it.each(lists)('%s detects the end of its prompt', async (_, listAllSandboxes) => {
    stand.play({ listAllSandboxes });
    // It would not end at its deadline during the test.
    const result = await (await start()).result();
    expect(result).toMatchObject({ outcome: 'completed', prompts: [{ status: 'completed', result: 'said\n' }] });
  });
});

it('an unknown state does not hide the end of a prompt', async () => {
  const strange: Partial<SandboxClient> = {
    listAllSandboxes: async () => (await stand.api.listAllSandboxes()).map((row) => ({ ...row, state: 'dreaming' })),
    getSandbox: async (id) => {
      const answer = await stand.api.getSandbox(id);
      return { ...answer, sandbox: { ...answer.sandbox, state: 'dreaming' } };
    },
  };
  const handle = await start({ prompts: [{ prompt: script(`${untilGo}; echo said`) }] });
  await expect.poll(() => phaseOf(handle)).toBe('following');
  stand.play(strange);
  await letGo(stand, (await progressOf(handle)).sandboxId);
  expect(await handle.result()).toMatchObject({ outcome: 'completed', prompts: [{ result: 'said\n' }] });
});

it('a prompt that ended because its sandbox was stopped is a failed sandbox', async () => {
  const handle = await start({ prompts: [{ prompt: script('sleep 600') }] });
  await expect.poll(() => phaseOf(handle)).toBe('following');
  const { sandboxId } = await progressOf(handle);
  await expect.poll(async () => (await stand.api.getSandbox(sandboxId ?? '')).sandbox.state).toBe('running');
  await stand.api.stopSandbox(sandboxId ?? '');
  const result = await handle.result();
  expect(result).toMatchObject({
    outcome: 'sandbox_failed',
    error: { code: 'sandbox_stopped' },
    prompts: [{ status: 'interrupted' }],
  });
});

it('a prompt that ended because its sandbox was deleted says so', async () => {
  const handle = await start({ prompts: [{ prompt: script('sleep 600') }] });
  await expect.poll(() => phaseOf(handle)).toBe('following');
  await stand.api.deleteSandbox((await progressOf(handle)).sandboxId ?? '');
  expect(await handle.result()).toMatchObject({ outcome: 'sandbox_failed', error: { code: 'sandbox_gone' } });
});

it('a setup script that ended because its sandbox was deleted says so', async () => {
  const source = { kind: 'create', body: { setupScript: 'sleep 600' } } as const;
  const handle = await start({ source, prompts: [{ prompt: 'hello' }] });
  await expect.poll(() => phaseOf(handle)).toBe('waiting_for_setup');
  await stand.api.deleteSandbox((await progressOf(handle)).sandboxId ?? '');
  expect(await handle.result()).toMatchObject({ outcome: 'sandbox_failed', error: { code: 'sandbox_gone' } });
});

it('a prompt that somebody interrupted is a failed prompt', async () => {
  const handle = await start({ prompts: [{ prompt: script('sleep 600') }] });
  await expect.poll(() => phaseOf(handle)).toBe('following');
  const { sandboxId } = await progressOf(handle);
  await expect.poll(async () => (await stand.api.getSandbox(sandboxId ?? '')).sandbox.state).toBe('running');
  await stand.api.interruptSandbox(sandboxId ?? '');
  expect(await handle.result()).toMatchObject({ outcome: 'prompt_failed', error: { code: 'prompt_interrupted' } });
});

it('a temporary 404 does not end the sandbox under its prompt', async () => {
  const prompts = [{ prompt: script(`${untilGo}; echo said`) }];
  const handle = await start({ prompts, timing: believesNothing });
  await expect.poll(() => phaseOf(handle)).toBe('following');
  let asked = 0;
  const missing = () => {
    asked += 1;
    return Promise.reject(refusal('getSandbox', 404, 'not_found'));
  };
  stand.play({ listAllSandboxes: async () => [], getSandbox: missing, getPrompt: missing, listEvents: missing });
  await expect.poll(() => asked).toBeGreaterThan(3);
  stand.play({});
  await letGo(stand, (await progressOf(handle)).sandboxId);
  expect(await handle.result()).toMatchObject({ outcome: 'completed', prompts: [{ result: 'said\n' }] });
});

describe('a service without any prompt ids', () => {
  const without: Partial<SandboxClient> = {
    sendPrompt: async (id, body, options) => ({ ...(await stand.api.sendPrompt(id, body, options)), promptId: null }),
    getPrompt: () => Promise.reject(refusal('getPrompt', 404, 'not_found')),
    listEvents: async (id, query, options) => {
      const answer = await stand.api.listEvents(id, query, options);
      return { ...answer, events: answer.events.map((event) => ({ ...event, promptId: null })) };
    },
  };

  it('gives each of two equal prompts its own answer, in a shared sandbox', async () => {
    const sandboxId = await somebodysSandbox(stand);
    stand.play(without);
    const again = { prompt: script('echo x >> lines; sleep 1; wc -l < lines') };
    const result = await (await start({ source: { kind: 'existing', sandboxId }, prompts: [again, again] })).result();
    expect(result.prompts.map(({ result: said }) => said?.trim())).toEqual(['1', '2']);
  });

  it("gives a prompt its own answer if somebody's equal one of the same conversation ends first", async () => {
    const first = { prompt: script('echo first') };
    const again = { prompt: script('echo x >> lines; sleep 1; wc -l < lines') };
    let isOvertaken = false;
    stand.play({
      ...without,
      listEvents: async (id, query, options) => {
        const { events } = await stand.api.listEvents(id, query, options);
        const conversationId = events.find(({ type }) => type === 'prompt.completed')?.conversationId;
        if (conversationId && !isOvertaken) {
          isOvertaken = true;
          await stand.api.sendPrompt(id, { ...again, conversationId });
        }
        return { ok: true, type: 'event.list', events: events.map((event) => ({ ...event, promptId: null })) };
      },
    });
    const result = await (await start({ prompts: [first, again] })).result();
    expect(result.prompts.map(({ result: said }) => said?.trim())).toEqual(['first', '2']);
  });

  it("gives a prompt its own answer if somebody's prompts run before and between those of the job", async () => {
    const theirs = (until: string) => ({ prompt: script(`until [ -e ${until} ]; do sleep 0.1; done; echo theirs`) });
    let isOvertaken = false;
    let sent = 0;
    stand.play({
      ...without,
      // Otherwise a follow waits until nobody's prompt runs in the sandbox.
      listAllSandboxes: async () => [],
      sendPrompt: async (id, body, options) => {
        const answer = await stand.api.sendPrompt(id, body, options);
        sent += 1;
        const { conversationId } = answer;
        if (sent === 2) await stand.api.sendPrompt(id, { ...theirs('third'), conversationId });
        const path = ['second', 'third'][sent - 2];
        if (path) await stand.api.writeFile(id, { path, content: '' });
        return { ...answer, promptId: null };
      },
      listEvents: async (id, query, options) => {
        const { events } = await stand.api.listEvents(id, query, options);
        const conversationId = events.find(({ type }) => type === 'prompt.completed')?.conversationId;
        if (conversationId && !isOvertaken) {
          isOvertaken = true;
          await stand.api.sendPrompt(id, { ...theirs('second'), conversationId });
        }
        return { ok: true, type: 'event.list', events: events.map((event) => ({ ...event, promptId: null })) };
      },
    });
    const prompts = ['first', 'second', 'third'].map((word) => ({ prompt: script(`echo ${word}`) }));
    const result = await (await start({ prompts })).result();
    expect(result.prompts.map(({ result: said }) => said?.trim())).toEqual(['first', 'second', 'third']);
  });
});
