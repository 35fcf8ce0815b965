import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JobInput } from '../../../../../workflows/index.js';
import { progressOf } from '../../../../workflows/job-progress.js';
import {
  createPlayedStand,
  lostAnswer,
  type PlayedStand,
  somebodysSandbox,
} from '../../../../workflows/played-service.js';
import { script, shortTiming } from '../../../../workflows/workflow-harness.js';

let stand: PlayedStand;
beforeEach(async () => {
  stand = await createPlayedStand();
});
afterEach(() => stand.close());

const text = script('echo mine');
const decided = { onUnknownOutcome: 'abandon', prompts: [{ prompt: text }] } as const;
const inSandbox = (sandboxId: string): Partial<JobInput> => ({
  source: { kind: 'existing', sandboxId },
  end: 'keep',
});
/** Prompts of others arrive, and ours are lost before the service has read them. */
const overtakenBy = (body: { prompt: string; provider?: string; model?: string }) => ({
  sendPrompt: async (sandboxId: string) => {
    await stand.api.sendPrompt(sandboxId, { new: true, ...body });
    throw lostAnswer('sendPrompt');
  },
});

describe('a prompt whose request was lost', () => {
  it("has an unknown outcome in a shared sandbox with somebody's prompt of the same text", async () => {
    const sandboxId = await somebodysSandbox(stand);
    stand.play(overtakenBy({ prompt: text }));
    const result = await (await stand.start({ ...decided, ...inSandbox(sandboxId) })).result();
    expect(result).toMatchObject({ outcome: 'outcome_unknown', prompts: [{ status: 'unknown', result: null }] });
  });

  it('is not an older prompt of the source, when the history of a fork begins with its source', async () => {
    const sourceId = await somebodysSandbox(stand);
    const { conversationId } = await stand.api.sendPrompt(sourceId, { prompt: text });
    const eventsOf = async (id: string) => (await stand.api.listEvents(id)).events;
    await expect.poll(async () => (await eventsOf(sourceId)).at(-1)?.type).toBe('prompt.completed');
    stand.play({
      listEvents: async (id) => ({
        ok: true,
        type: 'event.list',
        events: [...(await eventsOf(sourceId)), ...(await eventsOf(id))],
      }),
      sendPrompt: async () => {
        throw lostAnswer('sendPrompt');
      },
    });
    const source = { kind: 'fork', sandboxId: sourceId } as const;
    const result = await (await stand.start({ ...decided, source })).result();
    expect(result).toMatchObject({
      outcome: 'outcome_unknown',
      prompts: [{ status: 'unknown', conversationId: null }],
    });
    expect(conversationId).toBeTruthy();
  });

  it('is not one of a history that was misrouted once', async () => {
    let looks = 0;
    stand.play({
      sendPrompt: async (id, body) => {
        await stand.api.sendPrompt(id, body);
        throw lostAnswer('sendPrompt');
      },
      listEvents: async (id, query) => {
        const answer = await stand.api.listEvents(id, query);
        const others = { promptId: 'prm_others', conversationId: 'conv_others' };
        looks += 1;
        return looks === 2 ? { ...answer, events: answer.events.map((event) => ({ ...event, ...others })) } : answer;
      },
    });
    const result = await (await stand.start({ ...decided, deadlineMs: 30_000 })).result();
    expect(result).toMatchObject({ outcome: 'completed', prompts: [{ status: 'completed', result: 'mine\n' }] });
    expect(stand.service.books.prompts()).toHaveLength(1);
  });

  it.each([
    ['provider', { provider: 'claude-code' }, { provider: 'codex' }],
    ['model', { model: 'one' }, { model: 'another' }],
  ] as const)('is not one of another %s', async (_, theirs, ours) => {
    stand.play(overtakenBy({ prompt: text, ...theirs }));
    const result = await (await stand.start({ ...decided, prompts: [{ prompt: text, ...ours }] })).result();
    expect(result).toMatchObject({ outcome: 'outcome_unknown', prompts: [{ status: 'unknown' }] });
  });
});

describe('the reads before a prompt', () => {
  it('do not grow with the conversation, and still show that a lost prompt was accepted', async () => {
    const asked: (string | undefined)[] = [];
    let sent = 0;
    stand.play({
      listEvents: (id, query, options) => {
        asked.push(query?.after);
        return stand.api.listEvents(id, query, options);
      },
      sendPrompt: async (id, body, options) => {
        sent += 1;
        const answer = await stand.api.sendPrompt(id, body, options);
        if (sent === 3) throw lostAnswer('sendPrompt');
        return answer;
      },
    });
    const prompts = Array.from({ length: 4 }, () => ({ prompt: text }));
    const result = await (await stand.start({ ...decided, prompts })).result();
    expect(result).toMatchObject({ outcome: 'completed', prompts: prompts.map(() => ({ status: 'completed' })) });
    expect(new Set(result.prompts.map(({ promptId }) => promptId)).size).toBe(4);
    expect(stand.service.books.prompts()).toHaveLength(4);
    // Nothing is read before the first prompt; then there is no earlier event to begin at; the transcript is read whole.
    expect(asked.filter((after) => after === undefined)).toHaveLength(2);
    expect(new Set(asked.filter((after) => after !== undefined)).size).toBe(2);
  });
});

