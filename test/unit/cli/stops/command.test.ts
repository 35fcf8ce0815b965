import { describe, expect, it } from 'vitest';
import { explainStop, type KnownOfStop } from '../../../../src/cli/stops/explain-stop.js';
import { fits, openStops } from '../../../../src/cli/stops/list-stops.js';
import type { Sandbox, StopOperation } from '../../../../src/contract/records/sandbox-records.js';
import type { StopReport, StopRequestView } from '../../../../src/protocol/stop.js';
import { aSandbox } from '../../client/http-harness.js';
import { cli } from '../in-process.js';

const nowMs = Date.parse('2026-05-01T12:00:00.000Z');
const at = (minutesAgo: number) => new Date(nowMs - minutesAgo * 60_000).toISOString();
const sandboxId = aSandbox.id;

const stopOf = (status: string, over: Partial<StopOperation> = {}): StopOperation => ({
  id: 'stop_1',
  status,
  requestedAt: at(20),
  lastAttemptAt: null,
  error: null,
  endedAt: null,
  ...over,
});
const request = (over: Partial<StopRequestView> = {}): StopRequestView => ({
  requestId: 'r1',
  phase: 'waiting',
  outcome: null,
  stopId: 'stop_1',
  status: 'pending',
  kept: null,
  failed: null,
  escalation: [],
  askedAgain: 0,
  owner: null,
  arrivedAt: at(21),
  deadlineAt: at(-9),
  alertedAt: null,
  endedAt: null,
  blocked: null,
  error: null,
  ...over,
});
const reportOf = (...requests: StopRequestView[]): StopReport => ({ sandboxId, requests, wakes: [], apiCalls: 1 });
const explain = (over: Partial<KnownOfStop> & { readonly sandbox?: Sandbox | null }) =>
  explainStop({ sandboxId, sandbox: aSandbox, stop: null, report: null, nowMs, ...over });
const archived = {
  ...aSandbox,
  state: 'archived',
  snapshots: true,
  snapshotAvailable: true,
  lastSnapshotStatus: 'completed',
  snapshotVerifiedAt: at(5),
};

describe('the explanation of a stop', () => {
  it.each<[string, Partial<KnownOfStop>, object, RegExp]>([
    ['no_sandbox', { sandbox: null }, { next: null }, /^Sandbox bx_\w+ does not exist/],
    ['never_stopped', {}, { since: null }, /is ready; no stop was requested/],
    ['pending', { stop: stopOf('pending') }, { since: at(20), attempts: null }, /being archived: .* accepted 20 m ago/],
    [
      'failing',
      { stop: stopOf('failing', { error: 'no disk' }), report: reportOf(request({ status: 'failing' })) },
      { lastError: 'no disk', next: expect.stringContaining('retries on its own') },
      /is not archived: the last attempt of its stop stop_1, requested 20 m ago, failed\.$/,
    ],
    [
      'completed',
      { sandbox: archived, stop: stopOf('completed', { endedAt: at(4) }) },
      { kept: 'saved' },
      /ended 4 m ago/,
    ],
    ['superseded', { stop: stopOf('superseded', { endedAt: at(1) }) }, { since: at(1) }, /a resume ended its stop/],
    ['resumed', { stop: stopOf('completed', { endedAt: at(1) }) }, { kept: null }, /resumed after its stop/],
    [
      'asking',
      { report: reportOf(request({ stopId: null, phase: 'asking' })) },
      { since: at(21), next: expect.stringContaining('keeps retrying') },
      /the service has not accepted it/,
    ],
  ])('is %s', (state, known, expected, summary) => {
    const explained = explain(known);
    expect(explained).toMatchObject({ state, ...expected });
    expect(explained.summary).toMatch(summary);
    expect(JSON.stringify(explained)).not.toContain('undefined');
  });

  it('shows failed attempts, who waits, and a raised alert', () => {
    const failed = { since: at(15), attempts: 3, lastError: 'no disk', lastAttemptAt: at(1) };
    const stop = stopOf('failing', { error: 'no disk', lastAttemptAt: at(1) });
    const { facts, attempts, since } = explain({ stop, report: reportOf(request({ failed, alertedAt: at(10) })) });
    expect({ attempts, since }).toEqual({ attempts: 3, since: at(15) });
    expect(facts).toEqual([
      'Last error: no disk',
      `At least 3 failed attempts since ${at(15)} (15 m ago).`,
      'The last attempt ended 1 m ago.',
      'It has no snapshot: none of its work is saved.',
      `Request r1 waits until ${at(-9)}, alert raised at ${at(10)}: stop stop_1 accepted`,
    ]);
  });

  it('shows each step of an escalation', () => {
    const step = { afterMs: 1_800_000, announcedAt: null, atRisk: null, endedStopId: null, operationId: null };
    const escalation = [
      { ...step, action: 'notify', state: 'done', dueAt: null, endedAt: at(1), why: null },
      { ...step, action: 'delete', afterMs: 7_200_000, state: 'waiting', dueAt: at(-9), endedAt: null, why: null },
    ] as const;
    const { facts } = explain({ stop: stopOf('failing'), report: reportOf(request({ escalation })) });
    expect(facts.slice(-2)).toEqual([
      `Request r1, escalation "30m: notify" done at ${at(1)}`,
      `Request r1, escalation "2h: delete" waiting, due at ${at(-9)}`,
    ]);
  });

  it('shows attempts of this stop only, and how the last request ended if none is open', () => {
    const failed = { since: at(90), attempts: 9, lastError: 'no disk', lastAttemptAt: at(80) };
    const earlier = request({ stopId: 'stop_0', failed, outcome: 'superseded', endedAt: at(70) });
    const { facts, attempts } = explain({ stop: stopOf('pending'), report: reportOf(earlier) });
    expect(attempts).toBeNull();
    expect(facts).toEqual([
      `The last sandflow request, r1, ended at ${at(70)}: superseded: it was resumed in the meantime and was not stopped again`,
    ]);
  });

  it('shows how long the data is kept, and when it was deleted', () => {
    const stop = stopOf('completed', { endedAt: at(4) });
    const kept = explain({ sandbox: archived, stop });
    expect(kept.next).toContain(new Date(Date.parse(at(4)) + 14 * 86_400_000).toISOString());
    const expired = explain({ sandbox: { ...archived, dataExpiredAt: at(1) }, stop });
    expect(expired.next).toContain(`deleted at ${at(1)}`);
  });

  it.each([
    ['stale', { snapshotVerifiedAt: at(60) }],
    ['stale', { lastSnapshotStatus: 'failed' }],
    ['none', { snapshots: false }],
  ])('shows the work as %s if the sandbox has %j', (kept, over) => {
    const stop = stopOf('completed', { endedAt: at(4) });
    expect(explain({ sandbox: { ...archived, ...over }, stop }).kept).toBe(kept);
  });

  it('names the workflow that created the sandbox', () => {
    const made = { ...aSandbox, name: 'sf-dev-nightly-7-0123456789ab-box-1' };
    expect(explain({ sandbox: made }).facts).toContain('It was created by the workflow sf-dev-nightly-7.');
    expect(explain({}).facts.join()).not.toContain('created by');
  });

  it('does not guess who waits if no worker answers', () => {
    expect(explain({ stop: stopOf('pending'), report: undefined }).facts.join()).toContain('No worker answers');
  });
});

