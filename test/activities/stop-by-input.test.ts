/** A stop whose input has the read before it, so that no heartbeat records it. Gate; costs some 3 CPU seconds. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { errorBody, sendJson } from '../unit/client/http-harness.js';
import { type ActivityStand, createActivityStand } from './activity-harness.js';

let stand: ActivityStand;
beforeAll(async () => {
  stand = await createActivityStand();
});
afterAll(() => stand.close());

const id = 'bx_22222222';
const stops = () => stand.seen().filter((call) => call === `POST /v1/sandboxes/${id}/stop`);
const stopOf = (status: string) => ({ id: 'stop_1', sandboxId: id, status, requestedAt: '2026-01-01T00:00:00.000Z' });
const input = () => ({ sandboxId: id, seen: { view: { id, state: 'idle', stop: null }, atMs: Date.now() } });

it('is not sent again to a sandbox that somebody resumed after a worker died with its answer', async () => {
  stand.answer(async ({ method }, response) => {
    if (method === 'GET')
      return sendJson(response, 200, { ok: true, sandbox: { id, state: 'idle', stop: stopOf('completed') } });
    await stand.loseAttempt();
    sendJson(response, 202, { ok: true, stop: stopOf('pending') });
  });
  const { value } = await stand.run('stopSandbox', input());
  expect(value).toMatchObject({ how: 'resumed_since', stop: { id: 'stop_1' }, before: { previousStopId: null } });
  expect(stops()).toHaveLength(1);
});

it('is sent again if a worker died before it took effect', async () => {
  stand.answer(async ({ method }, response) => {
    if (method === 'GET') return sendJson(response, 200, { ok: true, sandbox: { id, state: 'idle', stop: null } });
    if (stops().length === 1) await stand.loseAttempt();
    sendJson(response, 202, { ok: true, stop: stopOf('pending') });
  });
  const { value } = await stand.run('stopSandbox', input());
  expect(value).toMatchObject({ how: 'asked', stop: { id: 'stop_1' }, before: { previousStopId: null } });
  expect(stops()).toHaveLength(2);
});

it('is not sent again after a refusal, if a worker died with the answer to its repetition', async () => {
  stand.answer(async ({ method }, response) => {
    const isDone = stops().length > 1;
    const stop = isDone ? stopOf('completed') : null;
    if (method === 'GET') return sendJson(response, 200, { ok: true, sandbox: { id, state: 'idle', stop } });
    if (!isDone) return sendJson(response, 503, errorBody(503, 'service_unavailable', 'later'));
    await stand.loseAttempt();
    sendJson(response, 202, { ok: true, stop: stopOf('pending') });
  });
  const { value } = await stand.run('stopSandbox', input());
  expect(value).toMatchObject({ how: 'resumed_since', stop: { id: 'stop_1' } });
  expect(stops()).toHaveLength(2);
});