describe('a policy', () => {
  it.each(['abandon', 'resend'] as const)('%s decides at once where nobody looks for evidence', async (policy) => {
    const sandboxId = await somebodysSandbox(stand);
    let sent = 0;
    stand.play({
      sendPrompt: async (id, body, options) => {
        sent += 1;
        if (sent === 1) throw lostAnswer('sendPrompt');
        return stand.api.sendPrompt(id, body, options);
      },
    });
    // A wait for evidence would last longer than the job.
    const timing = { ...shortTiming, safetyPollFirstMs: 60_000, safetyPollMaxMs: 60_000 };
    const input = { ...decided, ...inSandbox(sandboxId), onUnknownOutcome: policy, timing, deadlineMs: 30_000 };
    const { outcome } = await (await stand.start(input)).result();
    expect(outcome).toBe(policy === 'abandon' ? 'outcome_unknown' : 'completed');
    expect(sent).toBe(policy === 'abandon' ? 1 : 2);
  });
});

describe('an answer about something else', () => {
  it('to a prompt in a given conversation is replaced by evidence', async () => {
    let calls = 0;
    stand.play({
      sendPrompt: async (id, body, options) => {
        const answer = await stand.api.sendPrompt(id, body, options);
        calls += 1;
        return calls === 2 ? { ...answer, promptId: 'prm_others', conversationId: 'conv_others' } : answer;
      },
    });
    const prompts = [{ prompt: script('echo one') }, { prompt: script('echo two') }];
    const result = await (await stand.start({ prompts })).result();
    expect(result.prompts.map(({ result: said }) => said?.trim())).toEqual(['one', 'two']);
    expect(result.prompts[1]?.conversationId).toBe(result.prompts[0]?.conversationId);
    expect(stand.service.books.prompts()).toHaveLength(2);
  });

  describe.each(['create', 'existing'] as const)(
    'an answer about something else to the first prompt, in a sandbox of source %s',
    (kind) => {
      it('is detected if nothing appears of what it named', async () => {
        stand.play({
          sendPrompt: async (id, body, options) => {
            const answer = await stand.api.sendPrompt(id, body, options);
            return { ...answer, promptId: `prm_${'0'.repeat(24)}`, conversationId: `conv_${'0'.repeat(24)}` };
          },
        });
        const own = { outcome: 'completed', prompts: [{ status: 'completed', result: 'mine\n' }] };
        const shared = { outcome: 'outcome_unknown', prompts: [{ status: 'unknown' }] };
        const source = kind === 'create' ? {} : inSandbox(await somebodysSandbox(stand));
        const result = await (await stand.start({ ...decided, deadlineMs: 40_000, ...source })).result();
        expect(result).toMatchObject(kind === 'create' ? own : shared);
        expect(stand.service.books.prompts()).toHaveLength(1);
      });
    },
  );
});

describe('a prompt that is accepted slowly', () => {
  it('heartbeats, and is not taken for one of a dead worker', async () => {
    await stand.fault({ kind: 'latency', endpoint: 'sendPrompt', ms: 17_000 });
    const handle = await stand.start({ onUnknownOutcome: 'abandon' });
    const result = await handle.result();
    expect(result).toMatchObject({ outcome: 'completed', prompts: [{ status: 'completed' }] });
    expect(JSON.stringify(await handle.fetchHistory())).not.toContain('outcome_unknown');
  });

  it('is interrupted by a cancel before the answer, in a sandbox that stays', async () => {
    const sandboxId = await somebodysSandbox(stand);
    await stand.fault({ kind: 'latency', endpoint: 'sendPrompt', ms: 12_000 });
    const handle = await stand.start({ ...inSandbox(sandboxId), prompts: [{ prompt: script('sleep 60') }] });
    await expect.poll(async () => (await progressOf(handle)).prompts[0]?.status).toBe('sending');
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    await handle.cancel();
    const result = await handle.result();
    expect(result).toMatchObject({ outcome: 'cancelled', prompts: [{ status: 'interrupted' }] });
    expect(stand.service.books.prompts({ sandboxId })).toMatchObject([{ status: 'interrupted' }]);
  });
});
