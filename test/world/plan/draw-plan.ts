/** Draws the plan of a world from its seed. */
import fc from 'fast-check';
import type { EndpointName } from '../../../src/contract/endpoints/endpoints.js';
import { sandboxEventTypes } from '../../../src/contract/records/states.js';
import type { FaultInput } from '../../../src/local-service/index.js';
import { allFaults } from '../../matrix/faults/faults.js';
import { actNames, type CallOfJob, type JobPlan, type Plan, parts, type Trouble } from './plan.js';

/** Most of these are as often as a bad day has them: about this many troubles come with each job. */
const troublesPerJob = 1.2;
/** Calls of a job, on average: deaths and other troubles of the whole world are spread over them. */
const callsPerJob = 11;

const often = fc.constantFrom;
const rarely = (chance: number) => fc.double({ min: 0, max: 1, noNaN: true }).map((drawn) => drawn < chance);
/** Mostly the first value. */
const mostly = <T>(first: T, ...others: readonly T[]) =>
  fc.oneof({ arbitrary: fc.constant(first), weight: 3 }, { arbitrary: fc.constantFrom(...others), weight: 2 });

const run = fc.record({
  kind: fc.constant('run' as const),
  source: mostly<'create' | 'shared' | 'archived' | 'fork'>('create', 'shared', 'archived', 'fork'),
  waitFor: mostly<'usable' | 'hydrated'>('usable', 'hydrated'),
  prompts: fc.integer({ min: 1, max: 3 }),
  workSeconds: mostly(0, 1, 3, 20),
  conversations: mostly<'one' | 'each'>('one', 'each'),
  setup: rarely(0.2),
  put: rarely(0.4),
  commands: mostly(0, 1, 2),
  collect: rarely(0.4),
  end: often('stop' as const, 'delete' as const, 'keep' as const),
  onUnknown: mostly<'abandon' | 'wait'>('abandon', 'wait'),
  deadlineMs: mostly(60_000, 5_000, 15_000),
  ttlSeconds: mostly(600, 6),
});
const batch = fc.record({
  kind: fc.constant('batch' as const),
  source: often('archived' as const, 'usable' as const, 'prepare' as const),
  items: fc.integer({ min: 2, max: 6 }),
  concurrency: fc.integer({ min: 1, max: 6 }),
  retries: fc.integer({ min: 0, max: 2 }),
  end: often('stop' as const, 'delete' as const),
});
const stop = fc.record({ kind: fc.constant('stop' as const), callers: fc.integer({ min: 1, max: 3 }) });
const cleanup = fc.record({
  kind: fc.constant('cleanup' as const),
  action: often('stop' as const, 'delete-sandbox' as const),
  sandboxes: fc.integer({ min: 1, max: 3 }),
});
const job = fc.oneof(
  { arbitrary: run, weight: 7 },
  { arbitrary: batch, weight: 1 },
  { arbitrary: stop, weight: 1 },
  { arbitrary: cleanup, weight: 1 },
);

const none = { sandbox: '', stop: '', prompt: '', conversation: '', snapshot: '', operation: '' };
/** Those that need resources of somebody else are left to the table of faults. */
export const wireFaultNames: readonly string[] = allFaults(none)
  .map(({ name }) => name)
  .filter((name) => name !== 'foreign-ids' && !name.startsWith('bad-row'));

/** The endpoints that a job of this plan probably calls. */
function endpointsOf(plan: JobPlan): readonly EndpointName[] {
  if (plan.kind === 'batch') {
    return ['forkSandbox', 'createSandbox', 'getSandbox', 'sendPrompt', 'listEvents', 'stopSandbox', 'deleteSandbox'];
  }
  if (plan.kind === 'stop') return ['stopSandbox', 'getSandbox', 'getStop'];
  if (plan.kind === 'cleanup') {
    return ['listSandboxes', 'getSandbox', plan.action === 'stop' ? 'stopSandbox' : 'deleteSandbox'];
  }
  const begin = {
    create: 'createSandbox',
    fork: 'forkSandbox',
    archived: 'resumeSandbox',
    shared: 'getSandbox',
  } as const;
  const { put, commands, collect, workSeconds, deadlineMs, ttlSeconds, end, source } = plan;
  return [
    begin[plan.source],
    'getSandbox',
    'sendPrompt',
    'listEvents',
    'getPrompt',
    'listSandboxes',
    ...(put ? (['writeFile'] as const) : []),
    ...(commands > 0 ? (['runCommand'] as const) : []),
    ...(commands > 0 && collect ? (['readFile'] as const) : []),
    ...(workSeconds * 1_000 > deadlineMs ? (['interruptSandbox'] as const) : []),
    ...(ttlSeconds < 10 ? (['updateSandbox'] as const) : []),
    ...(end === 'stop' && source !== 'shared' ? (['stopSandbox'] as const) : []),
    ...(end === 'delete' && source !== 'shared' ? (['deleteSandbox', 'getDeletionOperation'] as const) : []),
  ];
}

