/** Creates or forks the job's own sandbox. Each generation gets one sandbox, whose name contains the job's id. */
import { isCancellation, patched, sleep, workflowInfo } from '@temporalio/workflow';
import type { StartedSandbox } from '../../../activities/sandbox/create.js';
import { forkTaskQueue } from '../../../src/addresses/addresses.js';
import { itemRecords } from '../../../src/addresses/fanout-addresses.js';
import type { SandboxView } from '../../../src/contract/workflow-safe/sandbox-view.js';
import { outcomeUnknownCode } from '../../../src/contract/workflow-safe/service-failure.js';
import type { SourceState } from '../../../src/contract/workflow-safe/source-state.js';
import { isUsable } from '../../../src/contract/workflow-safe/states.js';
import type { SandboxSource } from '../../../src/protocol/job/job-input.js';
import { bytesOf } from '../../../src/protocol/stored-text.js';
import { effects, forkProxies, timeForSending } from '../../shared/activity-options.js';
import { confirmMissing } from '../../shared/confirm-missing.js';
import { ContinueAsNewRequest } from '../../shared/continue-as-new.js';
import type { InboxMark } from '../../shared/event-inbox.js';
import {
  JobTermination,
  jobError,
  outcomeUnknown,
  serviceFailureOf,
  sourceChanged,
  toJobTermination,
} from '../../shared/job-termination.js';
import { countMachineTime } from '../../shared/metrics.js';
import { reads } from '../../shared/reads.js';
import { retryRefusals } from '../../shared/retry-refusals.js';
import { safetyPollMs } from '../../shared/wait-intervals.js';
import { finishDespiteCancel } from '../finish-despite-cancel.js';
import { idempotencyKeyOf, sandboxNameOf } from '../idempotency-key.js';
import type { JobState } from '../job-state.js';
import { resolveUnknownOutcome } from '../prompts/await-resolution.js';
import { promptRecordKey } from '../prompts/prompt-query.js';
import { mayBeOfEarlierRun, wasReset } from '../was-reset.js';
import { resumeSandbox } from './adopt-sandbox.js';
import { retryWithSource } from './hold-source.js';
import { readSandbox, waitUntilUsable } from './wait-until-usable.js';
import { watchSandbox } from './watch-sandbox.js';

const whyMayExist = 'It is unknown whether it was created; the decision was to create another one.';

type OwnSource = Exclude<SandboxSource, { kind: 'existing' }>;
type Created = { readonly kind: 'created'; readonly sandbox: StartedSandbox };

/** The outcome of the call that creates or forks the sandbox of a generation. */
type Attempt = Created | { readonly kind: 'unknown'; readonly error: unknown; readonly message: string };

type GenerationEnd =
  | { readonly kind: 'usable'; readonly sandboxId: string }
  /** It is unknown whether the sandbox exists, and somebody or the policy decides to create another one. */
  | { readonly kind: 'resend' }
  /** The sandbox was created, and is no longer found. */
  | { readonly kind: 'gone'; readonly sandbox: SandboxView }
  /** The service found no machine, or this sandbox is stopped and the next generation must replace it. */
  | { readonly kind: 'dead' };

/**
 * Creates or forks a sandbox and waits until it is usable. Starts the next generation if the service found no machine,
 * or if the created sandbox can no longer be found. A lost sandbox is recorded and searched for again at the end of the
 * job.
 * @returns the id of the sandbox
 * @throws JobTermination `sandbox_cancelled` if no generation became usable
 */
export async function createSandbox(job: JobState, source: OwnSource): Promise<string> {
  const first = job.input.origin?.firstGeneration ?? 1;
  if (job.carried.generation < first) job.beginGeneration(first);
  for (let tries = 1; ; job.beginGeneration(job.carried.generation + 1)) {
    const end = await runGeneration(job, source);
    if (end.kind === 'usable') {
      job.reached('usable');
      return end.sandboxId;
    }
    if (end.kind === 'resend') {
      job.carried.resends += 1;
      continue;
    }
    if (end.kind === 'gone') {
      const { id } = end.sandbox;
      // If it got no prompt, the next generation does the work. Otherwise somebody must decide.
      if (mayBeOfEarlierRun(job) && !(await wasNeverPrompted(job, id)))
        await settleMissing(job, id, 'it no longer exists');
      job.carried.lost = [...job.carried.lost, end.sandbox];
    } else end.kind satisfies 'dead';
    // No read shows a running machine of this generation. `lost` lists sandboxes that may still appear.
    job.sandbox = null;
    if (job.carried.generation - first + 1 >= job.input.maxGenerations + job.carried.resends) throw noMachine(tries);
    tries += 1;
  }
}

