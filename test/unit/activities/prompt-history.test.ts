import { describe, expect, it } from 'vitest';
import { promptEndOfEvents, readPromptEnd } from '../../../activities/prompt/end.js';
import { newPrompts, type PromptQuery } from '../../../activities/prompt/evidence.js';
import { newTo, recordOf } from '../../../activities/prompt/record.js';
import type { SandboxClient } from '../../../src/client/index.js';
import type { Prompt, SandboxHistoryEvent } from '../../../src/contract/records/sandbox-records.js';
import { attempt } from './attempt.js';

let position = 0;
const event = (type: string, over: Partial<SandboxHistoryEvent> = {}): SandboxHistoryEvent => {
  position += 1;
  const createdAt = new Date(1_700_000_000_000 + position * 1_000).toISOString();
  return { id: `sev_${position}`, type, conversationId: 'conv_1', createdAt, ...over };
};
const queued = (prompt: string, promptId?: string, over: Partial<SandboxHistoryEvent> = {}) =>
  event('prompt.queued', { promptId, data: { prompt }, ...over });
/** The record after a read of the whole history. */
const whole = (queued: readonly SandboxHistoryEvent[]) => recordOf({ queued, since: null, rest: null }, null);
const said = (text: string, promptId?: string) => event('agent.message', { promptId, data: { text } });

describe('the end of a prompt in a history', () => {
  it('is that of its own id, with the agent’s last message', () => {
    const events = [
      queued('a', 'prm_1'),
      said('one', 'prm_1'),
      event('prompt.failed', { promptId: 'prm_1', data: { error: 'no' } }),
      queued('a', 'prm_2'),
      said('two', 'prm_2'),
      said('three', 'prm_2'),
      event('prompt.completed', { promptId: 'prm_2' }),
    ];
    const end = promptEndOfEvents(events, { promptId: 'prm_2', prompt: 'a', knownPromptIds: ['prm_1'], record: null });
    expect(end).toMatchObject({ status: 'completed', result: 'three', promptId: 'prm_2' });
    const first = promptEndOfEvents(events, { promptId: 'prm_1', prompt: 'a', knownPromptIds: [], record: null });
    expect(first).toMatchObject({ status: 'failed', error: 'no', result: 'one' });
  });

  it('has the whole answer that the end tells, of which the messages are parts', () => {
    const done = event('prompt.completed', { promptId: 'prm_1', data: { result: 'one\ntwo\n' } });
    const events = [queued('a', 'prm_1'), said('one\n', 'prm_1'), said('two\n', 'prm_1'), done];
    const end = promptEndOfEvents(events, { promptId: 'prm_1', prompt: 'a', knownPromptIds: [], record: null });
    expect(end?.result).toBe('one\ntwo\n');
  });

  it('S2: is found by its text if the service gave no id, after the known prompts', () => {
    const events = [queued('a', 'prm_1'), event('prompt.completed', { promptId: 'prm_1' }), queued('a', 'prm_2')];
    expect(
      promptEndOfEvents(events, { promptId: null, prompt: 'a', knownPromptIds: ['prm_1'], record: null }),
    ).toMatchObject({
      promptId: 'prm_2',
      status: 'running',
    });
  });

  it('S2: is found in a history without prompt ids', () => {
    const events = [queued('a'), event('prompt.started'), said('done'), event('prompt.completed')];
    expect(promptEndOfEvents(events, { promptId: null, prompt: 'a', knownPromptIds: [], record: null })).toMatchObject({
      status: 'completed',
      result: 'done',
    });
  });

  it('is unknown while the history lags', () => {
    expect(promptEndOfEvents([], { promptId: 'prm_1', prompt: 'a', knownPromptIds: [], record: null })).toBeUndefined();
  });
});

describe('the answer of a prompt whose record shows its end', () => {
  const ids = { sandboxId: 'bx_22222222', promptId: 'prm_1', conversationId: 'conv_1' };
  const endOf = async (record: Partial<Prompt>, events: readonly SandboxHistoryEvent[] | undefined) => {
    const client = {
      getPrompt: async () => ({ prompt: { id: 'prm_1', status: 'completed', ...record } }),
      listEvents: async () => ({ events }),
    } as unknown as SandboxClient;
    const followed = { ...ids, prompt: 'a', knownPromptIds: [] };
    return (await readPromptEnd(client, followed, { attempt, readRecord: async () => null })).end;
  };
  const done = [queued('a', 'prm_1'), said('one', 'prm_1'), event('prompt.completed', { promptId: 'prm_1' })];
  const unread = 'This could not be read: the answer of the prompt.';

  it.each<[string, Partial<Prompt>, readonly SandboxHistoryEvent[], string | null, string?]>([
    ['the record has it', { result: 'of the record' }, done, 'of the record'],
    ['the record says that there is none', { result: null }, done, null],
    ['only the history has it', {}, done, 'one'],
    ['only the history has it, and another word is used for the end', { status: 'done', endedAt: 'now' }, done, 'one'],
    ['the history does not show the end, so that it may be a part', {}, done.slice(0, 2), 'one', unread],
    ['the history does not show the prompt', {}, [], null, unread],
  ])('%s', async (_, record, events, result, note) => {
    const end = await endOf(record, events);
    expect(end).toMatchObject({ status: 'completed', result });
    if (note !== undefined || record.status === undefined) expect(end?.note).toBe(note);
  });
});

