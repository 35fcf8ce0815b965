/** Tests what workflows catch with the failures that arrive there: those of reads are not wrapped. */
import { ApplicationFailure } from '@temporalio/common';
import { afterAll, describe, expect, it } from 'vitest';
import type { FaultInput } from '../../../../local-service/src/index.js';
import type { JobResult } from '../../../../workflows/index.js';
import { createClosing, sendJson, startStand } from '../../../unit/client/http-harness.js';
import { shareChangedStand } from '../../../workflows/changed-stand.js';
import { heal, readySandbox } from '../../../workflows/stop/stop-harness.js';

const { stand, change } = shareChangedStand();
const closing = createClosing();
afterAll(() => closing.closeAll());

const run = async (over = {}): Promise<JobResult> => (await stand.start(over)).result();

/** The result of each kind of ended job in this file. */
function books() {
  const { sandboxes, prompts, stops } = stand.service.books;
  return { sandboxes: sandboxes().length, prompts: prompts().length, stops: stops().length };
}

describe('a refusal of a read', () => {
  const refusals: FaultInput[] = [
    { kind: 'error', endpoint: 'getSandbox', status: 429, code: 'rate_limited' },
    { kind: 'error', endpoint: 'getSandbox', status: 429, code: 'rate_limited', retryAfterSeconds: 1 },
    { kind: 'error', endpoint: 'getSandbox', status: 500, code: 'http_500', times: 5 },
    { kind: 'error', endpoint: 'getSandbox', status: 404, html: true },
    { kind: 'error', endpoint: 'getSandbox', status: 403, html: true },
    { kind: 'error', endpoint: 'getSandbox', status: 413, html: true, times: 4 },
  ];
  it.each([refusals[0], refusals[3]])('is waited out at any point: %j', async (fault = {} as never) => {
    const before = books();
    await stand.fault(fault);
    expect(await run()).toMatchObject({ outcome: 'completed', stop: { status: 'completed', kept: 'saved' }, left: [] });
    const { sandboxes, prompts, stops } = books();
    expect([sandboxes - before.sandboxes, prompts - before.prompts, stops - before.stops]).toEqual([1, 1, 1]);
  });

  /** The workflow itself makes the first read of it, whose failure is not wrapped. */
  it.each(refusals)('is waited out before an existing sandbox is adopted: %j', async (fault) => {
    const sandboxId = await readySandbox(stand);
    await stand.fault(fault);
    expect(await run({ source: { kind: 'existing', sandboxId } })).toMatchObject({
      ...{ outcome: 'completed', stop: { status: 'completed', kept: 'saved' }, left: [] },
    });
  });

  it('that a person can fix is shown while it is waited out', async () => {
    const sandboxId = await readySandbox(stand);
    await stand.fault({ kind: 'error', endpoint: 'getSandbox', status: 401, code: 'unauthorized' });
    const handle = await stand.start({ source: { kind: 'existing', sandboxId } });
    await expect
      .poll(async () => (await handle.query<{ blocked: { message: string } | null }>('progress')).blocked?.message)
      .toContain('unauthorized');
    expect(await handle.result()).toMatchObject({ outcome: 'completed', left: [] });
  });

  it.each(['stopSandbox', 'getStop'] as const)('from a proxy page is no refusal by %s', async (endpoint) => {
    await stand.fault({ kind: 'error', endpoint, status: 403, html: true, times: 2 });
    const result = await run();
    expect(result).toMatchObject({ outcome: 'completed', stop: { status: 'completed', kept: 'saved' }, left: [] });
    expect((await stand.api.getSandbox(result.sandboxId ?? '')).sandbox.state).toBe('archived');
    await heal(stand);
  });

  it('for good, at the stop, ends the job with an outcome and names its sandbox', async () => {
    const fault = { kind: 'error', status: 403, code: 'api_key_sandbox_forbidden', times: 1_000 } as const;
    await stand.fault({ ...fault, endpoint: 'stopSandbox' });
    const result = await run({ timing: { cleanUpMs: 4_000 } });
    expect(result).toMatchObject({
      outcome: 'completed',
      error: { code: expect.any(String) },
      left: [{ kind: 'sandbox', sandboxId: result.sandboxId, why: expect.stringContaining('stop') }],
    });
    await heal(stand);
  });
});

describe('a read that fails on its worker', () => {
  it.each([
    ['three deploys in a row drain its workers', 'WorkerShutdown', 'Worker is shutting down'],
    ['workers of an older version do not know it', 'NotFoundError', 'Activity function getSandbox is not registered'],
  ])('is repeated until it succeeds, even if %s', async (_, type, message) => {
    const sandboxId = await readySandbox(stand);
    const { getSandbox } = stand.api;
    let failures = 0;
    change.getSandbox = async (...args) => {
      failures += 1;
      if (failures <= 4) throw ApplicationFailure.retryable(message, type);
      return getSandbox(...args);
    };
    expect(await run({ source: { kind: 'existing', sandboxId } })).toMatchObject({ outcome: 'completed', left: [] });
    expect(failures).toBeGreaterThan(4);
  });
});

describe('an answer of something else', () => {
  it('about a foreign sandbox is not believed, and that sandbox is not affected', async () => {
    const { sandbox: innocent } = await stand.api.createSandbox({ name: 'innocent' });
    const theirs = await stand.api.getSandbox(innocent.id);
    const confused = closing.client(closing.keep(await startStand((_, response) => sendJson(response, 200, theirs))));
    let misrouted = 0;
    change.getSandbox = (id, options) => {
      if (id === innocent.id || misrouted >= 2) return stand.api.getSandbox(id, options);
      misrouted += 1;
      return confused.getSandbox(id, options);
    };
    expect(await run()).toMatchObject({ outcome: 'completed', left: [] });
    expect(misrouted).toBe(2);
    expect((await stand.api.getSandbox(innocent.id)).sandbox).toMatchObject({ state: 'ready', stop: null });
  });
});
