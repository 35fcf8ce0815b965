import { describe, expect, it } from 'vitest';
import { decideResume, decideStop } from '../../../activities/sandbox/decide-stop-call.js';

const stop = (id: string, status: string) => ({ id, status });
const sent = { previousStopId: 'old' };

describe('the decision about a stop, based on the state before it', () => {
  it.each([
    ['never stopped, nothing sent', 'ready', null, null, 'ask'],
    ['a stop of others has ended, nothing sent', 'ready', stop('theirs', 'superseded'), null, 'ask'],
    [
      'a stop of others has completed and it was resumed, nothing sent',
      'idle',
      stop('theirs', 'completed'),
      null,
      'ask',
    ],
    ['a stop of others is pending, nothing sent', 'archiving', stop('theirs', 'pending'), null, 'joined'],
    ['a stop of others is failing, nothing sent', 'archived', stop('theirs', 'failing'), null, 'joined'],
    ['archived, nothing sent', 'archived', stop('theirs', 'completed'), null, 'already_archived'],
    ['archived without a stop', 'archived', null, null, 'already_archived'],
    ['archived by an unknown status', 'archived', stop('theirs', 'sealed'), null, 'already_archived'],
    ['being archived without a stop', 'archiving', null, null, 'ask'],
    ['sent, and nothing has changed', 'running', stop('old', 'completed'), sent, 'ask'],
    [
      'sent, and the stop that our resume ended still seems open',
      'archiving',
      { id: 'old', status: 'failing' },
      sent,
      'ask',
    ],
    ['sent, and never stopped still', 'ready', null, { previousStopId: null }, 'ask'],
    ['sent, and a new stop is pending', 'archiving', stop('new', 'pending'), sent, 'joined'],
    ['sent, and a new stop has completed', 'archived', stop('new', 'completed'), sent, 'joined'],
    ['sent, and archived by the stop of before', 'archived', stop('old', 'completed'), sent, 'already_archived'],
    ['sent, and a new stop was superseded', 'ready', stop('new', 'superseded'), sent, 'resumed_since'],
    ['sent, superseded, and on its way back', 'provisioning', stop('new', 'superseded'), sent, 'resumed_since'],
    ['sent, and resumed after a new stop had completed', 'idle', stop('new', 'completed'), sent, 'resumed_since'],
    ['sent, and a new stop has an unknown status', 'ready', stop('new', 'sealing'), sent, 'joined'],
    ['sent, completed, and its state is not written yet', 'archiving', stop('new', 'completed'), sent, 'joined'],
    ['cancelled', 'cancelled', null, sent, 'gone'],
  ] as const)('%s', (_, state, last, before, decision) => {
    expect(decideStop({ state, stop: last }, before)).toBe(decision);
  });
});

describe('the decision about a resume', () => {
  it.each([
    ['archived by the stop that is known', 'archived', stop('old', 'completed'), 'ask'],
    ['archived by the stop that is known, and still failing', 'archived', stop('old', 'failing'), 'ask'],
    ['archived without a stop', 'archived', null, 'ask'],
    ['running', 'ready', stop('old', 'completed'), 'found'],
    ['on its way', 'provisioning', stop('old', 'superseded'), 'found'],
    ['stopped by somebody since', 'archiving', stop('new', 'pending'), 'stopped_again'],
    ['stopped by somebody since, and archived', 'archived', stop('new', 'completed'), 'stopped_again'],
  ] as const)('%s', (_, state, last, decision) => {
    expect(decideResume({ state, stop: last }, sent)).toBe(decision);
  });
});
