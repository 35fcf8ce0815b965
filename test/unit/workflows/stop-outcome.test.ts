import { expect, it } from 'vitest';
import type { SandboxView, StopView } from '../../../src/contract/workflow-safe/sandbox-view.js';
import { isStoppedAgain, observedLastStop, observedStop } from '../../../workflows/shared/stop-outcome.js';

const stop = (status: string, id = 'stop_1'): StopView => ({
  id,
  status,
  requestedAt: null,
  lastAttemptAt: null,
  error: null,
});
const sandbox = (state: string, last: StopView | null) => ({ id: 'bx_1', state, stop: last }) as SandboxView;
const pending = stop('pending');
const failing = stop('failing');
const completed = stop('completed');
const superseded = stop('superseded');
const strange = stop('strange');
const other = stop('pending', 'stop_2');

it.each([
  ['a superseded stop is superseded, whatever the sandbox shows', superseded, sandbox('archived', null), 'superseded'],
  ['a completed stop is done, even if the sandbox is resumed', completed, sandbox('ready', completed), 'done'],
  ['a pending stop is pending', pending, sandbox('archiving', pending), 'pending'],
  ['a failing stop is pending, even if the sandbox is archived', failing, sandbox('archived', failing), 'pending'],
  ['an unknown status is pending until the sandbox is archived', strange, sandbox('archiving', strange), 'pending'],
  ['an unknown status is done once the sandbox is archived', strange, sandbox('archived', strange), 'done'],
  ['a pending stop that the running sandbox does not show has vanished', pending, sandbox('ready', null), 'vanished'],
  ['a stop of a cancelled sandbox is gone', null, sandbox('cancelled', null), 'gone'],
  ['a missing stop of an archived sandbox is done', null, sandbox('archived', null), 'done'],
  [
    'a missing stop is replaced by the pending one that the sandbox shows',
    null,
    sandbox('archiving', other),
    'pending',
  ],
  ['a missing stop of a running sandbox has vanished', null, sandbox('ready', completed), 'vanished'],
])('%s', (_, read, shown, kind) => {
  expect(observedStop(read, shown).kind).toBe(kind);
});

it('names the stop that the sandbox shows in place of a missing one', () => {
  expect(observedStop(null, sandbox('archiving', other))).toEqual({ kind: 'pending', stop: other });
  expect(observedStop(null, sandbox('archived', completed))).toEqual({ kind: 'done', stop: completed });
});

it('takes a 404 of the stop for a possible lag, and a cancelled sandbox for a fact', () => {
  expect(observedStop(null, sandbox('ready', null))).toEqual({ kind: 'vanished', mayLag: true });
  expect(observedStop(null, sandbox('cancelled', null))).toEqual({ kind: 'gone', mayLag: false });
});

it.each([
  ['the next stop is pending', sandbox('archiving', other), { kind: 'pending', stop: other }],
  [
    'the next stop has archived the sandbox',
    sandbox('archived', stop('completed', 'stop_2')),
    { kind: 'done', stop: stop('completed', 'stop_2') },
  ],
  ['the sandbox shows no other stop', sandbox('ready', superseded), { kind: 'superseded', stop: superseded }],
  ['a read of the sandbox lags behind', sandbox('archiving', pending), { kind: 'superseded', stop: superseded }],
  ['an archived sandbox shows no other stop', sandbox('archived', completed), { kind: 'superseded', stop: superseded }],
  ['an archived sandbox shows no stop', sandbox('archived', null), { kind: 'superseded', stop: superseded }],
  [
    'it was resumed after the next stop',
    sandbox('ready', stop('superseded', 'stop_2')),
    { kind: 'superseded', stop: superseded },
  ],
])('follows the last stop after a superseded one: %s', (_, shown, expected) => {
  expect(observedLastStop(superseded, shown)).toEqual(expected);
});

it('tells whether the sandbox was stopped again since', () => {
  expect(isStoppedAgain(sandbox('archived', other), 'stop_1')).toBe(true);
  expect(isStoppedAgain(sandbox('archived', completed), 'stop_1')).toBe(false);
  expect(isStoppedAgain(sandbox('archived', null), 'stop_1')).toBe(false);
});
