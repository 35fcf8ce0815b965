import { afterEach, describe, expect, it, vi } from 'vitest';
import { createSandboxClient } from '../../../src/client/index.js';
import { traceHeaders } from '../../../src/tracing/trace-context.js';
import { type Stand, startStand } from '../client/http-harness.js';
import { inCaller, recordSpans } from './recorded-spans.js';

let recorded: ReturnType<typeof recordSpans> | undefined;
let stand: Stand | undefined;
afterEach(async () => {
  recorded?.end();
  recorded = undefined;
  await stand?.close();
  stand = undefined;
});

/** The `traceparent` of a call with a JSON answer, of one with bytes, and of a plain one. */
async function callsWithin(wrap: <T>(work: () => Promise<T>) => Promise<unknown>): Promise<(string | undefined)[]> {
  stand = await startStand((_, response) => response.setHeader('content-type', 'application/json').end('{"ok":true}'));
  const client = createSandboxClient({ baseUrl: `${stand.url}/v1`, apiKey: 'key', allowHttp: true });
  await wrap(async () => {
    await client.listSandboxes().catch(() => undefined);
    await client.request({ method: 'GET', path: '/sandboxes' }).then(({ body }) => body.resume());
  });
  await client.close();
  return stand.seen.map(({ headers }) => headers.traceparent as string | undefined);
}

describe('the context of a trace', () => {
  it('goes with each call of the client, and hides none of its headers', async () => {
    recorded = recordSpans();
    let caller: { readonly traceId: string; readonly spanId: string } | undefined;
    const seen = await callsWithin(async (work) => (caller = await inCaller(work)));
    expect(seen).toEqual([1, 2].map(() => `00-${caller?.traceId}-${caller?.spanId}-01`));
    expect(stand?.seen[0]?.headers).toMatchObject({ authorization: 'Bearer key', accept: 'application/json' });
  });

  it('is no header of a call outside of a span', async () => {
    recorded = recordSpans();
    expect(await callsWithin((work) => work())).toEqual([undefined, undefined]);
  });

  it('is nothing without an SDK, for which nothing is loaded', async () => {
    let loads = 0;
    vi.doMock('@opentelemetry/api', () => {
      loads += 1;
      return { context: { active: () => null }, propagation: { inject: () => undefined } };
    });
    try {
      expect(await callsWithin((work) => work())).toEqual([undefined, undefined]);
      expect(loads).toBe(0);
      const registry = Symbol.for('opentelemetry.js.api.1');
      const globals = globalThis as Record<symbol, unknown>;
      const before = globals[registry];
      globals[registry] = { propagation: {} };
      await traceHeaders();
      globals[registry] = before;
      expect(loads, 'the check notices a load').toBe(1);
    } finally {
      vi.doUnmock('@opentelemetry/api');
    }
  });
});