describe('the end of a prompt in a history without prompt ids', () => {
  const by = { promptId: null, prompt: 'a', knownPromptIds: [] };

  it('is not that of an equal prompt in the record', () => {
    const before = [queued('a'), event('prompt.started'), said('one'), event('prompt.completed')];
    const record = whole(before.slice(0, 1));
    expect(promptEndOfEvents(before, { ...by, record })).toBeUndefined();
    const after = [...before, queued('a'), event('prompt.started'), said('two')];
    expect(promptEndOfEvents(after, { ...by, record })).toMatchObject({ status: 'running', result: 'two' });
  });

  it('follows the prompts that were queued before it in the conversation', () => {
    const events = [
      ...[queued('other'), event('prompt.started'), queued('a'), said('of the other'), event('prompt.completed')],
      ...[event('prompt.started'), said('mine'), event('prompt.failed', { data: { error: 'no' } })],
    ];
    expect(promptEndOfEvents(events.slice(0, 5), { ...by, record: null })).toMatchObject({
      status: 'running',
      result: null,
    });
    expect(promptEndOfEvents(events, { ...by, record: null })).toMatchObject({
      status: 'failed',
      error: 'no',
      result: 'mine',
    });
  });
});

describe('evidence that a prompt was accepted', () => {
  const query: PromptQuery = {
    ...{ sandboxId: 'bx_22222222', conversationId: null, knownPromptIds: [], knownConversationIds: [] },
    ...{ recordKey: 'k', isOwnSandbox: true, sandboxMadeAt: null },
  };
  const found = (events: readonly SandboxHistoryEvent[], over: Partial<PromptQuery> = {}, before = 0) =>
    newPrompts(events, {
      query: { ...query, ...over },
      text: 'a',
      record: before === 0 ? null : { by: 'x', ...whole(events.slice(0, before)) },
    }).map(({ promptId }) => promptId);

  it('is a queued prompt with exactly that text that is not known to be another', () => {
    const events = [
      queued('a', 'prm_1', { conversationId: 'conv_0' }),
      queued('b', 'prm_2', { conversationId: 'conv_1' }),
      queued('a', 'prm_3', { conversationId: 'conv_2' }),
    ];
    expect(found(events, { knownPromptIds: ['prm_1'] })).toEqual(['prm_3']);
  });

  it('is not a prompt that existed before the first byte', () => {
    const events = [
      queued('a', 'prm_1', { conversationId: 'conv_0' }),
      queued('a', 'prm_2', { conversationId: 'conv_1' }),
    ];
    expect(found(events, {}, 1)).toEqual(['prm_2']);
    expect(found(events, {}, 2)).toEqual([]);
  });

  it('is the first prompt of a new conversation, and of the given one if there is one', () => {
    const events = [queued('b', 'prm_1'), queued('a', 'prm_2')];
    expect(found(events)).toEqual([]);
    expect(found(events, { conversationId: 'conv_1' })).toEqual(['prm_2']);
    expect(found(events, { conversationId: 'conv_2' })).toEqual([]);
  });

  it('is not in a conversation that belongs to another prompt of the job', () => {
    expect(found([queued('a', undefined, { conversationId: 'conv_0' })], { knownConversationIds: ['conv_0'] })).toEqual(
      [],
    );
  });

  it.each([0, 1])('is not older than the fork, with a record of %i events', (before) => {
    const [other, old] = [queued('b', 'prm_0'), queued('a', 'prm_1', { conversationId: 'conv_2' })];
    const sandboxMadeAt = new Date(Date.parse(old.createdAt ?? '') + 1).toISOString();
    expect(found([other, old], { sandboxMadeAt }, before)).toEqual([]);
    expect(found([other, old], { sandboxMadeAt: old.createdAt }, before)).toEqual(['prm_1']);
  });
});

describe('the record of a prompt', () => {
  it('is limited, and treats everything before its oldest entry as seen', () => {
    const events = Array.from({ length: 1_500 }, () => queued('a'));
    const record = whole(events);
    expect(JSON.stringify(record).length).toBeLessThan(16_000);
    const next = queued('a');
    expect(newTo(record, [...events, next])).toEqual([next]);
  });
});
