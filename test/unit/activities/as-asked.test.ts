import { expect, it } from 'vitest';
import { findPromptEvidence } from '../../../activities/prompt/evidence.js';
import type { SandboxClient } from '../../../src/client/index.js';
import { attempt } from './attempt.js';

interface Shown {
  readonly provider?: string;
  readonly model?: string;
}

/** The conversation of the prompt that is found among prompts of the same text; null if none is. */
async function foundAmong(shown: readonly Shown[], asked: Shown): Promise<string | null> {
  const events = shown.map((data, at) => ({
    ...{ id: `event ${at}`, type: 'prompt.queued', conversationId: `conv_${at}` },
    ...{ createdAt: new Date(1_700_000_000_000 + at).toISOString(), data: { prompt: 'a', ...data } },
  }));
  const client = { listEvents: async () => ({ ok: true, type: 'event.list', events }) } as unknown as SandboxClient;
  const query = {
    ...{ sandboxId: 'bx_22222222', conversationId: null, knownPromptIds: [], knownConversationIds: [] },
    ...{ recordKey: 'k', isOwnSandbox: true, sandboxMadeAt: null },
  };
  const found = await findPromptEvidence({ ...query, ...asked }, { client, attempt, text: 'a', record: null });
  return found?.conversationId ?? null;
}

it.each([
  ['claude', 'claude-code'],
  ['claude-code', 'claude'],
  ['prime', 'prime-agent'],
  ['kimi-code', 'kimi'],
])('a prompt for the provider %s is found as one of %s', async (asked, shown) => {
  expect(await foundAmong([{ provider: shown }], { provider: asked })).toBe('conv_0');
});

it.each([
  ['claude', 'codex'],
  ['prime', 'pi'],
])('a prompt for the provider %s is not one of %s', async (asked, shown) => {
  expect(await foundAmong([{ provider: shown }], { provider: asked })).toBeNull();
});

it.each([
  ['sonnet', 'claude-sonnet-4-20250514'],
  ['claude-sonnet-4', 'claude-sonnet-4@20250514'],
  ['gpt-5', 'openai/gpt-5-latest'],
  ['claude-sonnet-4-20250514', 'claude-sonnet-4'],
])('a prompt for the model %s may be the only one of %s', async (asked, shown) => {
  expect(await foundAmong([{ model: shown }], { model: asked })).toBe('conv_0');
});

it.each([
  ['one', 'another'],
  ['gpt-5', 'gpt-5-mini'],
  ['gpt-5', 'gpt-51'],
])('a prompt for the model %s is not one of %s', async (asked, shown) => {
  expect(await foundAmong([{ model: shown }], { model: asked })).toBeNull();
});

it('a prompt with exactly the requested model comes before one whose model may be the same', async () => {
  expect(await foundAmong([{ model: 'opus-4' }, { model: 'opus' }], { model: 'opus' })).toBe('conv_1');
});

it('a prompt is not found if two may be it', async () => {
  expect(await foundAmong([{ model: 'opus-4' }, { model: 'opus-4-1' }], { model: 'opus' })).toBeNull();
  expect(await foundAmong([{ provider: 'kimi' }, { provider: 'kimi-code' }], { provider: 'kimi' })).toBeNull();
});
