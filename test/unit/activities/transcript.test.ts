import { expect, it, onTestFinished, vi } from 'vitest';
import { storeTranscript, type TranscriptTools } from '../../../activities/prompt/transcript.js';

const conversationId = 'conv_0123456789abcdef01234567';
const event = {
  ...{ id: `sev_${'0'.repeat(24)}`, type: 'prompt.queued', conversationId },
  createdAt: '2026-01-01T00:00:00.000Z',
};
const request = { sandboxId: 'bx_2345abcd', conversationIds: [conversationId], key: 'k', timeoutMs: 50 };

function toolsWith(results: TranscriptTools['results']): TranscriptTools {
  const { signal } = new AbortController();
  return {
    client: { listEvents: async () => ({ ok: true, type: 'event.list', events: [event] }) },
    results,
    attempt: { attempt: 1, call: (make) => make(signal) },
  };
}

it('A transcript delays the end of its sandbox by no more than its time, also if the result store hangs', async () => {
  let puts = 0;
  const hung = { put: () => new Promise<never>(() => (puts += 1)) };
  await storeTranscript(toolsWith(hung), request);
  expect(puts).toBe(1);
});

it('A store that fails late leaves no unhandled rejection', async () => {
  const rejections = vi.fn();
  process.on('unhandledRejection', rejections);
  onTestFinished(() => void process.off('unhandledRejection', rejections));
  let fail: (error: Error) => void = () => undefined;
  const late = { put: () => new Promise<never>((_, reject) => (fail = reject)) };
  await storeTranscript(toolsWith(late), request);
  fail(new Error('the disk is gone'));
  await new Promise((resolve) => setImmediate(resolve));
  expect(rejections).not.toHaveBeenCalled();
});

it('A transcript says how many events could not be read, and is not complete if the service does not give all pages', async () => {
  let stored = '';
  const put = async (_: string, content: Uint8Array) => {
    stored = Buffer.from(content).toString('utf8');
    return { ref: 'r' };
  };
  const tools = toolsWith({ put } as unknown as TranscriptTools['results']);
  const listEvents: TranscriptTools['client']['listEvents'] = async (_, __, options) => {
    options?.onRowsLeftOut?.(2);
    return { ok: true, type: 'event.list', events: [event], hasMore: true };
  };
  await storeTranscript({ ...tools, client: { listEvents } }, request);
  expect(JSON.parse(stored)).toMatchObject({ complete: false, unreadRows: 2, events: [{ id: event.id }] });
});
