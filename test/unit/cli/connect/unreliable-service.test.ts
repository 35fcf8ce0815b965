import { afterEach, describe, expect, it } from 'vitest';
import { aSandbox, createClosing, type SeenRequest, sendJson, startStand } from '../../client/http-harness.js';
import { cli } from '../in-process.js';

const closing = createClosing();
afterEach(closing.closeAll);

const webhookId = 'wh_0123456789abcdef01234567';
const url = 'https://bridge.example.com/webhooks/sandbox';
const webhook = { id: webhookId, name: 'mine', url, events: ['sandbox.ready'] };

/** A service that answers the first attempt of every request with a proxy's page. */
async function flaky() {
  const met = new Set<string>();
  const stand = closing.keep(
    await startStand(({ method, url: path }: SeenRequest, response) => {
      const key = `${method} ${path}`;
      if (!met.has(key)) {
        met.add(key);
        return void response.writeHead(502, { 'content-type': 'text/html' }).end('<html>');
      }
      if (path.endsWith('/sandboxes')) return sendJson(response, 200, { ok: true, sandboxes: [aSandbox] });
      if (path.includes('/sandboxes/')) return sendJson(response, 200, { ok: true, sandbox: aSandbox });
      if (path.endsWith('/webhooks')) return sendJson(response, 200, { ok: true, webhooks: [webhook] });
      return sendJson(response, 200, { ok: true });
    }),
  );
  return {
    stand,
    env: { SANDBOX_API_URL: stand.url, SANDBOX_API_KEY: 'key_secret', SANDBOX_WEBHOOK_SECRET: 'whsec_x' },
  };
}

describe('commands with an unreliable service', () => {
  it.each([[['sandboxes']], [['sandboxes', 'show', aSandbox.id]], [['webhooks', 'list']]])(
    '%j repeats a read',
    async (args) => {
      const { stand, env } = await flaky();
      expect(await cli(args, { env })).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/./) });
      expect(stand.seen).toHaveLength(2);
    },
  );

  it.each([[['api', 'GET', '/me']], [['webhooks', 'delete', webhookId]]])('%j is one attempt', async (args) => {
    const { stand, env } = await flaky();
    expect((await cli(args, { env })).exitCode).not.toBe(0);
    expect(stand.seen).toHaveLength(1);
  });

  it('webhooks connect repeats reads, and no write without a check', async () => {
    const { stand, env } = await flaky();
    await cli(['webhooks', 'connect', '--no-test', '--url', url], { env });
    const writes = stand.seen.filter(({ method }) => method !== 'GET').map(({ method }) => method);
    expect(stand.seen.filter(({ method }) => method === 'GET')).toHaveLength(3);
    expect(writes).toEqual(['PATCH']);
  });
});
