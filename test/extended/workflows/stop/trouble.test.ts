import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Runtime } from '@temporalio/worker';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { stopProgress } from '../../../../src/workflow-client/stops/read-stops.js';
import { ask, heal, outcomeOf, readySandbox, stopWorkflow } from '../../../workflows/stop/stop-harness.js';
import { createStand, patient, type Stand, type StandOptions } from '../../../workflows/workflow-harness.js';

let stand: Stand;
const servers: Server[] = [];
afterEach(async () => {
  vi.restoreAllMocks();
  await stand.close();
  for (const server of servers.splice(0)) await new Promise((resolve) => server.close(resolve));
});
const open = async (options?: StandOptions) => {
  stand = await createStand(options);
};

const stopsOnTheBooks = (sandboxId: string) => stand.service.books.stops({ sandboxId });
const callsOf = (sandboxId: string, endpoint: string) =>
  stand.service.books.calls({ sandboxId }).filter((call) => call.endpoint === endpoint);

/** Collects the bodies of its requests. */
async function receiver() {
  const received: Record<string, unknown>[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    received.push(JSON.parse(Buffer.concat(chunks).toString()) as Record<string, unknown>);
    response.writeHead(204).end();
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { received, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` };
}

describe('a stop', () => {
  it.each(['drop_response', 'close'] as const)('whose call meets %s is requested once', async (kind) => {
    await open();
    const sandboxId = await readySandbox(stand);
    await stand.fault({ kind, endpoint: 'stopSandbox' });
    expect((await outcomeOf(stand, await ask(stand, { sandboxId }))).outcome).toBe('archived');
    expect(stopsOnTheBooks(sandboxId)).toHaveLength(1);
  });

  it('continues in another worker when its own one shuts down, and a caller that left finds the result', async () => {
    await open();
    const sandboxId = await readySandbox(stand);
    await stand.fault({ kind: 'stop_fails', times: 1_000 });
    await ask(stand, { sandboxId, requestId: 'left' });
    await stand.restartWorker();
    const again = await ask(stand, { sandboxId, requestId: 'left' });
    await heal(stand);
    expect((await outcomeOf(stand, again)).outcome).toBe('archived');
    expect(callsOf(sandboxId, 'stopSandbox')).toHaveLength(1);
  });

  it('continues in a new run when its history is long, with requests and their results', async () => {
    await open();
    const sandboxId = await readySandbox(stand);
    await stand.fault({ kind: 'stop_fails', times: 1_000 });
    const short = await ask(stand, { sandboxId, requestId: 'short', deadlineMs: 500, maxHistoryEvents: 25 });
    const requested = [short];
    for (const requestId of ['a', 'b', 'c']) requested.push(await ask(stand, { sandboxId, requestId }));
    const newestRun = async () => (await stopWorkflow(stand, sandboxId).describe()).runId;
    await expect.poll(newestRun).not.toBe(short.runId);
    await expect.poll(async () => (await stopProgress(stand.client, short)).outcome).toBe('still_failing');
    await heal(stand);
    const ended = await Promise.all(requested.map((one) => outcomeOf(stand, one)));
    expect(ended.map(({ outcome }) => outcome)).toEqual(['still_failing', 'archived', 'archived', 'archived']);
    expect(await stopProgress(stand.client, short)).toMatchObject({ outcome: 'still_failing' });
    expect(stopsOnTheBooks(sandboxId)).toHaveLength(1);
  });

  it('raises one alert past the threshold, by log, metric and notification, and reports the end', async () => {
    await open();
    const { metricMeter, logger } = Runtime.instance();
    const counter = vi.spyOn(metricMeter, 'createCounter');
    const warn = vi.spyOn(logger, 'log');
    const { received, url } = await receiver();
    const failing = async (alertAfterMs: number) => {
      warn.mockClear();
      received.length = 0;
      const sandboxId = await readySandbox(stand);
      await stand.fault({ kind: 'stop_fails', times: 1_000 });
      const requested = await ask(stand, { sandboxId, alertAfterMs, notify: { url } });
      await vi.waitFor(() => expect(received).toHaveLength(1), patient);
      return { sandboxId, requested };
    };
    let alertAfterMs = 600;
    let { sandboxId, requested } = await failing(alertAfterMs);
    // A busy machine may not have seen the stop fail before so short a time.
    while (!String(received[0]?.message).includes('did not finish its snapshot')) {
      await heal(stand);
      await outcomeOf(stand, requested);
      await vi.waitFor(() => expect(received).toHaveLength(2), patient);
      alertAfterMs *= 4;
      ({ sandboxId, requested } = await failing(alertAfterMs));
    }
    await heal(stand);
    const ended = await outcomeOf(stand, requested);
    expect(ended).toMatchObject({ outcome: 'archived' });
    expect(ended.alertedAt).not.toBeNull();
    await stopWorkflow(stand, sandboxId).result();
    await vi.waitFor(() => expect(received).toHaveLength(2), patient);
    expect(received).toMatchObject([
      { event: 'stop_failing', sandboxId, jobId: null, outcome: null },
      { event: 'ended', sandboxId, jobId: null, outcome: 'archived' },
    ]);
    const alerts = counter.mock.calls.filter(([name]) => name === 'sandflow_stop_alerts');
    expect(alerts).toHaveLength(1);
    const logged = warn.mock.calls.filter(([level, text]) => level === 'WARN' && text.includes('has not ended'));
    expect(logged).toMatchObject([['WARN', expect.any(String), { sandboxId, seen: received[0]?.message }]]);
  });

  it('raises no alert when it ends before the threshold', async () => {
    await open();
    const { received, url } = await receiver();
    const sandboxId = await readySandbox(stand);
    await outcomeOf(stand, await ask(stand, { sandboxId, alertAfterMs: 600_000, notify: { url } }));
    await stopWorkflow(stand, sandboxId).result();
    await vi.waitFor(() => expect(received.map(({ event }) => event)).toEqual(['ended']), patient);
  });

  it('continues by itself when the service throttles it', async () => {
    await open();
    const sandboxId = await readySandbox(stand);
    await stand.fault({ kind: 'error', endpoint: 'stopSandbox', status: 429, code: 'rate_limited' });
    const requested = await ask(stand, { sandboxId });
    expect(requested.accepted).toMatchObject({ phase: 'waiting', blocked: null });
    expect(await outcomeOf(stand, requested)).toMatchObject({ outcome: 'archived', blocked: null });
  });

  it('that is never accepted waits visibly, ends at its deadline and says why', async () => {
    await open();
    const sandboxId = await readySandbox(stand);
    await stand.fault({ kind: 'error', endpoint: 'stopSandbox', status: 402, code: 'billing_required', times: 100 });
    let requested = await ask(stand, { sandboxId, deadlineMs: 2_000 });
    // A busy machine may not have asked before so short a deadline.
    for (let deadlineMs = 4_000; requested.accepted.outcome !== null; deadlineMs *= 2)
      requested = await ask(stand, { sandboxId, deadlineMs });
    expect(requested.accepted).toMatchObject({ phase: 'asking', blocked: { reason: 'service_refuses' } });
    const ended = await outcomeOf(stand, requested);
    expect(ended).toMatchObject({ outcome: 'still_failing', stopId: null, error: { code: 'stop_not_accepted' } });
    expect(ended.error?.message).toContain('billing_required');
    expect(stopsOnTheBooks(sandboxId)).toEqual([]);
  });

  it('that the service refuses for good is rejected', async () => {
    await open();
    const sandboxId = await readySandbox(stand);
    await stand.fault({ kind: 'error', endpoint: 'stopSandbox', status: 403, code: 'forbidden' });
    const { accepted } = await ask(stand, { sandboxId });
    expect(accepted).toMatchObject({ outcome: 'rejected', error: { code: 'forbidden', status: 403 } });
  });

  it('that disappeared from the sandbox without being superseded is requested again', async () => {
    let lost = '';
    await open({
      // The service has lost the stop: no stop has that id, and the sandbox runs and shows none.
      through: (api) => ({
        ...api,
        getStop: (sandboxId, stopId, options) =>
          api.getStop(sandboxId, stopId === lost ? 'stop_00000000' : stopId, options),
        getSandbox: async (sandboxId, options) => {
          const answer = await api.getSandbox(sandboxId, options);
          return answer.sandbox.stop?.id === lost ? { ...answer, sandbox: { ...answer.sandbox, stop: null } } : answer;
        },
      }),
    });
    const sandboxId = await readySandbox(stand);
    await stand.fault({ kind: 'stop_fails', times: 1_000 });
    const requested = await ask(stand, { sandboxId });
    lost = requested.accepted.stopId ?? '';
    await stand.api.resumeSandbox(sandboxId, {});
    await heal(stand);
    const ended = await outcomeOf(stand, requested);
    expect(ended).toMatchObject({ outcome: 'archived', askedAgain: 1 });
    expect(ended.stopId).not.toBe(lost);
  });

  it('is cancelled with its workflow, with a result for each waiter', async () => {
    await open();
    const sandboxId = await readySandbox(stand);
    await stand.fault({ kind: 'stop_fails', times: 1_000 });
    const requested = await ask(stand, { sandboxId });
    await stopWorkflow(stand, sandboxId).cancel();
    expect(await outcomeOf(stand, requested)).toMatchObject({ outcome: 'cancelled', error: { code: 'cancelled' } });
  });
});
