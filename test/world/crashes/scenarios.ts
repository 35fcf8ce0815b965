/** The jobs of the crash sweep: each workflow with its main options, and nothing else that goes wrong. */
import { failsForEver, type JobPlan, type RunPlan, type Trouble } from '../plan/plan.js';

/** A follow that was lost with its worker continues after 40 s. */
const deadlineMs = 240_000;

const plain: Omit<RunPlan, 'key'> = {
  kind: 'run',
  source: 'create',
  waitFor: 'usable',
  prompts: 1,
  equalPrompts: false,
  workSeconds: 0,
  answerKb: 0,
  conversations: 'one',
  setup: false,
  put: false,
  commands: 0,
  commandSeconds: 0,
  collect: false,
  end: 'stop',
  onUnknown: 'abandon',
  deadlineMs,
  ttlSeconds: 600,
  shortLease: false,
  checks: null,
  fails: null,
};

type Keyless<Plan> = Plan extends JobPlan ? Omit<Plan, 'key'> : never;

export interface CrashScenario {
  readonly name: string;
  readonly job: Keyless<JobPlan>;
  /** Troubles that belong to the scenario, for the job `key`. */
  readonly troubles?: (key: string) => readonly Trouble[];
}

export const crashScenarios: readonly CrashScenario[] = [
  { name: 'create-stop', job: plain },
  {
    name: 'files-commands-delete',
    job: {
      ...plain,
      setup: true,
      put: true,
      commands: 2,
      prompts: 2,
      collect: true,
      waitFor: 'hydrated',
      end: 'delete',
    },
  },
  { name: 'side-by-side-keep', job: { ...plain, prompts: 3, conversations: 'each', end: 'keep' } },
  { name: 'fork-delete', job: { ...plain, source: 'fork', waitFor: 'hydrated', end: 'delete' } },
  { name: 'resume-stop', job: { ...plain, source: 'archived', prompts: 2 } },
  { name: 'shared-keep', job: { ...plain, source: 'shared', end: 'keep' } },
  { name: 'renewing', job: { ...plain, workSeconds: 5, ttlSeconds: 6 } },
  {
    name: 'cancelled',
    job: { ...plain, workSeconds: 20, commands: 1, collect: true, end: 'delete' },
    troubles: (key) => [
      { key: `${key}-cancel`, kind: 'message', at: { job: key, endpoint: 'sendPrompt', nth: 1 }, message: 'cancel' },
    ],
  },
  {
    name: 'followed-up',
    job: { ...plain, workSeconds: 3 },
    troubles: (key) => [
      { key: `${key}-more`, kind: 'message', at: { job: key, endpoint: 'listEvents', nth: 1 }, message: 'prompt' },
    ],
  },
  {
    name: 'checked-in-rounds',
    // A prompt that never reached the service is sent again, so every death ends as none does.
    job: { ...plain, checks: { shows: 'passes', mends: 2, rounds: 3, before: true }, onUnknown: 'resend' },
  },
  {
    name: 'batch',
    job: {
      kind: 'batch',
      source: 'archived',
      items: 3,
      concurrency: 2,
      tight: false,
      retries: 0,
      end: 'delete',
      alike: null,
      sources: null,
    },
  },
  {
    name: 'batch-usable',
    job: {
      kind: 'batch',
      source: 'usable',
      items: 2,
      concurrency: 2,
      tight: false,
      retries: 1,
      end: 'stop',
      alike: null,
      sources: null,
    },
  },
  {
    name: 'batch-prepared',
    job: {
      kind: 'batch',
      source: 'prepare',
      items: 2,
      concurrency: 1,
      tight: false,
      retries: 0,
      end: 'delete',
      alike: null,
      sources: null,
    },
  },
  {
    name: 'batch-held',
    job: {
      ...{ kind: 'batch', source: 'archived', items: 5, concurrency: 2, tight: false, retries: 0, end: 'delete' },
      alike: { by: 'check', breaker: 2, whenHeld: 'mend' },
      sources: null,
    },
  },
  {
    name: 'batch-sources',
    job: {
      ...{ kind: 'batch', source: 'archived', items: 5, concurrency: 2, tight: false, retries: 0, end: 'delete' },
      alike: null,
      sources: { of: ['setup', 'archived', 'unready'], atOnce: 1, end: 'delete', afterwards: 'mend' },
    },
  },
  { name: 'stop', job: { kind: 'stop', callers: 2, fails: 0, escalation: null } },
  {
    name: 'stop-escalated',
    job: { kind: 'stop', callers: 1, fails: 20, escalation: { steps: '2s: resume-and-stop', callers: 1 } },
  },
  {
    name: 'stop-deletes',
    job: { kind: 'stop', callers: 2, fails: failsForEver, escalation: { steps: '2s: delete', callers: 1 } },
  },
  { name: 'cleanup-stop', job: { kind: 'cleanup', action: 'stop', sandboxes: 2 } },
  { name: 'cleanup-delete', job: { kind: 'cleanup', action: 'delete-sandbox', sandboxes: 2 } },
];
