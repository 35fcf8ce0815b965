import { describe, expect, it } from 'vitest';
import { promptEndOfEvents } from '../../../activities/prompt-end.js';
import { matchingPrompts, type PromptEvidenceQuery } from '../../../activities/prompt-evidence.js';
import type { SandboxHistoryEvent } from '../../../src/contract/records.js';

let position = 0;
const event = (type: string, over: Partial<SandboxHistoryEvent> = {}): SandboxHistoryEvent => {
  position += 1;
  const createdAt = new Date(1_700_000_000_000 + position * 1_000).toISOString();
  return { id: `sev_${position}`, type, conversationId: 'conv_1', createdAt, ...over };
};
const queued = (prompt: string, promptId?: string, over: Partial<SandboxHistoryEvent> = {}) =>
  event('prompt.queued', { promptId, data: { prompt }, ...over });
const said = (text: string, promptId?: string) => event('agent.message', { promptId, data: { text } });

describe('the end of a prompt in a history', () => {
  it('is the one of its own id, with the last thing that the agent said', () => {
    const events = [
      queued('a', 'prm_1'),
      said('one', 'prm_1'),
      event('prompt.failed', { promptId: 'prm_1', data: { error: 'no' } }),
      queued('a', 'prm_2'),
      said('two', 'prm_2'),
      said('three', 'prm_2'),
      event('prompt.completed', { promptId: 'prm_2' }),
    ];
    const end = promptEndOfEvents(events, { promptId: 'prm_2', prompt: 'a', knownPromptIds: ['prm_1'] });
    expect(end).toMatchObject({ status: 'completed', result: 'three', promptId: 'prm_2' });
    const first = promptEndOfEvents(events, { promptId: 'prm_1', prompt: 'a', knownPromptIds: [] });
    expect(first).toMatchObject({ status: 'failed', error: 'no', result: 'one' });
  });

  it('S2: is found by the text where the service gave no id, past the prompts that are known', () => {
    const events = [queued('a', 'prm_1'), event('prompt.completed', { promptId: 'prm_1' }), queued('a', 'prm_2')];
    expect(promptEndOfEvents(events, { promptId: null, prompt: 'a', knownPromptIds: ['prm_1'] })).toMatchObject({
      promptId: 'prm_2',
      status: 'running',
    });
  });

  it('S2: is found in a history without any prompt ids', () => {
    const events = [queued('a'), event('prompt.started'), said('done'), event('prompt.completed')];
    expect(promptEndOfEvents(events, { promptId: null, prompt: 'a', knownPromptIds: [] })).toMatchObject({
      status: 'completed',
      result: 'done',
    });
  });

  it('is not known while the history lags', () => {
    expect(promptEndOfEvents([], { promptId: 'prm_1', prompt: 'a', knownPromptIds: [] })).toBeUndefined();
  });
});

describe('evidence that a prompt was accepted', () => {
  const query = (over: Partial<PromptEvidenceQuery> = {}): PromptEvidenceQuery => ({
    sandboxId: 'bx_22222222',
    prompt: 'a',
    conversationId: null,
    knownPromptIds: [],
    knownConversationIds: [],
    beganAtMs: 0,
    shared: false,
    ...over,
  });

  it('is a queued prompt of the very text that is not known to be another', () => {
    const events = [queued('a', 'prm_1', { conversationId: 'conv_0' }), queued('b', 'prm_2'), queued('a', 'prm_3')];
    const matches = matchingPrompts(events, query({ knownPromptIds: ['prm_1'] }));
    expect(matches.map(({ promptId }) => promptId)).toEqual(['prm_3']);
  });

  it('is not one of a conversation that belongs to an earlier prompt of the job', () => {
    const events = [queued('a', undefined, { conversationId: 'conv_0' })];
    expect(matchingPrompts(events, query({ knownConversationIds: ['conv_0'] }))).toEqual([]);
  });

  it('is not a prompt that others sent into a shared sandbox before', () => {
    const old = queued('a', 'prm_1');
    const beganAtMs = Date.parse(old.createdAt) + 3_600_000;
    expect(matchingPrompts([old], query({ shared: true, beganAtMs }))).toEqual([]);
    expect(matchingPrompts([old], query({ shared: false, beganAtMs }))).toHaveLength(1);
  });
});
