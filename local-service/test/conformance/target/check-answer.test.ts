import { describe, expect, test } from 'vitest';
import { checkAnswer } from './check-answer.js';

const stop = {
  id: 'stop_0a',
  status: 'pending',
  requestedAt: '2026-01-01T00:00:00.000Z',
  lastAttemptAt: null,
  error: null,
  endedAt: null,
};
const json = { ok: true, type: 'stop.status', id: 'stop_0a', stop };
const right = {
  method: 'GET',
  path: '/sandboxes/bx_22222222/stops/stop_0a',
  status: 200,
  json: json as unknown,
  contentType: 'application/json; charset=utf-8',
};
const failure = {
  ok: false,
  type: 'sandbox.error',
  status: 404,
  code: 'not_found',
  message: 'There is none.',
  error: { code: 'not_found', message: 'There is none.', status: 404 },
  requestId: 'req_1a',
};

describe('checkAnswer', () => {
  test('accepts an answer that the contract and the specification define, and its error', () => {
    expect(() => checkAnswer(right)).not.toThrow();
    expect(() => checkAnswer({ ...right, status: 404, json: failure })).not.toThrow();
  });

  test.each([
    ['another type', { json: { ...json, type: 'stop.info' } }],
    ['no ok', { json: { ...json, ok: undefined } }],
    ['another status of success', { status: 202 }],
    ['a field that is missing', { json: { ...json, stop: undefined } }],
    ['a state of the record that nobody listed', { json: { ...json, stop: { ...stop, status: 'waiting' } } }],
    ['an id of another form', { json: { ...json, stop: { ...stop, id: 'halt-1' } } }],
    ['an invalid time', { json: { ...json, stop: { ...stop, requestedAt: 'yesterday' } } }],
    ['a path that the contract does not have', { path: '/sandboxes/bx_22222222/halts/1' }],
    ['bytes in place of JSON', { json: undefined, contentType: 'application/octet-stream' }],
    ['an error without a request id', { status: 404, json: { ...failure, requestId: undefined } }],
    ['an error whose status is another', { status: 400, json: failure }],
    ['an error whose codes differ', { status: 404, json: { ...failure, code: 'gone' } }],
    ['an error that is not JSON', { status: 502, json: undefined, contentType: 'text/html' }],
  ])('refuses %s', (_which, change) => {
    expect(() => checkAnswer({ ...right, ...change })).toThrow();
  });
});
