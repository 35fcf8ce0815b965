import { describe, expect, it } from 'vitest';
import { readPromptEnd } from '../../../activities/prompt/end.js';
import { findPromptEvidence, type PromptQuery, readQueuedPrompts } from '../../../activities/prompt/evidence.js';
import { type PromptRecord, recordOf } from '../../../activities/prompt/record.js';
import { ApiError, type ListEventsQuery, type SandboxClient } from '../../../src/client/index.js';
import type { SandboxHistoryEvent } from '../../../src/contract/records/sandbox-records.js';
import { attempt } from './attempt.js';

const conversationId = 'conv_1';
const sandboxId = 'bx_22222222';
const query: PromptQuery = {
  ...{ sandboxId, conversationId, knownPromptIds: [], knownConversationIds: [] },
  ...{ recordKey: 'k', isOwnSandbox: true, sandboxMadeAt: null },
};
const refused = (status: number) =>
  new ApiError('no', {
    ...{ endpoint: 'listEvents', status, code: 'no', typed: true, meaning: 'permanent' },
    ...{ requestId: null, retryAfterMs: null, details: null },
  });

type Answer = (events: readonly SandboxHistoryEvent[], after: string | undefined) => readonly SandboxHistoryEvent[];

const paged: Answer = (events, after) => events.slice(events.findIndex(({ id }) => id === after) + 1);
const unpaged: Answer = (events) => events;

/** A conversation of a service that names no prompt ids. */
class Conversation {
  readonly events: SandboxHistoryEvent[] = [];
  answer: Answer;

  constructor(answer: Answer) {
    this.answer = answer;
  }

  readonly client = {
    listEvents: async (_: string, { after }: ListEventsQuery = {}) => ({
      ok: true,
      type: 'event.list',
      events: this.answer(this.events, after),
    }),
  } as unknown as SandboxClient;

  add(type: string, data: SandboxHistoryEvent['data'] = {}): void {
    const at = this.events.length;
    const createdAt = new Date(1_700_000_000_000 + at * 1_000).toISOString();
    this.events.push({ id: `sev_${at.toString(16).padStart(24, '0')}`, type, conversationId, createdAt, data });
  }

  queue(prompt: string): void {
    this.add('prompt.queued', { prompt });
  }

  finish(said: string): void {
    this.add('prompt.started');
    this.add('agent.message', { text: said });
    this.add('prompt.completed');
  }

  async record(previous: PromptRecord | null): Promise<PromptRecord> {
    const before = await readQueuedPrompts(this.client, query, { attempt, previous });
    return { ...recordOf(before, previous), by: 'x' };
  }

  async end(prompt: string, record: PromptRecord) {
    const followed = { sandboxId, promptId: null, conversationId, prompt, knownPromptIds: [] };
    return (await readPromptEnd(this.client, followed, { attempt, readRecord: async () => record })).end;
  }

  look(text: string, record: PromptRecord, over: Partial<PromptQuery> = {}) {
    return findPromptEvidence({ ...query, ...over }, { client: this.client, attempt, text, record });
  }
}

describe('a later prompt of a conversation', () => {
  it('has its own answer although somebody else’s prompt was running when the previous one was sent', async () => {
    const one = new Conversation(paged);
    one.queue('theirs');
    one.add('prompt.started');
    const first = await one.record(null);
    one.queue('mine');
    one.add('agent.message', { text: 'theirs' });
    one.add('prompt.completed');
    one.queue('theirs again');
    one.finish('first of mine');
    const second = await one.record(first);
    one.queue('mine too');
    one.finish('theirs again');
    expect(await one.end('mine too', second)).toMatchObject({ status: 'running', result: null });
    one.finish('second of mine');
    expect(await one.end('mine too', second)).toMatchObject({ status: 'completed', result: 'second of mine' });
  });

  it('has its own answer although a service without paging answers with an older history', async () => {
    const one = new Conversation(unpaged);
    let record: PromptRecord | null = null;
    for (const prompt of ['go on', 'what next?', 'tell me', 'go on']) {
      record = await one.record(record);
      one.queue(prompt);
      one.finish(`answer ${one.events.length}`);
    }
    if (!record) throw new Error('There is no record');
    one.answer = (events) => events.slice(0, 6);
    expect(await one.end('go on', record)).toBeUndefined();
    expect(await one.look('go on', record)).toBeNull();
  });

  it('is found if the service no longer knows the event at which the read before it began', async () => {
    const one = new Conversation(paged);
    let record: PromptRecord | null = null;
    for (const prompt of ['go on', 'go on', 'go on']) {
      record = await one.record(record);
      one.queue(prompt);
      one.finish(`answer ${one.events.length}`);
    }
    if (!record) throw new Error('There is no record');
    one.answer = (events, after) => {
      if (after !== undefined) throw refused(410);
      return events.slice(5);
    };
    expect(await one.look('go on', record)).toMatchObject({ conversationId });
    expect(await one.end('go on', record)).toMatchObject({ status: 'completed', result: 'answer 9' });
  });

  it('is not taken for that of the job in a shared sandbox, where somebody may have sent the same text', async () => {
    const one = new Conversation(paged);
    const record = await one.record(null);
    one.queue('go on');
    expect(await one.look('go on', record, { isOwnSandbox: false })).toBeNull();
    expect(await one.look('go on', record)).toMatchObject({ conversationId });
  });

  it('is sent although the service breaks at the id of an event', async () => {
    const one = new Conversation((events, after) => {
      if (after !== undefined) throw refused(500);
      return events;
    });
    const first = await one.record(null);
    one.queue('go on');
    one.finish('first');
    const second = await one.record(first);
    one.queue('go on');
    one.finish('second');
    expect(await one.record(second)).toMatchObject({ phase: 'sending' });
  });
});
