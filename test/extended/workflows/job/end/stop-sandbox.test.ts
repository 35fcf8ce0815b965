/** The stop at the end of a job while others act, reads lag, or answers are wrong. */

import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { JobResult } from '../../../../../workflows/index.js';
import { createIntercept, lost, refusal } from '../../../../workflows/intercept.js';
import { progressOf } from '../../../../workflows/job-progress.js';
import { heal } from '../../../../workflows/stop/stop-harness.js';
import { believesNothing, createStand, type Stand, script } from '../../../../workflows/workflow-harness.js';

const intercept = createIntercept();
let stand: Stand;
beforeAll(async () => {
  stand = await createStand({ through: intercept.through });
});
afterEach(async () => {
  intercept.clear();
  await heal(stand);
});
afterAll(() => stand.close());

const run = async (over = {}): Promise<JobResult> => (await stand.start(over)).result();
const stops = (sandboxId: string | null) => stand.service.books.stops({ sandboxId: sandboxId ?? '' });
const stateOf = async (sandboxId: string | null) => (await stand.api.getSandbox(sandboxId ?? '')).sandbox.state;

/** An act of another person, to its end. */
async function stopByHand(sandboxId: string): Promise<void> {
  await stand.api.stopSandbox(sandboxId);
  await expect.poll(() => stateOf(sandboxId)).toBe('archived');
}
async function resumeByHand(sandboxId: string): Promise<void> {
  await stand.api.resumeSandbox(sandboxId, {});
  await expect.poll(() => stateOf(sandboxId)).toBe('ready');
}

/** The file does not exist before the first prompt, and is read once after the last. */
function onceCollected(act: (sandboxId: string) => Promise<void>): void {
  intercept.on('readFile', async (call, _count, [sandboxId]) => {
    const content = await call();
    await act(String(sandboxId));
    return content;
  });
}

const collecting = { prompts: [{ prompt: script('echo done > out.txt') }], collect: ['out.txt'] };

describe('a stop by somebody else', () => {
  it('that ended before the own request is not taken for it if the own request is lost once', async () => {
    onceCollected(async (sandboxId) => {
      await stopByHand(sandboxId);
      await resumeByHand(sandboxId);
    });
    intercept.on('stopSandbox', (call, count) => (count === 1 ? Promise.reject(lost('stopSandbox')) : call()));
    const result = await run(collecting);
    expect(await stateOf(result.sandboxId)).toBe('archived');
    expect(result).toMatchObject({ outcome: 'completed', stop: { status: 'completed', kept: 'saved' }, left: [] });
    expect(stops(result.sandboxId).map(({ id }) => id)).toEqual([expect.any(String), result.stop?.stopId]);
  });

  it('that is in progress is joined', async () => {
    await stand.fault({ kind: 'stop_fails', times: 3 });
    intercept.on('stopSandbox', async (call, count, [sandboxId]) => {
      if (count === 1) await stand.api.stopSandbox(String(sandboxId));
      return call();
    });
    const result = await run();
    expect(result).toMatchObject({ outcome: 'completed', stop: { status: 'completed', kept: 'saved' }, left: [] });
    expect(stops(result.sandboxId).map(({ id }) => id)).toEqual([result.stop?.stopId]);
  });

  it('that has completed is the answer if the sandbox is archived, and no second stop begins', async () => {
    onceCollected(stopByHand);
    const result = await run(collecting);
    expect(result).toMatchObject({ outcome: 'completed', stop: { status: 'completed', kept: 'saved' }, left: [] });
    expect(stops(result.sandboxId).map(({ id }) => id)).toEqual([result.stop?.stopId]);
  });
});

describe('a person who resumes after the job’s stop', () => {
  it('keeps the machine if the answer to the stop was lost, and the result names it', async () => {
    await stand.fault({ kind: 'stop_fails', times: 1_000 });
    intercept.on('stopSandbox', async (call, count, [sandboxId]) => {
      const answer = await call();
      if (count > 1) return answer;
      await resumeByHand(String(sandboxId));
      throw lost('stopSandbox');
    });
    const result = await run();
    expect(await stateOf(result.sandboxId)).toBe('ready');
    expect(result).toMatchObject({ outcome: 'completed', stop: { status: 'superseded', kept: null } });
    expect(result.left).toMatchObject([{ kind: 'sandbox', sandboxId: result.sandboxId }]);
    expect(stops(result.sandboxId)).toHaveLength(1);
  });

  it('keeps the machine if the stop was awaited, and the result names it', async () => {
    await stand.fault({ kind: 'stop_fails', times: 1_000 });
    const handle = await stand.start({});
    await expect.poll(async () => (await progressOf(handle)).phase).toBe('waiting_for_archive');
    await resumeByHand((await progressOf(handle)).sandboxId ?? '');
    const result = await handle.result();
    expect(result).toMatchObject({ outcome: 'completed', stop: { status: 'superseded', kept: null } });
    expect(result.left).toMatchObject([{ kind: 'sandbox', sandboxId: result.sandboxId }]);
    expect(stops(result.sandboxId)).toHaveLength(1);
  });
});

