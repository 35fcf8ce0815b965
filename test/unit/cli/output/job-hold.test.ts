import { describe, expect, it } from 'vitest';
import { type HeldCall, type HeldJob, jobHold } from '../../../../src/cli/output/job-hold.js';
import { phaseText } from '../../../../src/cli/output/job-text.js';
import type { JobPhase } from '../../../../src/protocol/job/job-phases.js';
import type { AwaitedStop } from '../../../../src/protocol/job/job-progress.js';

const at = '2026-01-01T12:00:00.000Z';
const until = '2026-01-01T12:15:00.000Z';
const before = { startedAt: at, createdAt: at, usableAt: at, promptedAt: at, answeredAt: at } as const;
const working = { ...before, endingAt: null, endedAt: null };
const ending = { ...before, endingAt: at, endedAt: null };

const job = (change: Partial<HeldJob>): HeldJob => ({
  ...{ jobId: 'j', phase: 'following', sandboxId: 'bx_2345abcd', blocked: null, times: working },
  ...change,
});

const round = (number: number) => ({ round: number, passed: false, runs: [], promptIndex: null });

const pending: AwaitedStop = { stopId: 'stop_1', status: 'pending', error: null };
const failing: AwaitedStop = { stopId: 'stop_1', status: 'failing', error: 'No disk' };
const full: HeldCall = { nextAt: until, lastError: 'The disk is full: /r cannot be written.' };
const runs: HeldCall = { nextAt: null, lastError: 'heartbeat timeout' };
const cancelled = { cutShort: 'cancelled', cleanUpEndsAt: until } as const;
const overdue = { cutShort: 'deadline_exceeded', cleanUpEndsAt: until } as const;

const logs = 'sandflow jobs logs j -f';
const watch = 'sandflow jobs watch j';
const cancel = 'sandflow jobs cancel j';
const explain = 'sandflow stops explain bx_2345abcd';

describe('what holds a job', () => {
  it.each<[string, HeldJob, readonly HeldCall[], Partial<ReturnType<typeof jobHold>>]>([
    [
      'a job at work can be cancelled',
      job({}),
      [],
      { doing: 'the agent is working', words: 'agent works', why: '', next: [logs, watch, cancel] },
    ],
    ['the first of three rounds', job({ maxRounds: 3, rounds: [round(0)] }), [], { words: 'agent works 1/3' }],
    [
      'the checks of the second round',
      job({ phase: 'checking', maxRounds: 3, rounds: [round(0), round(1)] }),
      [],
      { words: 'checking 2/3' },
    ],
    ['no round where there is one', job({ maxRounds: 1 }), [], { words: 'agent works' }],
    [
      'no round before the first prompt',
      job({ phase: 'checking', maxRounds: 3, times: { ...working, promptedAt: null } }),
      [],
      { words: 'checking' },
    ],
    [
      'no round after them',
      job({ phase: 'collecting_files', maxRounds: 3, rounds: [round(0), round(1)] }),
      [],
      { words: 'collecting files' },
    ],
    [
      'a create without an answer',
      job({ phase: 'creating', sandboxId: null }),
      [{ nextAt: until, lastError: 'No response' }],
      { doing: 'creating the sandbox', words: 'forking', why: 'No response', next: [logs, watch, cancel] },
    ],
    [
      'a cancel that waits for such a create, and offers no second one',
      job({ phase: 'creating', sandboxId: null, ...cancelled }),
      [],
      {
        doing: `cancelling: waiting for the answer to the create of its sandbox, until ${until} at the latest`,
        words: 'cancelling',
        why: 'waiting for the answer to the create of its sandbox',
        next: [logs, watch],
      },
    ],
    [
      'a cancel that waits for a create whose attempts fail',
      job({ phase: 'creating', sandboxId: null, ...cancelled }),
      [{ nextAt: null, lastError: 'No response' }],
      { words: 'cancelling', why: 'No response', next: [logs, watch] },
    ],
    [
      'a deadline that waits for a create',
      job({ phase: 'creating', sandboxId: null, ...overdue }),
      [],
      {
        doing: `past its deadline: waiting for the answer to the create of its sandbox, until ${until} at the latest`,
        words: 'past its deadline',
        next: [logs, watch],
      },
    ],
    [
      'a cancel that waits for a prompt that is being sent',
      job({ phase: 'prompting', ...cancelled }),
      [],
      { doing: 'cancelling: waiting until it is known whether the prompt was sent', words: 'cancelling' },
    ],
    [
      'a cancel that collects files, which a second cancel skips',
      job({ phase: 'collecting_files', ...cancelled, times: ending }),
      [full],
      {
        doing: 'cancelling: collecting files',
        words: 'collecting files',
        why: full.lastError ?? '',
        next: [logs, watch, cancel],
      },
    ],
    [
      'a result store that is full',
      job({ phase: 'collecting_files' }),
      [full],
      { doing: 'collecting files', words: 'collecting files', why: full.lastError ?? '', next: [logs, watch, cancel] },
    ],
    [
      'a machine that is being archived at the end',
      job({ phase: 'waiting_for_archive', awaitedStop: pending, times: ending }),
      [],
      { doing: 'waiting until the sandbox is archived', words: 'archiving', why: '', next: [logs, watch] },
    ],
    [
      'a machine that is being archived before the job can resume it',
      job({ phase: 'waiting_for_archive', awaitedStop: pending }),
      [],
      { doing: 'waiting until the sandbox is archived, to resume it', words: 'archiving', next: [logs, watch, cancel] },
    ],
    [
      'a stop that fails at the end',
      job({ phase: 'waiting_for_archive', awaitedStop: failing, times: ending }),
      [],
      {
        doing: 'waiting until the sandbox is archived',
        words: 'stop fails',
        why: 'its stop stop_1 is failing, and is tried again: No disk',
        next: [logs, watch, explain],
      },
    ],
    [
      'a stop that fails before the job can resume the sandbox',
      job({ phase: 'waiting_for_archive', awaitedStop: failing }),
      [],
      { words: 'stop fails', next: [logs, watch, explain, cancel] },
    ],
    ['a follow that is repeated', job({}), [full], { words: 'agent works', why: full.lastError ?? '' }],
    ['a follow whose next attempt runs', job({}), [runs], { words: 'agent works', why: '' }],
    [
      'a service that refuses comes first',
      job({
        blocked: { reason: 'service_refuses', step: 'stop', message: 'no money', since: at },
        awaitedStop: failing,
      }),
      [full],
      { words: 'blocked', why: 'no money' },
    ],
  ])('is said: %s', (_, held, calls, expected) => {
    expect(jobHold(held, calls)).toMatchObject(expected);
  });

  it('is one line whatever the service says, and a pasteable command', () => {
    const evil = { stopId: 'stop_1', status: 'failing', error: 'a\nb\u001b[2J' };
    const { why, next } = jobHold(job({ phase: 'waiting_for_archive', awaitedStop: evil, sandboxId: '$(id)' }));
    expect(why).not.toContain('\n');
    expect(why).not.toContain('\u001b');
    expect(next).toContain('sandflow stops explain SANDBOX');
  });
});

