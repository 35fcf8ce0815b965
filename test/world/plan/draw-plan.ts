/** Draws the plan of a world from its seed. */
import fc from 'fast-check';
import type { EndpointName } from '../../../src/contract/endpoints/endpoints.js';
import { sandboxEventTypes } from '../../../src/contract/records/states.js';
import type { FaultInput } from '../../../src/local-service/index.js';
import { wireFault } from './draw-fault.js';
import { hardship } from './draw-hardship.js';
import { endpointsOf, job, mostly, often, rarely } from './draw-job.js';
import { meeting, newcomer } from './draw-meeting.js';
import { actNames, type CallOfJob, type JobPlan, type Part, type Plan, parts, type Trouble } from './plan.js';

/** Most of these are as often as a bad day has them: about this many troubles come with each job. */
const troublesPerJob = 3;
/** Calls of a job, on average: deaths and other troubles of the whole world are spread over them. */
const callsPerJob = 11;

/** Writes whose effect a read may not show at once. */
const shownLater: readonly EndpointName[] = [
  ...(['createSandbox', 'forkSandbox', 'resumeSandbox', 'stopSandbox', 'sendPrompt', 'deleteSandbox'] as const),
];

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

type WithoutKey<T> = T extends unknown ? Omit<T, 'key'> : never;
type Drawn = WithoutKey<Trouble>;

/** The call with which a job gets its sandbox. */
function beginOf(jobs: readonly JobPlan[], key: string): EndpointName {
  const plan = jobs.find((job) => job.key === key);
  return plan ? (endpointsOf(plan)[0] ?? 'createSandbox') : 'createSandbox';
}

function troublesOf(jobs: readonly JobPlan[], isCalm: boolean) {
  const call = fc.constantFrom(...jobs).chain(callOf);
  const runs = jobs.filter(({ kind }) => kind === 'run');
  const callOfRun = fc.constantFrom(...(runs.length === 0 ? jobs : runs)).chain(callOf);
  const afterCalls = fc.integer({ min: 1, max: Math.ceil(jobs.length * callsPerJob) });
  const batches = jobs.filter(({ kind }) => kind === 'batch');
  const one = fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        kind: fc.constant('lag' as const),
        at: call.map((at) =>
          shownLater.includes(at.endpoint) ? at : { ...at, endpoint: beginOf(jobs, at.job), nth: 1 },
        ),
        ms: often(800, 1_500, 2_300),
      }),
    },
    { weight: 2, arbitrary: newcomer(jobs) },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant('lists' as const),
        afterCalls,
        lists: fc.integer({ min: 5, max: 40 }),
        shows: often('nothing' as const, 'some' as const, 'bad_row' as const),
      }),
    },
    // An item of a batch has a workflow of its own.
    ...(batches.length === 0
      ? []
      : [
          {
            weight: 2,
            arbitrary: fc.record({
              kind: fc.constant('message' as const),
              at: fc.constantFrom(...batches).chain((plan) =>
                fc.record({
                  job: fc.constant(plan.key),
                  endpoint: often<EndpointName>(
                    'stopSandbox',
                    'getPrompt',
                    'sendPrompt',
                    'getSandbox',
                    'deleteSandbox',
                  ),
                  nth: fc.integer({ min: 1, max: 6 }),
                }),
              ),
              message: fc.constant('terminate' as const),
            }),
          },
        ]),
    {
      weight: 8,
      arbitrary: fc.record({
        kind: fc.constant('wire' as const),
        at: call,
        fault: wireFault,
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
        message: often<'prompt' | 'long_prompt' | 'cancel' | 'terminate'>(
          'prompt',
          'long_prompt',
          'cancel',
          'terminate',
        ),
      }),
    },
    {
      weight: 4,
      arbitrary: fc.record({
        kind: fc.constant('webhook' as const),
        event: fc.constantFrom(...sandboxEventTypes),
        nth: fc.integer({ min: 1, max: jobs.length }),
        times: mostly(1, 5, 1_000),
        does: often(...(['drop', 'drop', 'double', 'delay', 'hold', 'old_secret', 'forge', 'replay'] as const)),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant('death' as const),
        afterCalls,
        part: mostly<Part>('worker', ...parts.filter((part) => !isCalm || part !== 'service')),
      }),
    },
    ...(isCalm
      ? []
      : [
          {
            weight: 1,
            arbitrary: fc.record({ kind: fc.constant('hours' as const), afterCalls, hours: fc.constantFrom(1, 3) }),
          },
          {
            weight: 2,
            arbitrary: fc.record({ kind: fc.constant('service' as const), afterCalls, fault: serviceFault }),
          },
        ]),
  );
  const met: fc.Arbitrary<readonly Drawn[]> = meeting(jobs);
  return fc.oneof(
    { weight: 7, arbitrary: one.map((drawn): readonly Drawn[] => [drawn]) },
    { weight: 1, arbitrary: met },
    { weight: 3, arbitrary: hardship(jobs) },
  );
}

/** @returns the same plan for the same numbers */
export function drawPlan(seed: number, jobCount: number): Plan {
  const plan = fc
    .array(job, { minLength: jobCount, maxLength: jobCount })
    .map((drawn) => drawn.map((one, at): JobPlan => ({ ...one, key: `j${at}` })))
    .chain((jobs) => fc.tuple(fc.constant(jobs), rarely(0.7)))
    // Machines that fail and days that pass explain any end of a job. Most worlds have neither, so that ends need causes.
    .chain(([jobs, isCalm]) => {
      const count = Math.ceil(jobs.length * troublesPerJob);
      return fc.record({
        seed: fc.constant(seed),
        service: fc.record({ promptIds: mostly(true, false) }),
        jobs: fc.constant(jobs),
        troubles: fc
          .array(troublesOf(jobs, isCalm), { minLength: count, maxLength: count })
          .map((drawn) => drawn.flat().map((one, at): Trouble => ({ ...one, key: `t${at}` }))),
      });
    });
  const [drawn] = fc.sample(plan, { seed, numRuns: 1, unbiased: true } as fc.Parameters<Plan>);
  if (!drawn) throw new Error('No plan was drawn');
  return drawn;
}
