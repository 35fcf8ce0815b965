/** Draws troubles that meet a step of a job that most other troubles miss: they last, or come while a call is made. */
import fc from 'fast-check';
import type { EndpointName } from '../../../src/contract/endpoints/endpoints.js';
import { endpointsOf, often } from './draw-job.js';
import type { BatchPlan, CleanupPlan, JobPlan, RunPlan, Trouble } from './plan.js';

type WithoutKey<T> = T extends unknown ? Omit<T, 'key'> : never;
export type Drawn = readonly WithoutKey<Trouble>[];

/** As often as a job makes calls in the longest wait. */
export const lasting = 1_000;

const wire = (job: string, endpoint: EndpointName, fault: string, times: number) =>
  ({ kind: 'wire', at: { job, endpoint, nth: 1 }, fault, times }) as const;
const cancelDuring = (job: string, endpoint: EndpointName, afterMs: number) =>
  ({ kind: 'message', at: { job, endpoint, nth: 1 }, message: 'cancel', afterMs }) as const;

/** Ends long before its deadline unless it waits for nothing. */
export const isPatient = ({ deadlineMs, workSeconds, prompts }: RunPlan) =>
  deadlineMs >= 60_000 && workSeconds * prompts <= 10;

/** What may happen to one of the jobs that `isMeant` picks. Nothing, if there is none. */
export function to<Job extends JobPlan>(
  jobs: readonly JobPlan[],
  isMeant: (job: JobPlan) => job is Job,
  draw: (job: Job) => fc.Arbitrary<Drawn>,
): readonly fc.Arbitrary<Drawn>[] {
  const meant = jobs.filter(isMeant);
  return meant.length === 0 ? [] : [fc.constantFrom(...meant).chain(draw)];
}

export const isRun =
  (isMeant: (job: RunPlan) => boolean) =>
  (job: JobPlan): job is RunPlan =>
    job.kind === 'run' && isMeant(job);
export const isBatch =
  (isMeant: (job: BatchPlan) => boolean) =>
  (job: JobPlan): job is BatchPlan =>
    job.kind === 'batch' && isMeant(job);

/** The call with which a job gets its sandbox. */
const beginOf = (job: RunPlan): EndpointName => endpointsOf(job)[0] ?? 'getSandbox';
const createOf = ({ source }: RunPlan): EndpointName => (source === 'fork' ? 'forkSandbox' : 'createSandbox');
export const isOwn = ({ source }: RunPlan) => source === 'create' || source === 'fork';

