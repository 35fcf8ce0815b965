import type { Client } from '@temporalio/client';
import { afterEach, describe, expect, it } from 'vitest';
import { createVisibilityCheck } from '../../../../src/cli/stops/stop-sandboxes.js';
import { aSandbox, createClosing, errorBody, sendJson, startStand } from '../../client/http-harness.js';

const closing = createClosing();
afterEach(closing.closeAll);

const { id: sandboxId } = aSandbox;

/** Checks a sandbox that the service shows after `missing` reads. */
async function check(missing: number, { refuses }: { readonly refuses: boolean }) {
  const stand = closing.keep(
    await startStand((_, response) => {
      if (stand.seen.length <= missing) return sendJson(response, 404, errorBody(404, 'sandbox_not_found'));
      sendJson(response, 200, { ok: true, type: 'sandbox.info', sandbox: aSandbox });
    }),
  );
  const notices: string[] = [];
  const visible = createVisibilityCheck({
    service: closing.client(stand),
    link: { call: (call) => call({} as Client) },
    reporter: { notice: (text) => notices.push(text) },
    interrupted: new AbortController().signal,
    requestId: undefined,
    refuses,
    pausesMs: [1, 1],
  });
  const error: unknown = await visible(sandboxId).catch((reason: unknown) => reason);
  return { error, notices, reads: stand.seen.length };
}

describe('before a stop is requested', () => {
  it('a sandbox that the service shows, also after a read that lags, passes', async () => {
    expect(await check(0, { refuses: true })).toEqual({ error: undefined, notices: [], reads: 1 });
    expect(await check(2, { refuses: true })).toEqual({ error: undefined, notices: [], reads: 3 });
  });

  it('a sandbox that the service does not show is refused after three reads', async () => {
    const { error, notices, reads } = await check(9, { refuses: true });
    expect(error).toMatchObject({ code: 'sandbox_not_found' });
    expect((error as Error).message).toMatch(
      /^There is no sandbox bx_23456789,.* It was not stopped\. .* --no-check\.$/,
    );
    expect({ notices, reads }).toEqual({ notices: [], reads: 3 });
  });

  it('with --no-check, the wait for a sandbox that is not shown is named', async () => {
    const { error, notices, reads } = await check(9, { refuses: false });
    expect({ error, reads }).toEqual({ error: undefined, reads: 1 });
    expect(notices).toEqual([expect.stringContaining('the service does not show this sandbox. It may be new')]);
  });
});
