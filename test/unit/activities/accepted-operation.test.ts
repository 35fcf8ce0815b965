import { describe, expect, it } from 'vitest';
import { deletionOfAnswer, deletionShown, stopOfAnswer } from '../../../activities/sandbox/accepted-operation.js';

const stop = { id: 'stop_0a', status: 'failing', requestedAt: null, lastAttemptAt: null, error: 'full', endedAt: null };

describe('the stop in the answer to a stop request', () => {
  it.each([
    ['stop', { id: 'bx_23456789', stop }, 'failing'],
    ['sandbox.stop', { id: 'bx_23456789', sandbox: { id: 'bx_23456789', stop } }, 'failing'],
    ['operation', { operation: stop }, 'failing'],
    ['stopOperation', { stopOperation: stop }, 'failing'],
    ['operation.id', { operation: { id: 'stop_0a' } }, 'pending'],
    ['stopId', { id: 'bx_23456789', stopId: 'stop_0a' }, 'pending'],
    ['id', { id: 'stop_0a' }, 'pending'],
  ])('is read from %s', (_, answer, status) => {
    expect(stopOfAnswer(answer)).toMatchObject({ id: 'stop_0a', status });
  });

  it.each([
    ['the id of the sandbox', { id: 'bx_23456789' }],
    ['another operation', { id: 'op_1', operation: { id: 'op_1', status: 'pending' }, stopId: 7 }],
    ['nothing', {}],
  ])('is not %s', (_, answer) => {
    expect(stopOfAnswer(answer)).toBeNull();
  });
});

describe('the operation in the answer to a deletion', () => {
  it.each([
    ['operationId', { operationId: 'del_1', operation: { id: 'del_2' } }, 'del_1'],
    ['operation.id', { operation: { id: 'del_1' } }, 'del_1'],
    ['nowhere', { operationId: null }, null],
  ])('is read from %s', (_, answer, operationId) => {
    expect(deletionOfAnswer(answer)).toBe(operationId);
  });
});

describe('a deletion that is read by its id', () => {
  it.each([
    ['in a field of its own', { operation: { id: 'del_1', status: 'completed' } }],
    ['in the answer itself', { id: 'del_1', status: 'completed' }],
    ['with its status beside it', { status: 'completed', operation: { id: 'del_1' } }],
  ])('is found %s', (_, answer) => {
    expect(deletionShown('del_1', { ok: true, type: 'deletion.status', ...answer })).toEqual({
      id: 'del_1',
      status: 'completed',
    });
  });

  it('is not believed without a status', () => {
    expect(() => deletionShown('del_1', { id: 'del_1' })).toThrow('operation.status');
  });
});
