/** Every failure at every call of a stop, once and permanently. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ConnectionError, TimeoutError, UnexpectedResponseError } from '../../../../src/client/index.js';
import { createIntercept, refusal } from '../../../workflows/intercept.js';
import { ask, outcomeOf, readySandbox, stopWorkflow } from '../../../workflows/stop/stop-harness.js';
import { createStand, type Stand } from '../../../workflows/workflow-harness.js';

type Endpoint = 'getSandbox' | 'stopSandbox';
type Fault = (endpoint: Endpoint, call: () => Promise<unknown>) => Promise<unknown>;

const refused =
  (status: number, code: string, typed = true): Fault =>
  (endpoint) =>
    Promise.reject(refusal(endpoint, { status, code, typed }));

/** One code for each meaning, and every failure that is not an answer of the service. */
const faults: Readonly<Record<string, Fault>> = {
  'wait_out: 400 machine_not_running': refused(400, 'machine_not_running'),
  'blocked: 402 billing_required': refused(402, 'billing_required'),
  'permanent: 403 forbidden': refused(403, 'forbidden'),
  'permanent: 404 not_found': refused(404, 'not_found'),
  'few_tries: 409 resume_failed': refused(409, 'resume_failed'),
  'throttled_shortly: 429 rate_limited': refused(429, 'rate_limited'),
  'unavailable: 500 http_500': refused(500, 'http_500'),
  'a page of a proxy with 404': refused(404, 'http_404', false),
  'a page of a proxy with 502': refused(502, 'http_502', false),
  garbage: (endpoint) => Promise.reject(new UnexpectedResponseError(endpoint, 200, 'body', 'is not JSON')),
  'dropped before': (endpoint) => Promise.reject(new ConnectionError(endpoint, false, 'ECONNREFUSED')),
  'dropped after': async (endpoint, call) => {
    await call();
    throw new ConnectionError(endpoint, true, 'UND_ERR_SOCKET');
  },
  hung: async (endpoint) => {
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    throw new TimeoutError(endpoint, true, 2_000);
  },
};

/** The calls of a stop in order: the read before it, the stop, and the read that confirms it. */
const places = [
  { endpoint: 'getSandbox', part: 'before' },
  { endpoint: 'stopSandbox', part: 'before' },
  { endpoint: 'getSandbox', part: 'after' },
] as const satisfies readonly { endpoint: Endpoint; part: string }[];

const intercept = createIntercept();
const plans = new Map<string, { fault: Fault; endpoint: Endpoint; part: string; left: number }>();
let stand: Stand;

beforeAll(async () => {
  stand = await createStand({ through: intercept.through });
  const isAsked = (sandboxId: string) => stand.service.books.stops({ sandboxId }).length > 0;
  for (const endpoint of ['getSandbox', 'stopSandbox'] as const) {
    intercept.on(endpoint, (call, _count, [sandboxId]) => {
      const plan = plans.get(String(sandboxId));
      const part = endpoint === 'stopSandbox' || !isAsked(String(sandboxId)) ? 'before' : 'after';
      if (!plan || plan.left === 0 || plan.endpoint !== endpoint || plan.part !== part) return call();
      plan.left -= 1;
      return plan.fault(endpoint, call);
    });
  }
});
afterAll(() => stand.close());

const rows = Object.keys(faults).flatMap((name) => places.map((place) => ({ name, ...place })));

/** Failures that are retried for long, or end the stop. */
const endsOnce: Readonly<Record<string, string>> = { 'permanent: 403 forbidden': 'rejected' };

/** True if the history of the workflow has an error of this kind. */
async function isInHistory(sandboxId: string, code: string): Promise<boolean> {
  const { events } = await stopWorkflow(stand, sandboxId).fetchHistory();
  const failures = (events ?? []).map(
    ({ markerRecordedEventAttributes: local, activityTaskFailedEventAttributes: activity }) =>
      (local ?? activity)?.failure,
  );
  return JSON.stringify(failures).includes(code);
}

describe('a stop', () => {
  it.concurrent.each(rows)('whose $endpoint ($part it) meets $name once', async ({ name, endpoint, part }) => {
    const sandboxId = await readySandbox(stand);
    plans.set(sandboxId, { fault: faults[name] as Fault, endpoint, part, left: 1 });
    const ended = await outcomeOf(stand, await ask(stand, { sandboxId, deadlineMs: 60_000 }));
    // A busy worker may lose the result of a read, and read again.
    const isMet = endsOnce[name] === undefined || (await isInHistory(sandboxId, 'forbidden'));
    expect(ended.outcome).toBe((isMet ? endsOnce[name] : undefined) ?? 'archived');
    expect(stand.service.books.stops({ sandboxId }).length).toBeLessThanOrEqual(1);
    if (ended.outcome === 'archived') {
      expect((await stand.api.getSandbox(sandboxId)).sandbox.state).toBe('archived');
      expect(ended.stopId).toBe(stand.service.books.stops({ sandboxId })[0]?.id);
    }
  });

  it.concurrent.each(rows)('whose $endpoint ($part it) always meets $name', async ({ name, endpoint, part }) => {
    const sandboxId = await readySandbox(stand);
    plans.set(sandboxId, { fault: faults[name] as Fault, endpoint, part, left: Number.POSITIVE_INFINITY });
    const beganMs = Date.now();
    const ended = await outcomeOf(stand, await ask(stand, { sandboxId, deadlineMs: 6_000 }));
    expect(Date.now() - beganMs, 'in time').toBeLessThan(45_000);
    expect(['archived', 'rejected', 'still_failing', 'gone']).toContain(ended.outcome);
    expect(stand.service.books.stops({ sandboxId }).length).toBeLessThanOrEqual(1);
    const { state } = (await stand.api.getSandbox(sandboxId)).sandbox;
    if (ended.outcome === 'archived') expect(state).toBe('archived');
    if (ended.outcome === 'still_failing') expect(ended.error?.message).toMatch(/^The /);
    if (ended.outcome === 'gone') expect(name).toBe('permanent: 404 not_found');
  });
});
