/** Draws the plan of a world from its seed. */
import fc from 'fast-check';
import type { FaultInput } from '../../../local-service/src/index.js';
import type { EndpointName } from '../../../src/contract/endpoints/endpoints.js';
import { sandboxEventTypes } from '../../../src/contract/workflow-safe/states.js';
import { crossing } from './draw-crossing.js';
import { escalationTrouble } from './draw-escalation.js';
import { faultFamilies } from './draw-fault.js';
import { hardship } from './draw-hardship.js';
import { endpointsOf, type JobKind, jobKinds, jobOf, mostly, often, rarely } from './draw-job.js';
import { meeting, newcomer } from './draw-meeting.js';
import {
  actNames,
  type CallOfJob,
  type JobPlan,
  type Part,
  type Plan,
  parts,
  type StopPlan,
  type Trouble,
} from './plan.js';

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
type Drawn = readonly WithoutKey<Trouble>[];
interface Weighted {
  readonly weight: number;
  readonly arbitrary: fc.Arbitrary<Drawn>;
}

const single = <One extends WithoutKey<Trouble>>(
  weight: number,
  model: { readonly [Field in keyof One]: fc.Arbitrary<One[Field]> },
): Weighted => ({ weight, arbitrary: fc.record(model).map((one) => [one as unknown as WithoutKey<Trouble>]) });

/** The call with which a job gets its sandbox. */
function beginOf(jobs: readonly JobPlan[], key: string): EndpointName {
  const plan = jobs.find((job) => job.key === key);
  return plan ? (endpointsOf(plan)[0] ?? 'createSandbox') : 'createSandbox';
}

/** What a world may have. */
interface Climate {
  /** Machines do not fail, and no days pass. Both explain any end of a job. */
  readonly isCalm: boolean;
  /** On average. Many hide one another, because each of them explains an end. */
  readonly troublesPerJob: number;
  readonly kinds: readonly TroubleKind[];
  readonly families: readonly fc.Arbitrary<string>[];
}

const troubleKinds = [
  ...(['lag', 'newcomer', 'lists', 'terminate', 'wire', 'act', 'message', 'webhook', 'death', 'hours'] as const),
  ...(['service', 'meeting', 'hardship', 'escalation', 'crossing'] as const),
];
type TroubleKind = (typeof troubleKinds)[number];

/**
 * Most worlds leave out many kinds of troubles, so that those which they have come often, and no other trouble explains
 * what they do (swarm testing). Most worlds are calm for the same reason.
 */
const climate: fc.Arbitrary<Climate> = fc.tuple(rarely(0.7), rarely(0.7)).chain(([isCalm, isSwarm]) =>
  fc.record({
    isCalm: fc.constant(isCalm),
    troublesPerJob: isSwarm ? often(1, 2, 3) : fc.constant(3),
    kinds: isSwarm ? fc.subarray(troubleKinds, { minLength: 4, maxLength: 8 }) : fc.constant(troubleKinds),
    families: isSwarm ? fc.subarray([...faultFamilies], { minLength: 2, maxLength: 4 }) : fc.constant(faultFamilies),
  }),
);

