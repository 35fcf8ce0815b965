import { describe, expect, it } from 'vitest';
import { createConcurrencyLimit } from '../../../../src/cli/connect/concurrency-limit.js';
import { chooseSandboxes, confirmWork, stoppable } from '../../../../src/cli/stops/choose-sandboxes.js';
import { readStopCommand } from '../../../../src/cli/stops/stop-request.js';
import { endText, isGood, newsText, reattachHint, type StopEnd } from '../../../../src/cli/stops/stop-text.js';
import type { SandboxClient } from '../../../../src/client/index.js';
import type { EscalationStepView, StopRequestView } from '../../../../src/protocol/stop.js';
import { aSandbox } from '../../client/http-harness.js';
import { cli } from '../in-process.js';

const id = 'bx_23456789';
const view: StopRequestView = {
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
  arrivedAt: '2026-01-01T00:00:00.000Z',
  deadlineAt: '2026-01-01T00:30:00.000Z',
  alertedAt: null,
  endedAt: null,
  blocked: null,
  error: null,
};
const step: EscalationStepView = {
  action: 'resume-and-stop',
  afterMs: 1_800_000,
  dueAt: null,
  state: 'waiting',
  announcedAt: null,
  endedAt: null,
  atRisk: null,
  why: null,
  endedStopId: null,
  operationId: null,
};
const seen = (over: Partial<StopRequestView>): StopEnd => ({ kind: 'seen', view: { ...view, ...over } });

describe('the arguments of stop', () => {
  it.each([
    [[], 'Name the sandboxes to stop, or use --all'],
    [['bx_1'], '"bx_1" is not a sandbox id'],
    [[id, '--all'], 'not both'],
    [[id, '--name', 'a*'], '--name requires --all'],
    [['--all', '--name', ''], '--name has an empty value'],
    [['--all', '--name', 'try-[12]'], '--name: "try-[12]" has "[", but the only signs of patterns are *'],
    [[id, '--deadline', 'soon'], '--deadline: "soon" is not a duration'],
    [[id, '--alert-after', '1h'], 'must be shorter than --deadline'],
    [[id, '--notify', 'me'], '--notify must be a URL'],
    [[id, '--request', ''], '--request'],
    [
      [id, '--escalate', '30m: reboot'],
      '--escalate: The escalation cannot be used: step 1, "30m: reboot": unknown action',
    ],
    [[id, '--escalate', '6h: delete'], 'permit that with --escalate-may-delete'],
    [[id, '--escalate-may-delete'], '--escalate-may-delete requires --escalate'],
    [
      [id, '--escalate', '2h: notify', '--deadline', '2h'],
      '--deadline must be later than the last step of the escalation (2h)',
    ],
  ])('%j exits with 2 before it reads the settings', async (args, message) => {
    const unread = () => Promise.reject(new Error('the settings were read'));
    const { exitCode, stdout, stderr } = await cli(['stop', ...args], { readConfig: unread });
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toContain(message);
  });

  it('name each sandbox once, with one request id', () => {
    const given = { deadline: '30m', alertAfter: '10m', notify: 'https://example.com/x' };
    const { sandboxIds, request } = readStopCommand([id, id], given);
    expect(sandboxIds).toEqual([id]);
    expect(request).toEqual({
      requestId: expect.stringMatching(/^[0-9a-f]{10}$/),
      deadlineMs: 1_800_000,
      alertAfterMs: 600_000,
      notify: { url: 'https://example.com/x' },
    });
    const all = readStopCommand([], { all: true, deadline: '30m', request: 'nightly' });
    expect(all).toMatchObject({ sandboxIds: undefined, request: { requestId: 'nightly', alertAfterMs: null } });
  });
});

it('--escalate waits for its last step, and may delete only if that is permitted', () => {
  const escalate = '30m: resume-and-stop, 6h: delete';
  const { request } = readStopCommand([id], { escalate, escalateMayDelete: true });
  expect(request).toMatchObject({
    deadlineMs: 6.5 * 3_600_000,
    escalate: { steps: [{ action: 'resume-and-stop' }, { action: 'delete' }], mayDelete: true },
  });
});