describe('open stops', () => {
  const sandboxes: Sandbox[] = [
    { ...aSandbox, id: 'bx_aaaaaaaa', state: 'archiving', stop: stopOf('failing', { requestedAt: at(5), error: 'x' }) },
    { ...aSandbox, id: 'bx_bbbbbbbb', state: 'archiving', stop: stopOf('pending', { requestedAt: at(50) }) },
    { ...aSandbox, id: 'bx_cccccccc', state: 'archived', stop: stopOf('completed') },
    { ...aSandbox, id: 'bx_dddddddd', state: 'ready', stop: stopOf('superseded') },
    { ...aSandbox, id: 'bx_eeeeeeee', state: 'archiving', stop: stopOf('failing', { requestedAt: null }) },
  ];
  const reports = new Map([
    ['bx_bbbbbbbb', reportOf(request(), request({ requestId: 'r2', outcome: 'still_failing' }))],
    ['bx_dddddddd', reportOf(request({ stopId: null, arrivedAt: at(2) }))],
    ['bx_eeeeeeee', null],
  ]);
  const found = openStops(sandboxes, reports);

  it('are those of the service and unaccepted requests, oldest first, with who waits', () => {
    expect(found.map(({ sandboxId: id, status, waiting }) => [id, status, waiting])).toEqual([
      ['bx_eeeeeeee', 'failing', null],
      ['bx_bbbbbbbb', 'pending', 1],
      ['bx_aaaaaaaa', 'failing', 0],
      ['bx_dddddddd', 'asking', 1],
    ]);
  });

  it('name the workflow that created the sandbox', () => {
    const named = (id: string, name: string) => ({ ...aSandbox, id, name, stop: stopOf('pending') });
    const stops = [named('bx_aaaaaaaa', 'sf-abc-three-0123456789ab-i85-1'), named('bx_bbbbbbbb', 'mine')];
    const creators = openStops(stops, new Map()).map(({ createdBy }) => createdBy);
    expect(creators).toEqual(['sf-abc-three/i85', null]);
  });

  it.each([
    [{ failing: true, olderThanMs: 0 }, ['bx_eeeeeeee', 'bx_aaaaaaaa']],
    [{ failing: false, olderThanMs: 600_000 }, ['bx_eeeeeeee', 'bx_bbbbbbbb']],
    [{ failing: true, olderThanMs: 600_000 }, ['bx_eeeeeeee']],
  ])('%j keeps matching stops, and one of unknown age', (filter, ids) => {
    expect(found.filter(fits(filter, nowMs)).map(({ sandboxId: id }) => id)).toEqual(ids);
  });

  it('are all kept if the clock of the service is ahead', () => {
    expect(found.filter(fits({ failing: false, olderThanMs: 0 }, nowMs - 86_400_000))).toEqual(found);
  });
});

it.each([
  [['stops', 'list', '--older-than', 'long'], '--older-than: "long" is not a duration'],
  [['stops', 'explain', 'bx_1'], '"bx_1" is not a sandbox id'],
])('%j exits with 2 before it reads the settings', async (args, message) => {
  const unread = () => Promise.reject(new Error('the settings were read'));
  const { exitCode, stderr } = await cli(args, { readConfig: unread });
  expect(exitCode).toBe(2);
  expect(stderr).toContain(message);
});

describe('the explanation of a stop', () => {
  it.each(['garbage', '+275760-09-13T00:00:00.000Z', ''])('survives the time %j of a service', (endedAt) => {
    const stop = stopOf('completed', { endedAt });
    const sandbox: Sandbox = { ...aSandbox, state: 'archived', stop };
    const { next } = explainStop({ sandboxId, sandbox, stop, report: null, nowMs });
    expect(next).toBe('Its data is deleted 14 days after the stop, at an unknown time.');
  });
});
