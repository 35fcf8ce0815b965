import { afterEach, expect, it } from 'vitest';
import { readEqualPrompts } from '../../../activities/prompt/evidence.js';
import { readHistory } from '../../../activities/prompt/history.js';
import type { Attempt } from '../../../activities/retry/attempt.js';
import { createSandboxClient, type SandboxClient } from '../../../src/client/index.js';
import { type Stand, startStand } from '../../client/http-harness.js';

const sandboxId = 'bx_0123456789abcdef01234567';
const idOf = (at: number) => `sev_${at.toString(16).padStart(24, '0')}`;
const event = (at: number) => ({
  id: idOf(at),
  type: 'prompt.queued',
  conversationId: 'conv_0123456789abcdef01234567',
  createdAt: new Date(1_700_000_000_000 + at).toISOString(),
  data: { prompt: 'again' },
});
const bad = (at: number) => ({ ...event(at), type: 7 });

let closing: readonly (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing) await close();
});

/** Pages of 100 events, which may differ at each request. */
async function serving(count: number, row: (at: number, ask: number) => object): Promise<[SandboxClient, Stand]> {
  let asks = 0;
  const stand = await startStand(({ url }, response) => {
    asks += 1;
    const after = new URL(url, 'http://stand').searchParams.get('after');
    const first = after === null ? 0 : Number.parseInt(after.slice('sev_'.length), 16) + 1;
    const length = Math.max(0, Math.min(100, count - first));
    const events = Array.from({ length }, (_, at) => row(first + at, asks));
    response
      .setHeader('content-type', 'application/json')
      .end(JSON.stringify({ ok: true, type: 'event.list', events }));
  });
  const client = createSandboxClient({ baseUrl: stand.url, apiKey: 'test-key' });
  closing = [() => client.close(), () => stand.close()];
  return [client, stand];
}

const signal = new AbortController().signal;
const attempt: Attempt = { attempt: 1, signal, call: (make) => make(signal), calls: () => 0, maybeSent: false };

it('continues after a page with one unreadable event', async () => {
  const [client] = await serving(150, (at) => (at === 40 ? bad(at) : event(at)));
  const history = await readHistory(client, sandboxId, { conversationId: null, attempt });
  expect(history.map(({ id }) => id)).toEqual(Array.from({ length: 150 }, (_, at) => idOf(at)).toSpliced(40, 1));
});

const query = {
  ...{ sandboxId, conversationId: null, knownPromptIds: [], knownConversationIds: [] },
  ...{ recordKey: 'none', isOwnSandbox: true, sandboxMadeAt: null },
};

it('records an event that is unreadable at first, so that it is not taken for a new prompt later', async () => {
  const [client] = await serving(2, (at, ask) => (at === 0 && ask === 1 ? bad(at) : event(at)));
  expect(await readEqualPrompts(client, query, 'again', { attempt })).toHaveLength(2);
});

it('gives up on a permanently unreadable event', async () => {
  const [client, stand] = await serving(2, (at) => (at === 0 ? bad(at) : event(at)));
  expect(await readEqualPrompts(client, query, 'again', { attempt })).toHaveLength(1);
  expect(stand.seen).toHaveLength(3);
});
