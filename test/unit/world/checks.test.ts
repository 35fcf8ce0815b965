import { describe, expect, it } from 'vitest';
import { brokenChecks } from '../../world/oracle/checks.js';
import { expectedEnd } from '../../world/oracle/expected.js';
import type { WorldRecord } from '../../world/oracle/record.js';
import type { ChecksPlan, RunPlan } from '../../world/plan/plan.js';
import { mendText } from '../../world/players/checks.js';

const passes: ChecksPlan = { shows: 'passes', mends: 2, rounds: 3, before: true };
const planOf = (checks: ChecksPlan | null, fails: RunPlan['fails'] = null) =>
  ({ kind: 'run', key: 'j1', prompts: 1, deadlineMs: 60_000, workSeconds: 0, checks, fails }) as RunPlan;
const round = (number: number, passed: boolean, promptIndex: number | null = null) => ({
  ...{ round: number, passed, promptIndex },
  runs: [{ exitCode: passed ? 0 : 1 }],
});
const asPlanned = [round(0, false), round(1, false, 1), round(2, false, 2), round(3, true)];

interface Played {
  readonly outcome?: string;
  readonly code?: string;
  readonly rounds?: readonly ReturnType<typeof round>[];
  readonly runs?: number;
  readonly mends?: number;
  readonly troubles?: readonly object[];
}

/** A job of three rounds. */
function promisesOf({ outcome = 'completed', code, rounds = asPlanned, runs = 4, mends = 2, troubles = [] }: Played) {
  const result = { jobId: 'j1', outcome, error: code ? { code } : null, rounds, prompts: [] };
  const record = {
    plan: { jobs: [planOf(passes)], troubles: troubles.map((one) => ({ key: 't1', at: { job: 'j1' }, ...one })) },
    struck: new Set(['t1']),
    told: [{ job: 'j1', workflowId: 'sf-world-j1', given: [], othersPromptIds: [], jobs: [result] }],
    checkRuns: new Map([['j1', runs]]),
    traces: { promptIds: new Set(), forks: [] },
    books: {
      sandboxes: [{ id: 'bx_1', name: 'sf-world-j1-main-1' }],
      prompts: Array.from({ length: mends }, () => ({ id: 'p', sandboxId: 'bx_1', text: `${mendText('j1')}\nsaid` })),
    },
    calls: [],
  };
  return brokenChecks(record as unknown as WorldRecord).map(({ promise }) => promise);
}

const runsOnce = 'a check runs once a round';
const promptsOnce = 'a failed check is one prompt';
const saysWhatIs = 'the result says what is';
const asThePlan = 'an undisturbed job ends as planned';

describe('the checks of a job', () => {
  it.each<[string, Played, readonly string[]]>([
    ['that end as planned', {}, []],
    ['one of which runs twice', { runs: 5 }, [runsOnce]],
    ['one of which is told and never ran', { runs: 3 }, [runsOnce]],
    ['one of which ends with the job', { outcome: 'cancelled', troubles: [{ kind: 'message' }], runs: 5 }, []],
    [
      'two of which run after the last round',
      { outcome: 'cancelled', troubles: [{ kind: 'message' }], runs: 6 },
      [runsOnce],
    ],
    ['of which a failure is told twice', { mends: 3 }, [promptsOnce]],
    ['of which a failure is not told', { mends: 1 }, [promptsOnce]],
    ['of which a copy is sent by a person', { mends: 3, troubles: [{ kind: 'act', act: 'prompt' }] }, []],
    [
      'that completes although the last round failed',
      { rounds: asPlanned.slice(0, 3), runs: 3, mends: 2 },
      [saysWhatIs, asThePlan],
    ],
    [
      'that is unverified although the last round passed',
      { outcome: 'unverified', code: 'check_failed' },
      [saysWhatIs],
    ],
    ['that completes a round too early', { rounds: [round(0, false), round(1, true)], runs: 2, mends: 0 }, [asThePlan]],
    ['that has another code', { code: 'check_failed' }, [asThePlan]],
    ['whose machine was left', { code: 'clean_up_unfinished' }, []],
  ])('%s', (_, played, promises) => {
    expect(promisesOf(played)).toEqual(promises);
  });
});

describe('the end that a plan says', () => {
  it.each<[string, ChecksPlan | null, RunPlan['fails'], string | null, readonly boolean[] | null]>([
    ['without checks', null, null, null, null],
    ['of an agent that fails', null, 'agent', 'prompt_failed', null],
    ['of a command that fails before the checks', passes, 'command', 'command_failed', []],
    ['of a provider that is not there', passes, 'provider', 'provider_not_configured', [false]],
    ['of work that is good at once', { ...passes, mends: 0 }, null, null, [true, true]],
    ['of two mends', passes, null, null, [false, false, false, true]],
    ['of a mend too many', { ...passes, mends: 3 }, null, 'check_failed', [false, false, false, false]],
    ['without a round before', { ...passes, mends: 1, before: false }, null, null, [false, true]],
    ['of other failures for ever', { ...passes, shows: 'differs' }, null, 'check_failed', [false, false, false, false]],
    ['of one failure', { ...passes, shows: 'repeats' }, null, 'check_repeated', [false, false, false]],
    [
      'of one failure in the last round',
      { ...passes, shows: 'repeats', rounds: 2 },
      null,
      'check_failed',
      [false, false, false],
    ],
    ['of a check that cannot start', { ...passes, shows: 'missing' }, null, 'check_not_started', [false]],
  ])('%s', (_, checks, fails, code, rounds) => {
    expect(expectedEnd(planOf(checks, fails))).toMatchObject({ code, rounds });
  });
});
