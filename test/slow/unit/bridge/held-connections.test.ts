/** Strangers who hold connections of a bridge, for which nobody needs a secret. */
import { connect, type Socket } from 'node:net';
import type { Client } from '@temporalio/client';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createBridge } from '../../../../src/bridge/index.js';

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

async function served() {
  // It is not asked: none of these requests is a delivery.
  const temporalClient = {} as Client;
  const bridge = createBridge({ temporalClient, secrets: () => ['whsec_test'], closeGraceMs: 0 });
  const { url, port } = await bridge.listen({ port: 0 });
  ends.push(() => bridge.close());
  const stranger = (text = ''): Socket => {
    const socket = connect(port, '127.0.0.1')
      .on('error', () => undefined)
      .resume();
    socket.write(text);
    ends.push(() => socket.destroy());
    return socket;
  };
  return { url, stranger };
}

describe('a bridge', () => {
  it('answers beside a thousand strangers who say nothing, and closes the oldest of them', async () => {
    const { url, stranger } = await served();
    const strangers = Array.from({ length: 1_000 }, () => stranger());
    await vi.waitFor(() => expect(strangers.filter(({ destroyed }) => destroyed).length).toBeGreaterThanOrEqual(490), {
      timeout: 10_000,
    });
    expect(await (await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(2_000) })).text()).toBe('ok\n');
  });

  it('closes a request that is not whole after ten seconds', async () => {
    const { stranger } = await served();
    const slow = stranger('POST /webhooks/sandbox HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n');
    await vi.waitFor(() => expect(slow.closed).toBe(true), { timeout: 14_000, interval: 100 });
  }, 20_000);
});
