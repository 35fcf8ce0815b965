import { expect, it } from 'vitest';
import { brokenClasses } from '../../world/oracle/classes.js';
import type { WorldRecord } from '../../world/oracle/record.js';
import type { RunPlan } from '../../world/plan/plan.js';

interface Ended {
  readonly outcome: string;
  readonly failureClass: string | null;
  readonly plan?: Partial<RunPlan>;
  readonly trouble?: object;
}

function isBroken({ outcome, failureClass, plan, trouble }: Ended): boolean {
  const base = { kind: 'run', key: 'j1', prompts: 1, deadlineMs: 60_000, workSeconds: 0, checks: null, fails: null };
  const record = {
    plan: {
      jobs: [{ ...base, ...plan }],
      troubles: trouble ? [{ key: 't1', at: { job: 'j1', endpoint: 'getPrompt', nth: 1 }, ...trouble }] : [],
    },
    struck: new Set(['t1']),
    told: [{ job: 'j1', jobs: [{ outcome, failureClass, error: null }] }],
    played: new Map(),
  };
  return brokenClasses(record as unknown as WorldRecord).length > 0;
}

const unavailable = { kind: 'wire', fault: 'http_500', times: 1_000 };
const refused = { kind: 'wire', fault: 'forbidden', times: 1 };

it.each<[string, Ended, boolean]>([
  ['what completed', { outcome: 'completed', failureClass: null }, false],
  ['what completed and has a class', { outcome: 'completed', failureClass: 'agent' }, true],
  ['what failed and has none', { outcome: 'prompt_failed', failureClass: null, plan: { fails: 'agent' } }, true],
  ['the agent that failed', { outcome: 'prompt_failed', failureClass: 'agent', plan: { fails: 'agent' } }, false],
  [
    'the agent, told as the service',
    { outcome: 'prompt_failed', failureClass: 'service', plan: { fails: 'agent' } },
    true,
  ],
  ['the service', { outcome: 'deadline_exceeded', failureClass: 'service', trouble: unavailable }, false],
  [
    'the service, told as the agent',
    { outcome: 'deadline_exceeded', failureClass: 'agent', trouble: unavailable },
    true,
  ],
  ['the service, told as a check', { outcome: 'rejected', failureClass: 'check', trouble: unavailable }, true],
  ['a refusal for good', { outcome: 'rejected', failureClass: 'setup', trouble: refused }, false],
  [
    'a refusal for good, told as the provider',
    { outcome: 'rejected', failureClass: 'provider', trouble: refused },
    true,
  ],
  [
    'an agent without the time for its work',
    { outcome: 'deadline_exceeded', failureClass: 'agent', plan: { deadlineMs: 5_000 }, trouble: unavailable },
    false,
  ],
  [
    'an agent whose machine a person stopped',
    { outcome: 'prompt_failed', failureClass: 'agent', trouble: { kind: 'act', act: 'stop' } },
    false,
  ],
  [
    'the agent of a world whose service died',
    { outcome: 'prompt_failed', failureClass: 'agent', trouble: { kind: 'hours' } },
    false,
  ],
])('the class of %s', (_, ended, broken) => {
  expect(isBroken(ended)).toBe(broken);
});