describe('--all', () => {
  const fleet = [
    { ...aSandbox, id: 'bx_aaaaaaaa', name: 'try-1', state: 'idle' },
    { ...aSandbox, id: 'bx_bbbbbbbb', name: 'try-2', state: 'archived' },
    { ...aSandbox, id: 'bx_cccccccc', name: 'try-3', state: 'archiving' },
    { ...aSandbox, id: 'bx_dddddddd', name: 'try-4', state: 'cancelled' },
    { ...aSandbox, id: 'bx_eeeeeeee', name: 'mine', state: 'ready' },
  ];
  const service = { listAllSandboxes: async () => fleet } as unknown as SandboxClient;
  const choose = async (answer: string, over: { readonly yes?: boolean; readonly isTTY?: boolean } = {}) => {
    let stderr = '';
    const chosen = await chooseSandboxes(
      service,
      { name: 'try-*', yes: over.yes },
      {
        stdin: (async function* () {
          yield answer;
        })(),
        stderr: { write: (text) => (stderr += text), isTTY: over.isTTY ?? true },
        interrupted: new AbortController().signal,
      },
      async () =>
        new Map([
          [
            'bx_aaaaaaaa',
            [
              { id: 'fix-1', isBatch: false },
              { id: 'nightly', isBatch: true },
            ],
          ],
        ]),
    ).catch((error: Error) => error.message);
    return { chosen, stderr };
  };
  const wanted = ['bx_aaaaaaaa', 'bx_cccccccc'];

  it('selects sandboxes that can be stopped and whose whole name matches', () => {
    expect(stoppable(fleet, 'try-*').map((one) => one.id)).toEqual(wanted);
    expect(stoppable(fleet, 'try')).toEqual([]);
    const pending = { id: 'stop_1', status: 'pending', requestedAt: null, lastAttemptAt: null, endedAt: null };
    const archivedAndOpen = { ...aSandbox, state: 'archived', stop: { ...pending, error: null } };
    expect(stoppable([archivedAndOpen], '*')).toHaveLength(1);
  });

  it.each([
    [[{ id: 'fix-1', isBatch: false }], /fix-1 works in bx_aaaaaaaa\. .*`sandflow jobs cancel fix-1` instead/],
    [[{ id: 'night', isBatch: true }], /night works in bx_aaaaaaaa\. .*`sandflow fanout cancel night` instead/],
    ['unknown' as const, /Nobody answers whether a job works in bx_aaaaaaaa\./],
  ])('a named sandbox with the work %j needs a confirmation', async (work, said) => {
    let stderr = '';
    const io = { stdin: (async function* () {})(), stderr: { write: (text: unknown) => (stderr += text) } };
    const asked = confirmWork(new Map([['bx_aaaaaaaa', work]]), 2, {
      ...io,
      interrupted: new AbortController().signal,
    });
    await expect(asked).rejects.toThrow('This stops these 2 sandboxes. Confirm with --yes.');
    expect(stderr).toMatch(said);
  });

  it('an interruption ends the question', async () => {
    const interrupt = new AbortController();
    const never = new Promise<never>(() => undefined);
    const stdin = (async function* () {
      yield await never;
    })();
    const stderr = { write: () => interrupt.abort('SIGINT'), isTTY: true };
    const asked = confirmWork(new Map([['bx_aaaaaaaa', 'unknown']]), 1, {
      stdin,
      stderr,
      interrupted: interrupt.signal,
    });
    await expect(asked).rejects.toBe('SIGINT');
  });

  it('marks sandboxes in which jobs work', async () => {
    const { stderr } = await choose('n\n');
    expect(stderr).toMatch(/^ {2}bx_aaaaaaaa +idle +try-1 +\(fix-1, nightly work in it\)$/m);
    expect(stderr).toMatch(/^ {2}bx_cccccccc +archiving +try-3$/m);
  });

  it('asks in a terminal, and accepts only yes', async () => {
    expect(await choose('y\n')).toEqual({
      chosen: wanted,
      stderr: expect.stringContaining('these 2 sandboxes? [y/N]'),
    });
    expect((await choose('YES\n')).chosen).toEqual(wanted);
    for (const answer of ['', '\n', 'n\n', 'yesterday\n']) {
      expect((await choose(answer)).chosen).toBe('Nothing was stopped.');
    }
  });

  it('requires --yes elsewhere, and shows what it would stop', async () => {
    const { chosen, stderr } = await choose('y\n', { isTTY: false });
    expect(chosen).toBe('This stops these 2 sandboxes. Confirm with --yes.');
    expect(stderr).toMatch(/bx_aaaaaaaa {2}idle +try-1 .*\n.*bx_cccccccc {2}archiving +try-3\n$/s);
    expect(await choose('', { yes: true, isTTY: false })).toEqual({ chosen: wanted, stderr: '' });
  });
});