function noMachine(tries: number): JobTermination {
  const times = tries === 1 ? '1 try' : `${tries} tries`;
  const message = `No sandbox became usable in ${times}: the service found no machine, or no longer shows the sandbox`;
  return new JobTermination('sandbox_cancelled', jobError('sandbox_cancelled', message));
}

async function runGeneration(job: JobState, source: OwnSource): Promise<GenerationEnd> {
  const since = job.inbox.mark();
  // A run that continues another one does not know what that one has read of the source.
  let created: StartedSandbox | null = job.sandbox;
  if (created === null) {
    job.enter('creating');
    const creation = await createGeneration(job, source);
    if (creation.kind === 'resend') return creation;
    created = take(job, creation.sandbox);
  }
  await requireState(job, created);
  const standing = await standingOf(job, created);
  if (standing === 'dead') return { kind: 'dead' };
  return untilUsable(job, source, { created, since, readFirst: standing === 'usable' });
}

function take<T extends SandboxView>(job: JobState, created: T): T {
  job.carried.unconfirmedName = null;
  job.recordCreated(created);
  countMachineTime('reserved', created.type, job.input.deadlineMs + job.timing.cleanUpMs);
  return created;
}

/**
 * Before its first prompt, a fork must be known to start from the state from which all forks of its batch start. The
 * fork of an earlier workflow of the item may have been prompted long ago, before the source changed.
 * @throws JobTermination `source_changed`
 */
async function requireState(job: JobState, { sourceChange }: StartedSandbox): Promise<void> {
  const { startsFrom: state, lookFirst } = job.input.origin ?? {};
  if (state === undefined || sourceChange === null) return;
  if (lookFirst && (job.carried.isFound || !patched('new-forks-of-resumes'))) return;
  if (job.carried.reachedAtMs.prompted !== undefined) return;
  const change = await lastingChange(job, state);
  if (change !== null) throw new JobTermination('rejected', sourceChanged(state, change));
}

/** Why the source has changed, if all reads say so for longer than a read may lag; otherwise null. */
async function lastingChange(job: JobState, state: SourceState): Promise<string | null> {
  let change: string | null = null;
  const sameSource = async () => {
    change = await retryRefusals(job, 'read', () => reads.readSourceChange(state));
    return change === null ? state : null;
  };
  try {
    await confirmMissing(job.timing.readLagMs, sameSource);
    return change;
  } catch (error) {
    // A key that may not read the source may still fork it.
    if (serviceFailureOf(error) === undefined) throw error;
    return null;
  }
}

/**
 * The current state of the sandbox. If it is the fork of an item, an earlier run may have created, used and stopped it.
 */
async function standingOf(job: JobState, created: SandboxView): Promise<'usable' | 'dead' | 'on_its_way'> {
  const { origin } = job.input;
  const seen = origin?.lookFirst ? await readSandbox(job, created.id) : created;
  if (seen === null) return 'on_its_way';
  if (isUsable(seen.state)) return 'usable';
  if (seen.state === 'cancelled') return 'dead';
  const isStopped = seen.state === 'archived' || seen.state === 'archiving';
  if (!origin || !isStopped) return 'on_its_way';
  const standing = mayBeOfEarlierRun(job) ? await recoverStopped(job, created.id) : 'dead';
  if (standing === 'dead') {
    const why = 'It was stopped before the end of its job, and another sandbox replaced it. It may hold work.';
    job.leave({ kind: 'sandbox', sandboxId: created.id, sandboxName: created.name, why });
  }
  return standing;
}

/**
 * Recovers a sandbox that an earlier run of a job created and that no longer runs, such as the fork of an item of a
 * batch that is resumed. The sandbox may have received prompts and may contain work. So the job resumes it, searches
 * for earlier prompts, and follows them. If that is impossible, another sandbox is prompted only if a person decides so,
 * or if the records show that no prompt of the job was ever sent.
 * @returns `dead` if the next generation must do the work
 * @throws JobTermination `outcome_unknown` if the decision or the policy is to repeat nothing
 */
async function recoverStopped(job: JobState, sandboxId: string): Promise<'usable' | 'dead'> {
  try {
    await resumeSandbox(job, sandboxId);
    return 'usable';
  } catch (error) {
    if (isCancellation(error)) throw error;
    return settleMissing(job, sandboxId, toJobTermination(error).jobError.message);
  }
}