function troublesOf(jobs: readonly JobPlan[], { isCalm, kinds, families }: Climate) {
  const call = fc.constantFrom(...jobs).chain(callOf);
  const runs = jobs.filter(({ kind }) => kind === 'run');
  const callOfRun = fc.constantFrom(...(runs.length === 0 ? jobs : runs)).chain(callOf);
  const afterCalls = fc.integer({ min: 1, max: Math.ceil(jobs.length * callsPerJob) });
  const batches = jobs.filter(({ kind }) => kind === 'batch');
  const escalated = jobs.filter((one): one is StopPlan => one.kind === 'stop' && one.escalation !== null);
  const drawn: Readonly<Record<TroubleKind, Weighted | undefined>> = {
    lag: single(4, {
      kind: fc.constant('lag' as const),
      at: call.map((at) =>
        shownLater.includes(at.endpoint) ? at : { ...at, endpoint: beginOf(jobs, at.job), nth: 1 },
      ),
      ms: often(800, 1_500, 2_300),
    }),
    newcomer: { weight: 2, arbitrary: newcomer(jobs).map((one) => [one]) },
    lists: single(1, {
      kind: fc.constant('lists' as const),
      afterCalls,
      lists: often(5, 40, 1_000),
      shows: often('nothing' as const, 'some' as const, 'bad_row' as const),
    }),
    // An item of a batch has a workflow of its own.
    terminate:
      batches.length === 0
        ? undefined
        : single(2, {
            kind: fc.constant('message' as const),
            at: fc.constantFrom(...batches).chain((plan) =>
              fc.record({
                job: fc.constant(plan.key),
                endpoint: often<EndpointName>('stopSandbox', 'getPrompt', 'sendPrompt', 'getSandbox', 'deleteSandbox'),
                nth: fc.integer({ min: 1, max: 6 }),
              }),
            ),
            message: fc.constant('terminate' as const),
          }),
    wire: single(8, {
      kind: fc.constant('wire' as const),
      at: call,
      fault: fc.oneof(...families),
      times: mostly(1, 3, 1_000),
    }),
    act: single(3, {
      kind: fc.constant('act' as const),
      at: call,
      act: fc.constantFrom(...actNames),
      when: often('before' as const, 'after' as const),
    }),
    message: single(2, {
      kind: fc.constant('message' as const),
      at: callOfRun,
      message: often<'prompt' | 'long_prompt' | 'cancel' | 'terminate'>('prompt', 'long_prompt', 'cancel', 'terminate'),
    }),
    webhook: single(4, {
      kind: fc.constant('webhook' as const),
      event: fc.constantFrom(...sandboxEventTypes),
      nth: fc.integer({ min: 1, max: jobs.length }),
      times: mostly(1, 5, 1_000),
      does: often(...(['drop', 'drop', 'double', 'delay', 'hold', 'old_secret', 'forge', 'replay'] as const)),
    }),
    death: single(1, {
      kind: fc.constant('death' as const),
      afterCalls,
      part: mostly<Part>('worker', ...parts.filter((part) => !isCalm || part !== 'service')),
    }),
    hours: isCalm
      ? undefined
      : single(1, { kind: fc.constant('hours' as const), afterCalls, hours: fc.constantFrom(1, 3) }),
    service: isCalm ? undefined : single(2, { kind: fc.constant('service' as const), afterCalls, fault: serviceFault }),
    meeting: { weight: 4, arbitrary: meeting(jobs) },
    hardship: { weight: 12, arbitrary: hardship(jobs) },
    crossing: { weight: 6, arbitrary: crossing(jobs) },
    escalation: escalated.length === 0 ? undefined : { weight: 16, arbitrary: escalationTrouble(escalated) },
  };
  const chosen = kinds.flatMap((kind) => drawn[kind] ?? []);
  return chosen.length === 0 ? fc.constant([]) : fc.oneof(...chosen);
}

/** Two equal troubles at one call are one. */
const different = (troubles: Drawn): Drawn => [...new Map(troubles.map((one) => [JSON.stringify(one), one])).values()];

/** @returns the same plan for the same numbers and kinds of jobs */
export function drawPlan(seed: number, jobCount: number, kinds: readonly JobKind[] = jobKinds): Plan {
  const plan = fc
    .array(jobOf(kinds), { minLength: jobCount, maxLength: jobCount })
    .map((drawn) => drawn.map((one, at): JobPlan => ({ ...one, key: `j${at}` })))
    .chain((jobs) => fc.tuple(fc.constant(jobs), climate))
    .chain(([jobs, mayHave]) => {
      const count = Math.ceil(jobs.length * mayHave.troublesPerJob);
      return fc.record({
        seed: fc.constant(seed),
        service: fc.record({ promptIds: mostly(true, false) }),
        jobs: fc.constant(jobs),
        troubles: fc
          .array(troublesOf(jobs, mayHave), { minLength: count, maxLength: count })
          .map((drawn) => different(drawn.flat()).map((one, at): Trouble => ({ ...one, key: `t${at}` }))),
      });
    });
  const [drawn] = fc.sample(plan, { seed, numRuns: 1, unbiased: true } as fc.Parameters<Plan>);
  if (!drawn) throw new Error('No plan was drawn');
  return drawn;
}