describe('the job’s request to stop', () => {
  it('is repeated until it is accepted', async () => {
    intercept.on('stopSandbox', (call, count) => (count <= 2 ? Promise.reject(lost('stopSandbox')) : call()));
    const result = await run();
    expect(result).toMatchObject({ outcome: 'completed', stop: { status: 'completed', kept: 'saved' }, left: [] });
    expect(stops(result.sandboxId)).toHaveLength(1);
  });

  it('is repeated if the answer names an unknown stop, and the machine does not keep running', async () => {
    intercept.on('stopSandbox', (call, count) =>
      count === 1 ? Promise.resolve({ id: 'stop_00000000', stop: undefined }) : call(),
    );
    const result = await run();
    expect(await stateOf(result.sandboxId)).toBe('archived');
    expect(result).toMatchObject({ outcome: 'completed', stop: { status: 'completed', kept: 'saved' }, left: [] });
  });

  it.each(['{}', 'null id'])('is followed up if it is answered with %s', async (shape) => {
    intercept.on('stopSandbox', async (call, count) => {
      const answer = await call();
      return count > 1 ? answer : shape === '{}' ? {} : { id: undefined, stop: undefined };
    });
    expect(await run()).toMatchObject({ outcome: 'completed', stop: { status: 'completed', kept: 'saved' }, left: [] });
  });
});

describe('reads after the stop', () => {
  it.each([
    ['refused by the service', { status: 429, code: 'rate_limited', typed: true }, 0],
    ['answered by a proxy, for longer than reads lag,', { status: 404, code: 'http_404', typed: false }, 4_000],
  ] as const)('are repeated if they are %s', async (_, refused, lastsMs) => {
    let [asked, untilMs] = [0, 0];
    intercept.on('stopSandbox', async (call) => {
      const answer = await call();
      untilMs = Date.now() + lastsMs;
      for (const endpoint of ['getSandbox', 'getStop'] as const) {
        intercept.on(endpoint, (read) => {
          asked += 1;
          return asked === 1 || Date.now() < untilMs ? Promise.reject(refusal(endpoint, refused)) : read();
        });
      }
      return answer;
    });
    expect(await run()).toMatchObject({ outcome: 'completed', stop: { status: 'completed', kept: 'saved' }, left: [] });
    expect(asked).toBeGreaterThan(1);
  });

  it('are not believed while they answer 404 for a while', async () => {
    let asked = 0;
    const lagging = (call: () => Promise<unknown>) => {
      asked += 1;
      return asked <= 2 ? stand.api.getSandbox('bx_2a2a2a2a') : call();
    };
    intercept.on('stopSandbox', async (call) => {
      const answer = await call();
      intercept.on('getSandbox', lagging);
      intercept.on('getStop', lagging);
      return answer;
    });
    const result = await run({ timing: believesNothing });
    expect(result).toMatchObject({ outcome: 'completed', stop: { status: 'completed', kept: 'saved' }, left: [] });
    expect(asked).toBeGreaterThan(2);
  });

  it('are believed if they answer 404 for longer than reads lag', async () => {
    await stand.fault({ kind: 'stop_fails', times: 1_000 });
    intercept.on('stopSandbox', async (call, _count, [sandboxId]) => {
      const answer = await call();
      await stand.api.deleteSandbox(String(sandboxId));
      return answer;
    });
    expect(await run()).toMatchObject({ outcome: 'completed', stop: { status: 'gone', kept: null } });
  });

  it('with an unknown status of the stop end with the archived sandbox', async () => {
    const strange = (stop: { status: string } | null | undefined) => stop && { ...stop, status: 'sealed' };
    intercept.on('stopSandbox', async (call) => {
      intercept.on('getSandbox', async (read) => {
        const answer = (await read()) as { sandbox: { stop: { status: string } | null } };
        return { ...answer, sandbox: { ...answer.sandbox, stop: strange(answer.sandbox.stop) } };
      });
      return call();
    });
    expect(await run()).toMatchObject({ outcome: 'completed', stop: { status: 'completed', kept: 'saved' }, left: [] });
  });
});