async function settleMissing(job: JobState, sandboxId: string, why: string): Promise<'dead'> {
  const message = `The sandbox ${sandboxId} may have been prompted by an earlier run, and cannot be read: ${why}`;
  const { action } = await resolveUnknownOutcome(job, 'create', message);
  if (action === 'resend') return 'dead';
  throw outcomeUnknown(message);
}

/**
 * Each prompt has a record, which is written before the prompt is sent. All workers of a batch share one store, so a
 * missing record proves that no prompt was sent. For a job it proves nothing, because its workers may have separate
 * stores.
 */
async function wasNeverPrompted(job: JobState, sandboxId: string): Promise<boolean> {
  try {
    for (const index of job.carried.prompts.keys()) {
      const record = await reads.readPromptRecord(promptRecordKey(job, sandboxId, index));
      if (record !== null && record.phase !== 'not_sent') return false;
    }
    return true;
  } catch (error) {
    if (isCancellation(error)) throw error;
    return false;
  }
}

/** Waits until the created sandbox is usable and confirmed to be the job's own. */
async function untilUsable(
  job: JobState,
  source: OwnSource,
  first: { readonly created: StartedSandbox; readonly since: InboxMark; readonly readFirst: boolean },
): Promise<GenerationEnd> {
  const name = sandboxNameOf(job.input, job.carried.generation);
  let { created } = first;
  const mayBeRenamed = created.repeated === true;
  for (let tries = 0; ; tries += 1) {
    // There are two possible reasons for a different name. Either the service does not keep names; the search by name
    // then finds nothing, and two answers are compared. Or the answer was about somebody else's sandbox; the search by
    // name then finds ours.
    if (created.name !== name) created = take(job, await identify(job, source, created));
    // If the name differs later, somebody may have renamed the sandbox. The job then keeps that name, and leases the
    // sandbox.
    if (tries === 0 && !mayBeRenamed) await keepAddress(job, created, name);
    else if (created.name !== name && !job.carried.watched) await watchSandbox(job, created.id);
    const readFirst = first.readFirst || tries > 0;
    const seen = await waitUntilUsable(job, created.id, { since: first.since, readFirst, own: { name, created } });
    if (seen === 'usable') return { kind: seen, sandboxId: created.id };
    if (seen === 'gone') return { kind: seen, sandbox: created };
    if (seen === 'cancelled') return { kind: 'dead' };
    seen satisfies 'foreign';
    job.sandbox = null;
    job.carried.unconfirmedName = name;
    await sleep(safetyPollMs(job.timing, tries), {
      summary: `${created.id} does not have the name ${name}; read again after this`,
    });
    created = take(job, (await findByName(job, name)) ?? (await createAgain(job, source)));
  }
}

/**
 * Identifies the job's own sandbox, because the answer to the create may name somebody else's: a misrouted one did, and
 * the job prompted and stopped that sandbox. If the job ends first, it must not touch the sandbox that the answer names.
 */
async function identify(job: JobState, source: OwnSource, created: SandboxView): Promise<SandboxView> {
  const name = sandboxNameOf(job.input, job.carried.generation);
  job.sandbox = null;
  job.carried.unconfirmedName = name;
  try {
    const named = await findByName(job, name);
    if (named !== null) return named;
    return await untilAnswersAgree(job, source, created);
  } catch (error) {
    const why = `The answer to the create of ${name} named this sandbox, but no read confirmed it.`;
    if (!(error instanceof ContinueAsNewRequest))
      job.leave({ kind: 'sandbox', sandboxId: created.id, sandboxName: created.name, why });
    throw error;
  }
}

/**
 * A list may omit our sandbox, and an answer may be about somebody else's. But if two calls with the same key return
 * the same sandbox, this is ours.
 */
async function untilAnswersAgree(job: JobState, source: OwnSource, first: SandboxView): Promise<SandboxView> {
  let last = first;
  for (let tries = 0; ; tries += 1) {
    const again = await createAgain(job, source);
    if (again.id === last.id || again.name === sandboxNameOf(job.input, job.carried.generation)) return again;
    last = again;
    await sleep(safetyPollMs(job.timing, tries), {
      summary: 'the answers name different sandboxes; requested again after this',
    });
  }
}

function findByName(job: JobState, name: string): Promise<SandboxView | null> {
  return retryRefusals(job, 'look for the sandbox', () => reads.findSandboxByName(name));
}

/** Repeats the create with the same key, which creates no second sandbox. */
async function createAgain(job: JobState, source: OwnSource): Promise<SandboxView> {
  const again = await createGeneration(job, source);
  if (again.kind === 'created') return again.sandbox;
  throw outcomeUnknown('It is unknown which sandbox was created');
}