describe('the output of a stop request', () => {
  it.each([
    [seen({}), true, false, 'stop stop_1 accepted'],
    [
      seen({ stopId: null }),
      false,
      false,
      'not accepted yet; the service has not answered or has not found the sandbox',
    ],
    [seen({ outcome: 'archived', kept: 'saved' }), true, true, 'archived, work saved'],
    [seen({ outcome: 'archived', kept: 'stale' }), true, true, 'archived, only older work saved'],
    [seen({ outcome: 'already_archived' }), true, true, 'already_archived'],
    [
      seen({ outcome: 'superseded' }),
      false,
      false,
      'superseded: it was resumed in the meantime and was not stopped again',
    ],
    [seen({ outcome: 'gone' }), false, false, 'gone: the sandbox does not exist'],
    [seen({ outcome: 'still_failing' }), false, false, 'still_failing'],
    [seen({ outcome: 'rejected' }), false, false, 'rejected'],
    [{ kind: 'left', error: null } as const, false, false, 'detached before it ended'],
  ])('treats %j as success if acceptance is enough: %s; if waited for: %s', (end, accepted, waited, text) => {
    expect([isGood(end, false), isGood(end, true), endText(end)]).toEqual([accepted, waited, text]);
  });

  it('includes its reason', () => {
    const error = { code: 'c', message: 'It fails.', status: null, requestId: null, details: null };
    expect(endText(seen({ outcome: 'still_failing', error }))).toBe('still_failing: It fails.');
    expect(endText({ kind: 'failed', error, exitCode: 3 })).toBe('failed: It fails.');
  });

  it('shows each failed attempt, a refusal and the alert, once each', () => {
    const failed = { since: 'a', attempts: 1, lastError: 'no disk', lastAttemptAt: 'a' };
    const failing = { ...view, failed };
    expect(newsText(failing, view)).toBe('an attempt failed; the service retries: no disk');
    expect(newsText(failing, failing)).toBeUndefined();
    expect(newsText({ ...failing, alertedAt: 'b' }, failing)).toContain('not archived after --alert-after');
    const blocked = { reason: 'service_refuses', step: 'stop', since: 'c', message: 'unauthorized' } as const;
    expect(newsText({ ...view, blocked }, view)).toContain('unauthorized');
    expect(newsText({ ...view, blocked }, { ...view, blocked })).toBeUndefined();
    const escalating = {
      ...view,
      escalation: [{ ...step, state: 'announced' as const, atRisk: 'It has no snapshot.' }],
    };
    expect(newsText(escalating, view)).toBe('escalation "30m: resume-and-stop" announced. It has no snapshot.');
    expect(newsText(escalating, escalating)).toBeUndefined();
    const left = { ...view, escalation: [{ ...step, state: 'left' as const, why: 'leased by a', endedAt: 'c' }] };
    expect(newsText(left, escalating)).toBe('escalation "30m: resume-and-stop" left at c (leased by a)');
  });
});

it('the command that resumes a wait is safe for a shell', () => {
  const text = (requestId: string) =>
    reattachHint([{ sandboxId: id, error: null }], { requestId, deadlineMs: 1, alertAfterMs: null }).split('\n')[1];
  expect(text('nightly:1')).toBe(`Wait for it again with: sandflow stop ${id} --wait --request nightly:1`);
  expect(text("it's; rm")).toMatch(/--request 'it'\\''s; rm'$/);
});

it('after Ctrl-C, stops that were not requested are not said to continue', () => {
  const error = { code: 'interrupted', message: 'no', status: null, requestId: null, details: null };
  const [going, missing] = [
    { sandboxId: 'bx_22222222', error: null },
    { sandboxId: 'bx_33333333', error },
  ];
  const text = (left: Parameters<typeof reattachHint>[0]) =>
    reattachHint(left, { requestId: 'r', deadlineMs: 1, alertAfterMs: null });
  expect(text([going, missing])).toBe(
    'Interrupted; one stop continues, 1 not requested.\nRequest it with: sandflow stop bx_22222222 bx_33333333 --wait --request r',
  );
  expect(text([missing])).toMatch(/^Interrupted; no stop was requested\.\nRequest it with: sandflow stop bx_33333333 /);
  expect(text([going, going])).toMatch(/^Detached; 2 stops continue\.\nWait for them again with: /);
});

it('a concurrency limit runs a number of calls at once, in order, also after a failure', async () => {
  const gate = createConcurrencyLimit(2);
  let running = 0;
  let most = 0;
  const order: number[] = [];
  const works = Array.from({ length: 7 }, (_, index) =>
    gate(async () => {
      running += 1;
      most = Math.max(most, running);
      order.push(index);
      await new Promise((resolve) => setImmediate(resolve));
      running -= 1;
      if (index === 1) throw new Error('one');
    }),
  );
  const ends = await Promise.allSettled(works);
  expect(ends.filter(({ status }) => status === 'rejected')).toHaveLength(1);
  expect({ most, order }).toEqual({ most: 2, order: [0, 1, 2, 3, 4, 5, 6] });
});

describe('the arguments of stops sweep', () => {
  const escalate = ['--escalate', '2h: notify'];
  it.each([
    [escalate, 'Use --dry-run to see what a sweep would do, or --apply to do it'],
    [[...escalate, '--dry-run', '--apply'], 'Use --dry-run to see what a sweep would do, or --apply to do it'],
    [['--dry-run'], 'Say what to do with --escalate'],
    [['--apply', '--escalate', '6h: delete'], 'permit that with --escalate-may-delete'],
    [[...escalate, '--apply', '--protect', 'a[1]'], '--protect: "a[1]"'],
    [[...escalate, '--apply', '--limit', '0'], '--limit must be a whole number'],
    [[...escalate, '--apply', '--failing-for', 'soon'], '--failing-for: "soon" is not a duration'],
  ])('%j exits with 2 before it reads the settings', async (args, message) => {
    const unread = () => Promise.reject(new Error('the settings were read'));
    const { exitCode, stdout, stderr } = await cli(['stops', 'sweep', ...args], { readConfig: unread });
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toContain(message);
  });
});
