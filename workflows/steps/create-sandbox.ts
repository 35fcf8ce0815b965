/** Makes the job's own sandbox, new or as a fork: one per generation, with the job's address as its name. */
import { CancellationScope, CancelledFailure, sleep, workflowInfo } from '@temporalio/workflow';
import type { KeyedSandbox } from '../../activities/own-by-name.js';
import { executionOf, forkTaskQueue, ownedSandboxName } from '../../src/contract/addresses.js';
import { itemRecords } from '../../src/contract/item-records.js';
import type { SandboxView } from '../../src/contract/sandbox-view.js';
import { outcomeUnknownCode } from '../../src/contract/service-failure.js';
import { isUsable } from '../../src/contract/states.js';
import type { SandboxSource } from '../job.js';
import { effects, forkProxies, reads } from '../proxies.js';
import { JobEnded, jobError, serviceFailureOf } from './job-ended.js';
import type { JobRun } from './job-run.js';
import { patiently } from './patiently.js';
import { settleUnknown } from './unknown-outcome.js';
import { readSandbox, waitUsable } from './wait-usable.js';
import { watchSandbox } from './watching.js';

type OwnSource = Exclude<SandboxSource, { kind: 'existing' }>;
const ownStep = 'main';

/**
 * Creates or forks a sandbox and waits until it is usable. One that became `cancelled` is tried again as the next generation.
 * @throws JobEnded `sandbox_cancelled` when no generation got a machine
 */
export async function createSandbox(run: JobRun, source: OwnSource): Promise<void> {
  const first = run.input.origin?.firstGeneration ?? 1;
  for (let generation = first; generation < first + run.input.maxGenerations; generation += 1) {
    run.beginGeneration(generation);
    run.enter('creating');
    const since = run.inbox.mark();
    const created = await createGeneration(run, source, generation);
    if (created === 'resend') continue;
    run.make(created);
    const standing = await standingOf(run, created);
    if (standing !== 'dead') {
      await keepAddress(run, created, nameOf(run, generation));
      if (standing === 'usable' || (await waitUsable(run, created.id, { since })) === 'usable') {
        run.reached('usable');
        return;
      }
    }
    // There is nothing to stop or delete.
    run.sandbox = null;
  }
  const tries = run.input.maxGenerations;
  throw new JobEnded(
    'sandbox_cancelled',
    jobError('sandbox_cancelled', `The service found no machine in ${tries} ${tries === 1 ? 'try' : 'tries'}`),
  );
}

function nameOf(run: JobRun, generation: number): string {
  const { deployment, jobId, origin } = run.input;
  return ownedSandboxName({
    deployment,
    jobId: origin?.batchId ?? jobId,
    execution: origin?.execution ?? executionOf(workflowInfo().firstExecutionRunId),
    step: origin?.step ?? ownStep,
    generation,
  });
}

/** What became of the sandbox until now. An item's may be one that an earlier run made, used and left. */
async function standingOf(run: JobRun, created: SandboxView): Promise<'usable' | 'dead' | 'on_its_way'> {
  const { origin } = run.input;
  const seen = origin?.lookFirst ? await readSandbox(run, created.id) : created;
  if (seen === null) return 'on_its_way';
  if (isUsable(seen.state)) return 'usable';
  const isStopped = seen.state === 'archived' || seen.state === 'archiving';
  return seen.state === 'cancelled' || (origin && isStopped) ? 'dead' : 'on_its_way';
}

async function createGeneration(run: JobRun, source: OwnSource, generation: number): Promise<KeyedSandbox | 'resend'> {
  const { origin, ttlSeconds } = run.input;
  const name = nameOf(run, generation);
  const call = {
    idempotencyKey: `${origin?.key ?? workflowInfo().firstExecutionRunId}-${origin?.step ?? ownStep}-${generation}`,
    firstSentAtMs: wasReset() ? workflowInfo().startTime.getTime() : Date.now(),
    lookFirst: wasReset() || origin?.lookFirst === true,
    ...(origin && { ofAnyAge: true }),
    ...(origin?.records !== undefined && { record: itemRecords(origin.records).key(generation) }),
  };
  const summary = `${source.kind} ${name}`;
  const scheduleToCloseTimeout = run.input.deadlineMs + run.timing.cleanUpMs;
  const options = origin ? { summary } : { scheduleToCloseTimeout, summary };
  const makers = origin ? forkProxies(forkTaskQueue(workflowInfo().taskQueue)) : effects;
  const make = () => {
    if (source.kind === 'create') {
      const body = { ...source.body, name, ttlSeconds };
      return makers.createSandbox.executeWithOptions(options, [{ ...call, body }]);
    }
    const { sandboxId, type } = source;
    return makers.forkSandbox.executeWithOptions(options, [{ ...call, sandboxId, body: { name, ttlSeconds, type } }]);
  };
  try {
    // A create that was sent goes on through a cancel until it is known what it made.
    return await patiently(run, source.kind, () =>
      origin ? throughCancel(run, name, make) : CancellationScope.nonCancellable(make),
    );
  } catch (error) {
    const failure = serviceFailureOf(error);
    if (failure?.code !== outcomeUnknownCode) throw error;
    const settled = await settleUnknown(run, 'create', failure.message, async () => undefined);
    if ('evidence' in settled || settled.action === 'abandon') throw error;
    run.unconfirmedName = null;
    if (settled.action === 'resend') return 'resend';
    const adopted = settled.sandboxId === undefined ? null : await readSandbox(run, settled.sandboxId);
    if (adopted) return adopted;
    throw new JobEnded('outcome_unknown', jobError(outcomeUnknownCode, 'The sandbox that was named does not exist'));
  }
}

/**
 * Runs `make` to its end also through a cancel, and gives it up when the end does not come within the time for
 * cleaning up. Nothing is begun after a cancel.
 */
async function throughCancel<T>(run: JobRun, name: string, make: () => Promise<T>): Promise<T> {
  const scope = CancellationScope.current();
  if (scope.consideredCancelled) throw new CancelledFailure(`"${name}" was not made`);
  let known = false;
  const givenUp = scope.cancelRequested.catch(async (cancelled: unknown) => {
    if (known) return undefined as never;
    await CancellationScope.nonCancellable(() => sleep(run.timing.cleanUpMs, { summary: `until ${name} is given up` }));
    throw cancelled;
  });
  run.unconfirmedName = name;
  try {
    const made = await Promise.race([CancellationScope.nonCancellable(make), givenUp]);
    run.unconfirmedName = null;
    return made;
  } catch (error) {
    const failure = serviceFailureOf(error);
    if (failure && failure.code !== outcomeUnknownCode) run.unconfirmedName = null;
    throw error;
  } finally {
    known = true;
  }
}

/** A reset gives a run a new id and no memory of what the old one sent after the point of the reset. */
export function wasReset(): boolean {
  const { runId, firstExecutionRunId, continuedFromExecutionRunId } = workflowInfo();
  return runId !== firstExecutionRunId && continuedFromExecutionRunId === undefined;
}

/** Webhooks find the job by the sandbox's name. A service that did not take it is asked again, then worked around. */
async function keepAddress(run: JobRun, created: SandboxView, name: string): Promise<void> {
  if (created.name === name) return;
  const renamed = await patiently(run, 'rename', () => effects.updateSandbox(created.id, { name }));
  const read = renamed && (await patiently(run, 'read', () => reads.getSandbox(created.id)));
  if (read?.name === name) run.sandbox = read;
  else await watchSandbox(run, created.id);
}
