import { expect, it } from 'vitest';
import { failingStopSeen } from '../../../activities/stop/decide-escalation.js';

const at = '2026-05-01T12:00:00.000Z';
const stop = (status: string, over: object = {}) => ({ id: 'ours', status, requestedAt: null, error: null, ...over });

it.each([
  ['a failing stop', 'archiving', stop('failing'), 'failing'],
  ['a failing stop of an archived sandbox', 'archived', stop('failing'), 'failing'],
  ['a stop that is repeated after a failed attempt', 'archiving', stop('pending', { lastAttemptAt: at }), 'failing'],
  ['a stop in its first attempt', 'archiving', stop('pending', { lastAttemptAt: null }), 'pending'],
  ['a completed stop', 'archived', stop('completed', { lastAttemptAt: at }), 'ended'],
  ['a superseded stop', 'provisioning', stop('superseded'), 'resumed'],
  ['a superseded stop in an older state', 'archiving', stop('superseded'), 'resumed'],
  ['a sandbox that was resumed after its stop', 'ready', stop('completed'), 'resumed'],
  ['a later stop', 'archiving', stop('pending', { id: 'other' }), 'stopped_again'],
  ['no stop', 'ready', null, 'stopped_again'],
  ['a sandbox without a machine', 'cancelled', stop('failing'), 'gone'],
] as const)('%s in the state %s is seen as such', (_, state, last, seen) => {
  expect(failingStopSeen({ state, stop: last }, 'ours')).toBe(seen);
});
