/** Draws troubles that meet a step of a job that most other troubles miss: they last, or come while a call is made. */
import fc from 'fast-check';
import type { EndpointName } from '../../../src/contract/endpoints/endpoints.js';
import { often } from './draw-job.js';
import type { BatchPlan, JobPlan, RunPlan, Trouble } from './plan.js';

type WithoutKey<T> = T extends unknown ? Omit<T, 'key'> : never;
type Drawn = readonly WithoutKey<Trouble>[];

/** As often as a job makes calls in the longest wait. */
const lasting = 1_000;

const wire = (job: string, endpoint: EndpointName, fault: string, times: number) =>
  ({ kind: 'wire', at: { job, endpoint, nth: 1 }, fault, times }) as const;
const cancelDuring = (job: string, endpoint: EndpointName, afterMs: number) =>
  ({ kind: 'message', at: { job, endpoint, nth: 1 }, message: 'cancel', afterMs }) as const;

/** What may happen to one of the jobs that `isMeant` picks. Nothing, if there is none. */
function to<Job extends JobPlan>(
  jobs: readonly JobPlan[],
  isMeant: (job: JobPlan) => job is Job,
  draw: (job: Job) => fc.Arbitrary<Drawn>,
): readonly fc.Arbitrary<Drawn>[] {
  const meant = jobs.filter(isMeant);
  return meant.length === 0 ? [] : [fc.constantFrom(...meant).chain(draw)];
}

const isRun =
  (isMeant: (job: RunPlan) => boolean) =>
  (job: JobPlan): job is RunPlan =>
    job.kind === 'run' && isMeant(job);
const isBatch =
  (isMeant: (job: BatchPlan) => boolean) =>
  (job: JobPlan): job is BatchPlan =>
    job.kind === 'batch' && isMeant(job);

const createOf = ({ source }: RunPlan): EndpointName => (source === 'fork' ? 'forkSandbox' : 'createSandbox');
const isOwn = ({ source }: RunPlan) => source === 'create' || source === 'fork';

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
      isRun(({ prompts }) => prompts > 0),
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
      isRun(({ put, commands }) => put || commands > 0),
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
    // The auto-stop cannot be renewed, and a cleanup comes when a lease that was not renewed has lapsed.
    ...to(
      jobs,
      isRun(
        ({ source, shortLease, workSeconds, prompts }) =>
          source === 'shared' && shortLease && workSeconds * prompts >= 20,
      ),
      ({ key }) =>
        fc.constant([
          wire(key, 'updateSandbox', 'forbidden', lasting),
          { kind: 'newcomer', at: { job: key, endpoint: 'updateSandbox', nth: 5 }, brings: 'cleanup' },
        ]),
    ),
    // Somebody works in the source of a batch by command.
    ...to(
      jobs,
      isBatch(({ source }) => source === 'usable'),
      ({ key }) =>
        fc.constant([{ kind: 'newcomer', at: { job: key, endpoint: 'getSandbox', nth: 1 }, brings: 'command' }]),
    ),
  ];
  return drawn.length === 0 ? fc.constant([]) : fc.oneof(...drawn);
}
