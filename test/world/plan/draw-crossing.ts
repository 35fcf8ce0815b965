/** Draws troubles in which a feature meets another one: each of them alone is harmless. */
import fc from 'fast-check';
import { type Drawn, isBatch, isOwn, isPatient, isRun, lasting, to } from './draw-hardship.js';
import { endpointsOf, often } from './draw-job.js';
import { failsForEver, type JobPlan, type StopPlan } from './plan.js';

export function crossing(jobs: readonly JobPlan[]): fc.Arbitrary<Drawn> {
  const drawn = [
    // Somebody changes the source while the items of a batch run one after another.
    ...to(
      jobs,
      isBatch(({ source, items, concurrency }) => source !== 'snapshot' && items > concurrency),
      ({ key, items, concurrency }) =>
        fc
          .integer({ min: concurrency + 1, max: items })
          .map((nth) => [
            { kind: 'act', at: { job: key, endpoint: 'forkSandbox', nth }, act: 'change', when: 'before' },
          ]),
    ),
    // A cleanup deletes the sandbox that holds the snapshot of a batch.
    ...to(
      jobs,
      isBatch(({ source, sources }) => source === 'snapshot' || sources?.of.includes('snapshot') === true),
      ({ key, items }) =>
        fc
          .integer({ min: 2, max: items })
          .map((nth) => [{ kind: 'newcomer', at: { job: key, endpoint: 'createSandbox', nth }, brings: 'cleanup' }]),
    ),
    // Somebody deletes the source of some items of a batch.
    ...to(
      jobs,
      isBatch(({ sources }) => sources !== null),
      ({ key, items }) =>
        fc
          .integer({ min: 1, max: items })
          .map((nth) => [
            { kind: 'act', at: { job: key, endpoint: 'forkSandbox', nth }, act: 'delete', when: 'before' },
          ]),
    ),
    // Somebody forks the sandbox of a job by hand, and a cleanup looks for what ended jobs have left.
    ...to(
      jobs,
      isRun((job) => isOwn(job) && isPatient(job)),
      (job) =>
        often('sendPrompt' as const, endpointsOf(job).includes('stopSandbox') ? 'stopSandbox' : 'sendPrompt').map(
          (endpoint) => [
            { kind: 'act', at: { job: job.key, endpoint, nth: 1 }, act: 'fork', when: 'before' },
            { kind: 'later', at: { job: job.key }, brings: 'orphans' },
          ],
        ),
    ),
    // A file cannot be read, and the job does not complete.
    ...to(
      jobs,
      isRun((job) => isOwn(job) && job.end === 'delete' && job.collect && job.commands > 0),
      ({ key }) => {
        const at = { job: key, endpoint: 'readFile', activity: 'collectFile', nth: 1 } as const;
        return often('http_500', 'page-503').map((fault) => [
          { kind: 'wire', at, fault, times: lasting },
          { kind: 'message', at, message: 'cancel', afterMs: 500 },
        ]);
      },
    ),
    // Somebody continues an ended job and keeps its sandbox, and cleanups look for what ended jobs have left.
    ...to(
      jobs,
      isRun(
        (job) =>
          isOwn(job) &&
          job.end === 'stop' &&
          job.ttlSeconds >= 60 &&
          (job.conversations === 'one' || job.prompts === 1),
      ),
      ({ key }) => fc.constant<Drawn>([{ kind: 'later', at: { job: key }, brings: 'nights' }]),
    ),
    // A job begins in a sandbox whose stop fails for ever, and whose escalation could free it.
    ...to(
      jobs,
      (job): job is StopPlan => job.kind === 'stop' && job.escalation !== null && job.fails >= failsForEver,
      ({ key }) =>
        fc.constant<Drawn>([
          {
            kind: 'newcomer',
            at: { job: key, endpoint: 'getSandbox', activity: 'getSandbox', nth: 1 },
            brings: 'run',
          },
        ]),
    ),
  ];
  return drawn.length === 0 ? fc.constant([]) : fc.oneof(...drawn);
}