const callOf = (plan: JobPlan): fc.Arbitrary<CallOfJob> =>
  fc.record({
    job: fc.constant(plan.key),
    endpoint: fc.constantFrom(...endpointsOf(plan)),
    nth: mostly(1, 2, 3),
  });

const serviceFault: fc.Arbitrary<FaultInput> = fc.oneof(
  often<FaultInput>(
    { kind: 'create_cancelled' },
    { kind: 'create_fails' },
    { kind: 'boot_error' },
    { kind: 'boot_error', recoverMs: 1_000 },
    { kind: 'stop_fails', times: 2 },
    { kind: 'snapshot_unchanged' },
    { kind: 'setup_start_fails' },
    { kind: 'hydration_degraded', ms: 1_000 },
    { kind: 'events_lag', ms: 2_000, times: 5 },
  ),
);

function troubleOf(jobs: readonly JobPlan[]) {
  const call = fc.constantFrom(...jobs).chain(callOf);
  const runs = jobs.filter(({ kind }) => kind === 'run');
  const callOfRun = fc.constantFrom(...(runs.length === 0 ? jobs : runs)).chain(callOf);
  const afterCalls = fc.integer({ min: 1, max: Math.ceil(jobs.length * callsPerJob) });
  return fc.oneof(
    {
      weight: 8,
      arbitrary: fc.record({
        kind: fc.constant('wire' as const),
        at: call,
        fault: fc.constantFrom(...wireFaultNames),
        times: mostly(1, 3, 1_000),
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        kind: fc.constant('act' as const),
        at: call,
        act: fc.constantFrom(...actNames),
        when: often('before' as const, 'after' as const),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant('message' as const),
        at: callOfRun,
        message: mostly<'prompt' | 'cancel' | 'terminate'>('prompt', 'cancel', 'terminate'),
      }),
    },
    {
      weight: 4,
      arbitrary: fc.record({
        kind: fc.constant('webhook' as const),
        event: fc.constantFrom(...sandboxEventTypes),
        nth: fc.integer({ min: 1, max: jobs.length }),
        does: often(...(['drop', 'drop', 'double', 'delay', 'hold', 'old_secret', 'forge', 'replay'] as const)),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant('death' as const),
        afterCalls,
        part: mostly(...(['worker', ...parts] as const)),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constant('hours' as const), afterCalls, hours: fc.constantFrom(1, 3) }),
    },
    {
      weight: 2,
      arbitrary: fc.record({ kind: fc.constant('service' as const), afterCalls, fault: serviceFault }),
    },
  );
}

/** @returns the same plan for the same numbers */
export function drawPlan(seed: number, jobCount: number): Plan {
  const plan = fc
    .array(job, { minLength: jobCount, maxLength: jobCount })
    .map((drawn) => drawn.map((one, at): JobPlan => ({ ...one, key: `j${at}` })))
    .chain((jobs) => {
      const count = Math.ceil(jobs.length * troublesPerJob);
      return fc.record({
        seed: fc.constant(seed),
        service: fc.record({ promptIds: mostly(true, false), slowReadsMs: fc.constant(0) }),
        jobs: fc.constant(jobs),
        troubles: fc
          .array(troubleOf(jobs), { minLength: count, maxLength: count })
          .map((drawn) => drawn.map((one, at): Trouble => ({ ...one, key: `t${at}` }))),
      });
    });
  const [drawn] = fc.sample(plan, { seed, numRuns: 1, unbiased: true } as fc.Parameters<Plan>);
  if (!drawn) throw new Error('No plan was drawn');
  return drawn;
}