export function hardship(jobs: readonly JobPlan[]): fc.Arbitrary<Drawn> {
  const drawn = [
    // A deploy while a command works.
    ...to(
      jobs,
      isRun(({ commands, commandSeconds }) => commands > 0 && commandSeconds > 0),
      ({ key }) => fc.constant([{ kind: 'deploy', at: { job: key, endpoint: 'runCommand', nth: 1 } }]),
    ),
    // The service accepts slowly, and somebody cancels meanwhile.
    ...to(
      jobs,
      isRun((job) => job.source === 'shared' && isPatient(job)),
      ({ key }) =>
        often<Drawn>(
          [wire(key, 'sendPrompt', 'slow', 1)],
          [wire(key, 'sendPrompt', 'slow', 1), cancelDuring(key, 'sendPrompt', 1_000)],
        ),
    ),
    // Throttled items.
    ...to(
      jobs,
      isBatch(({ concurrency }) => concurrency > 1),
      ({ key }) => fc.constant([wire(key, 'forkSandbox', 'rate_limited', lasting)]),
    ),
    // No answer to a create.
    ...to(jobs, isRun(isOwn), (job) =>
      often('page-502-after', 'dropped-after', 'truncated').map((fault) => [
        wire(job.key, createOf(job), fault, lasting),
      ]),
    ),
    // A machine that cannot be deleted.
    ...to(
      jobs,
      isRun((job) => isOwn(job) && job.end === 'delete'),
      ({ key }) => often('forbidden', 'limit_reached').map((fault) => [wire(key, 'deleteSandbox', fault, lasting)]),
    ),
    // A cancelled job may not interrupt at once.
    ...to(
      jobs,
      isRun((job) => job.workSeconds >= 3 && (job.end === 'keep' || job.source === 'shared')),
      ({ key }) =>
        often('rate_limited', 'rate_limited+retry-after', 'forbidden').map((fault) => [
          wire(key, 'interruptSandbox', fault, 1),
          cancelDuring(key, 'sendPrompt', 1_500),
        ]),
    ),
    // Somebody stops the sandbox just before the job uses the machine.
    ...to(
      jobs,
      isRun((job) => (job.put || job.commands > 0) && isPatient(job)),
      ({ key, put }) =>
        fc.constant([
          {
            kind: 'act',
            at: { job: key, endpoint: put ? 'writeFile' : 'runCommand', nth: 1 },
            act: 'stop',
            when: 'before',
          },
        ]),
    ),
    // The auto-stop cannot be renewed, and a cleanup comes when a lease that was not renewed has lapsed. Only the lease shows a command.
    ...to(
      jobs,
      isRun(
        ({ source, shortLease, commands, commandSeconds, deadlineMs }) =>
          source === 'shared' && shortLease && commands * commandSeconds >= 20 && deadlineMs >= 60_000,
      ),
      ({ key }) =>
        fc
          .integer({ min: 6, max: 12 })
          .map((nth) => [
            wire(key, 'updateSandbox', 'forbidden', lasting),
            { kind: 'newcomer', at: { job: key, endpoint: 'updateSandbox', nth }, brings: 'cleanup' },
          ]),
    ),
    // A proxy's page instead of an answer, while nothing is wrong with the service.
    ...to(jobs, isRun(isPatient), (job) =>
      fc
        .tuple(often(...endpointsOf(job)), often('page-403', 'page-404', 'page-413'), fc.integer({ min: 1, max: 3 }))
        .map(([endpoint, page, times]) => [wire(job.key, endpoint, page, times)]),
    ),
    // The first answer about a sandbox is that about somebody else's.
    ...to(jobs, isRun(isPatient), (job) => fc.constant([wire(job.key, beginOf(job), 'misrouted', 1)])),
    // Reads do not show a new sandbox yet, and no event announces it.
    ...to(jobs, isRun(isOwn), (job) =>
      fc.constant([
        { kind: 'lag', at: { job: job.key, endpoint: createOf(job), nth: 1 }, ms: 2_300 },
        { kind: 'webhook', event: 'sandbox.ready', nth: 1, times: lasting, does: 'drop' },
      ]),
    ),
    // Somebody begins to work in a sandbox that a cleanup is about to delete.
    ...to(
      jobs,
      (job): job is CleanupPlan => job.kind === 'cleanup' && job.action === 'delete-sandbox',
      ({ key }) =>
        fc.constant([{ kind: 'newcomer', at: { job: key, endpoint: 'deleteSandbox', nth: 1 }, brings: 'run' }]),
    ),
    // A service of a later version.
    ...to(jobs, isRun(isPatient), ({ key }) =>
      often<Drawn>(
        [wire(key, 'getSandbox', 'unknown-state', lasting), wire(key, 'listSandboxes', 'unknown-state', lasting)],
        [wire(key, 'getSandbox', 'unknown-stop', lasting), wire(key, 'getStop', 'unknown-stop', lasting)],
      ),
    ),
    // Somebody sends the same prompt while that of the job is lost.
    ...to(
      jobs,
      isRun(({ source, prompts }) => source === 'shared' && prompts > 0),
      ({ key }) =>
        fc.constant([
          { kind: 'act', at: { job: key, endpoint: 'sendPrompt', nth: 1 }, act: 'prompt', when: 'before' },
          wire(key, 'sendPrompt', 'dropped-before', 1),
        ]),
    ),
    // An item whose fork somebody archives loses its workflow.
    ...to(
      jobs,
      isBatch(({ retries }) => retries === 0),
      ({ key, items }) =>
        fc.integer({ min: 1, max: items }).map((nth) => [
          { kind: 'act', at: { job: key, endpoint: 'sendPrompt', nth }, act: 'stop', when: 'after' },
          { kind: 'message', at: { job: key, endpoint: 'sendPrompt', nth }, message: 'terminate' },
        ]),
    ),
    // A cleanup comes when the lease of a batch on its source has lapsed, unless the batch renews it.
    ...to(
      jobs,
      isBatch(({ tight }) => tight),
      ({ key, items }) =>
        fc.constant([
          { kind: 'newcomer', at: { job: key, endpoint: 'forkSandbox', nth: items - 1 }, brings: 'cleanup' },
        ]),
    ),
    // Somebody works in the source of a batch by command.
    ...to(
      jobs,
      isBatch(({ source, sources }) => source === 'usable' && !sources),
      ({ key }) =>
        fc.constant([{ kind: 'newcomer', at: { job: key, endpoint: 'getSandbox', nth: 1 }, brings: 'command' }]),
    ),
  ];
  return drawn.length === 0 ? fc.constant([]) : fc.oneof(...drawn);
}