/**
 * Creates or forks the sandbox of the current generation.
 * @throws the error of the call, if the call must not be repeated
 */
async function createGeneration(job: JobState, source: OwnSource): Promise<Created | { readonly kind: 'resend' }> {
  const attempt = await attemptToCreate(job, source);
  if (attempt.kind === 'created') return attempt;
  const decided = await resolveUnknownOutcome(job, 'create', attempt.message);
  if (decided.action === 'abandon') throw attempt.error;
  if (decided.action === 'sent') return { kind: 'created', sandbox: await readNamed(job, decided.sandboxId) };
  const sandboxName = sandboxNameOf(job.input, job.carried.generation);
  job.carried.unconfirmedName = null;
  job.leave({ kind: 'sandbox', sandboxId: null, sandboxName, why: whyMayExist });
  return { kind: decided.action };
}

/** Reads the sandbox that a person has named as the result of the call. */
async function readNamed(job: JobState, sandboxId: string | undefined): Promise<StartedSandbox> {
  const named = sandboxId === undefined ? null : await readSandbox(job, sandboxId);
  if (named === null) throw outcomeUnknown('The sandbox that the decision names does not exist');
  job.carried.unconfirmedName = null;
  // What this run has made itself is not older than its first call.
  const isOlder = Date.parse(named.createdAt ?? '') < (job.carried.firstSentAtMs ?? 0);
  return isOlder && mayBeOfEarlierRun(job) && patched('named-is-found') ? { ...named, found: true } : named;
}

/** @throws the error of the call, if the service refuses it permanently */
async function attemptToCreate(job: JobState, source: OwnSource): Promise<Attempt> {
  const name = sandboxNameOf(job.input, job.carried.generation);
  try {
    const call = () => finishDespiteCancel(job, name, () => sendCreate(job, source, name));
    return { kind: 'created', sandbox: await retryWithSource(job, source, call) };
  } catch (error) {
    const failure = serviceFailureOf(error);
    if (failure?.code !== outcomeUnknownCode) throw error;
    return { kind: 'unknown', error, message: failure.message };
  }
}

function sendCreate(job: JobState, source: OwnSource, name: string): Promise<StartedSandbox> {
  const { origin, ttlSeconds } = job.input;
  // The age of a key counts from the first call that may have been accepted, not from a refused one.
  job.carried.firstSentAtMs ??= wasReset(job.carried) ? job.carried.startedAtMs : Date.now();
  const call = {
    idempotencyKey: idempotencyKeyOf(job.input, job.carried.generation),
    firstSentAtMs: job.carried.firstSentAtMs,
    lookFirst: wasReset(job.carried) || origin?.lookFirst === true,
    ...(origin && { ofAnyAge: true }),
    ...(origin?.startsFrom && { startsFrom: origin.startsFrom }),
    ...(origin?.records !== undefined && { record: itemRecords(origin.records).key(job.carried.generation) }),
  };
  const proxies = origin ? forkProxies(forkTaskQueue(workflowInfo().taskQueue)) : effects;
  const options = { summary: `${source.kind} ${name}` };
  if (source.kind === 'create') {
    const body = { ...source.body, name, ttlSeconds };
    const time = timeForSending(bytesOf(source.body.setupScript ?? ''));
    return proxies.createSandbox.executeWithOptions({ ...options, ...time }, [{ ...call, body }]);
  }
  const { kind: _, sandboxId, ...chosen } = source;
  const body = { name, ttlSeconds, ...chosen };
  return proxies.forkSandbox.executeWithOptions(options, [{ ...call, sandboxId, body }]);
}

/**
 * The bridge finds the job by the sandbox's name. If the service did not keep the name, renames the sandbox. If the
 * sandbox still has another name, registers with the workflow `sandboxWatch`, which relays its events.
 */
async function keepAddress(job: JobState, created: SandboxView, name: string): Promise<void> {
  if (created.name === name || job.carried.watched) return;
  const read = (await rename(job, created.id, name)) ? await readSandbox(job, created.id) : null;
  if (read?.name !== name) await watchSandbox(job, created.id);
}

/**
 * @returns false if the service refuses the rename or does not find the sandbox yet; the caller then registers with the
 * watch
 */
async function rename(job: JobState, sandboxId: string, name: string): Promise<boolean> {
  try {
    return (await retryRefusals(job, 'rename', () => effects.updateSandbox(sandboxId, { name }))) !== null;
  } catch (error) {
    if (serviceFailureOf(error) === undefined) throw error;
    return false;
  }
}