const phases = Object.keys({
  ...{ creating: 0, resuming: 0, waiting_for_sandbox: 0, waiting_for_setup: 0, putting_files: 0, running_commands: 0 },
  ...{
    prompting: 0,
    following: 0,
    checking: 0,
    collecting_files: 0,
    interrupting: 0,
    stopping: 0,
    waiting_for_archive: 0,
  },
  ...{ deleting: 0, ended: 0 },
} satisfies Record<JobPhase, 0>) as JobPhase[];
const all = phases.flatMap((phase) =>
  [{}, cancelled, overdue].flatMap((cut) =>
    [working, ending].flatMap((times) =>
      [null, pending, failing].flatMap((awaitedStop) =>
        [[], [full], [runs]].map((calls) => ({ held: job({ phase, times, awaitedStop, ...cut }), calls })),
      ),
    ),
  ),
);

describe('of every combination of phase, cut, stop and calls', () => {
  it('the text names a cut, a failing stop and the phase, and never says that a job which is cut short creates', () => {
    for (const { held, calls } of all) {
      const { doing, words, why } = jobHold(held, calls);
      expect(words).not.toBe('');
      if (held.cutShort === 'cancelled' && held.phase !== 'ended') expect(doing).toMatch(/^cancelling: /);
      if (held.cutShort === 'deadline_exceeded' && held.phase !== 'ended')
        expect(doing).toMatch(/^past its deadline: /);
      if (held.cutShort) expect(`${doing} ${words}`).not.toMatch(/creating|forking|sending/);
      if (held.awaitedStop === failing)
        expect([words, why]).toEqual(['stop fails', expect.stringContaining('No disk')]);
      else if (calls[0] === full) expect(why).toBe(full.lastError);
      const text = phaseText({ ...held, prompts: [] });
      expect(text).toContain(doing);
      expect(text.includes('stop_1')).toBe(
        held.awaitedStop === failing || (held.awaitedStop !== null && held.times === working),
      );
    }
  });

  it('a cancel is offered only if it changes something, and the stop is explained only if it fails', () => {
    for (const { held, calls } of all) {
      const { next } = jobHold(held, calls);
      expect(next.slice(0, 2)).toEqual([logs, watch]);
      const skips = held.phase === 'interrupting' || held.phase === 'collecting_files';
      const changes = held.cutShort === undefined ? held.times === working : held.cutShort === 'cancelled' && skips;
      expect(next.includes(cancel)).toBe(changes);
      expect(next.includes(explain)).toBe(held.awaitedStop === failing);
    }
  });
});
