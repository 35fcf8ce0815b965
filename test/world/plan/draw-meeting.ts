/** Draws troubles in which several people or things meet at one call. */
import fc from 'fast-check';
import type { EndpointName } from '../../../src/contract/endpoints/endpoints.js';
import { lostAnswers } from './draw-fault.js';
import { endpointsOf, mostly, often } from './draw-job.js';
import type { CallOfJob, JobPlan } from './plan.js';

/** A call that changes something, with the read that its activity makes before it. */
interface Write {
  readonly write: EndpointName;
  readonly read?: EndpointName;
}
const writes: readonly Write[] = [
  { write: 'createSandbox' },
  { write: 'forkSandbox' },
  { write: 'sendPrompt', read: 'listEvents' },
  { write: 'stopSandbox', read: 'getSandbox' },
  { write: 'resumeSandbox', read: 'getSandbox' },
  { write: 'deleteSandbox' },
  { write: 'runCommand' },
];
const writesOf = (plan: JobPlan) => {
  const made = writes.filter(({ write }) => endpointsOf(plan).includes(write));
  return made.length === 0 ? [{ write: 'sendPrompt' as const }] : made;
};

/** Two troubles that meet: somebody acts just before a call whose answer is lost. */
export const meeting = (jobs: readonly JobPlan[]) =>
  fc
    .constantFrom(...jobs)
    .chain((plan) => fc.tuple(fc.constant(plan.key), fc.constantFrom(...writesOf(plan)), mostly(1, 2, 3)))
    .chain(([job, { write, read }, nth]) => {
      const before: CallOfJob = read ? { job, endpoint: read, nth, activity: write } : { job, endpoint: write, nth };
      return fc.tuple(
        fc.record({
          kind: fc.constant('act' as const),
          at: often(before, { job, endpoint: write, nth }),
          act: often(...(['restart', 'prompt', 'stop', 'resume', 'rename'] as const)),
          when: fc.constant('before' as const),
        }),
        fc.record({
          kind: fc.constant('wire' as const),
          at: fc.constant({ job, endpoint: write, nth }),
          fault: often(...lostAnswers),
          times: fc.constant(1),
        }),
      );
    });

/** Who arrives at a call of the job that uses the sandbox, or that ends it. */
export const newcomer = (jobs: readonly JobPlan[]) =>
  fc.constantFrom(...jobs).chain((plan) => {
    const ends = plan.kind === 'cleanup' || (plan.kind === 'run' && plan.end === 'delete');
    const of = (endpoints: readonly EndpointName[], brings: 'run' | 'cleanup') =>
      fc.record({
        kind: fc.constant('newcomer' as const),
        at: fc.record({
          job: fc.constant(plan.key),
          endpoint: often(...endpoints),
          nth: plan.kind === 'batch' ? fc.integer({ min: 1, max: plan.items }) : mostly(1, 2),
        }),
        brings: fc.constant(brings),
      });
    const start =
      plan.kind === 'batch' && plan.source === 'snapshot' && !plan.sources ? 'createSandbox' : 'forkSandbox';
    const uses: readonly EndpointName[] = plan.kind === 'batch' ? [start] : ['sendPrompt', 'runCommand'];
    return ends
      ? of(plan.kind === 'cleanup' ? ['deleteSandbox', 'stopSandbox'] : ['deleteSandbox'], 'run')
      : of(uses, 'cleanup');
  });
