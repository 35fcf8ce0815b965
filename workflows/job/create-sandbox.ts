/** Creates or forks the job's own sandbox: one per generation, named after the job's address. */
import { patched, sleep, workflowInfo } from '@temporalio/workflow';
import type { KeyedSandbox } from '../../activities/retry/idempotent-create.js';
import { forkTaskQueue } from '../../src/contract/addresses.js';
import { itemRecords } from '../../src/contract/fanout-addresses.js';
import type { SandboxView } from '../../src/contract/sandbox-view.js';
import { outcomeUnknownCode } from '../../src/contract/service-failure.js';
import { isUsable } from '../../src/contract/states.js';
import { bytesOf } from '../../src/contract/texts.js';
import { mayBeOfEarlierRun, recoverStoppedFork, settleGoneFork } from '../fanout/item/recover-fork.js';
import { ContinueAsNewRequest } from '../shared/continue-as-new.js';
import type { InboxMark } from '../shared/event-inbox.js';
import { finishDespiteCancel } from '../shared/finish-despite-cancel.js';
import { effects, forkProxies, reads, timeForSending } from '../shared/proxies.js';
import { retryRefusals } from '../shared/retry-refusals.js';
import { safetyPollMs } from '../shared/wait-intervals.js';
import { watchSandbox } from '../watch/acquire-lease.js';
import { idempotencyKeyOf, sandboxNameOf } from './idempotency-key.js';
import { resolveUnknownOutcome } from './prompts/await-resolution.js';
import type { JobState } from './state.js';
import { JobTermination, jobError, serviceFailureOf } from './termination.js';
import type { SandboxSource } from './types.js';
import { readSandbox, type UsableOrNot, waitUntilUsable } from './wait-until-usable.js';

type OwnSource = Exclude<SandboxSource, { kind: 'existing' }>;
const whyMayBeThere = 'It is not known whether it was made; it was decided to make another one.';

/**
 * Creates or forks a sandbox and waits until it is usable. Starts the next generation if the service found no machine, or
 * if the created sandbox can no longer be found. A lost sandbox is recorded and searched for again at the end of the job.
 * @throws JobTermination `sandbox_cancelled` if no generation became usable
 */
export async function createSandbox(run: JobState, source: OwnSource): Promise<void> {
  const first = run.input.origin?.firstGeneration ?? 1;
  if (run.generation < first) run.beginGeneration(first);
  for (let tries = 1; ; run.beginGeneration(run.generation + 1)) {
    const since = run.inbox.mark();
    const created = run.sandbox ?? (await createNext(run, source));
    if (created === null) continue;
    const standing = await standingOf(run, created);
    if (standing !== 'dead') {
      const end = await obtain(run, source, { created, standing, since });
      if (end === 'usable') {
        run.reached('usable');
        return;
      }
      if (end === 'gone' && mayBeOfEarlierRun(run)) await settleGoneFork(run, created.id);
      if (end === 'gone') run.lost = [...run.lost, created];
    }
    // There is nothing to stop or delete.
    run.sandbox = null;
    if (run.generation - first + 1 >= run.input.maxGenerations + run.resends) throw noMachine(tries);
    tries += 1;
  }
}

/** Waits until the created sandbox is usable and confirmed to be the job's own. */
async function obtain(
  run: JobState,
  source: OwnSource,
  first: { readonly created: SandboxView; readonly standing: string; readonly since: InboxMark },
): Promise<UsableOrNot> {
  const name = sandboxNameOf(run, run.generation);
  let created = first.created;
  for (let tries = 0; ; tries += 1) {
    // If the service does not keep names, no list shows this one. If it does, another name means somebody else's sandbox.
    if (created.name !== name) created = take(run, await identify(run, source, created));
    // If the name changed later, somebody renamed the sandbox on purpose.
    if (tries === 0) await keepAddress(run, created, name);
    else if (created.name !== name && !run.watched) await watchSandbox(run, created.id);
    const readFirst = first.standing === 'usable' || tries > 0;
    const end = await waitUntilUsable(run, created.id, { since: first.since, readFirst, own: { name, created } });
    if (end !== 'foreign') return end;
    run.sandbox = null;
    run.unconfirmedName = name;
    await sleep(safetyPollMs(run.timing, tries), {
      summary: `${created.id} is not ${name}; asked for again after this`,
    });
    created = take(run, (await findByName(run, name)) ?? (await createAgain(run, source)));
  }
}

/**
 * Until the sandbox is identified, the answer may name somebody else's. If the job ends first, it must not touch that
 * one.
 */
async function identify(run: JobState, source: OwnSource, created: SandboxView): Promise<SandboxView> {
  const name = sandboxNameOf(run, run.generation);
  run.sandbox = null;
  run.unconfirmedName = name;
  try {
    const named = await findByName(run, name);
    if (named !== null) return named;
    return patched('answers to a create agree') ? await untilAnswersAgree(run, source, created) : created;
  } catch (error) {
    const why = `The answer to the create of ${name} named it; whether it is that was not seen.`;
    if (!(error instanceof ContinueAsNewRequest))
      run.leave({ kind: 'sandbox', sandboxId: created.id, sandboxName: created.name, why });
    throw error;
  }
}

/** A list may omit our sandbox, and an answer may name another one. Two equal answers to the same key identify ours. */
async function untilAnswersAgree(run: JobState, source: OwnSource, first: SandboxView): Promise<SandboxView> {
  let last = first;
  for (let tries = 0; ; tries += 1) {
    const again = await createAgain(run, source);
    if (again.id === last.id || again.name === sandboxNameOf(run, run.generation)) return again;
    last = again;
    await sleep(safetyPollMs(run.timing, tries), { summary: 'the answers name different sandboxes; asked again' });
  }
}

function findByName(run: JobState, name: string): Promise<SandboxView | null> {
  return retryRefusals(run, 'look for the sandbox', () => reads.findSandboxByName(name));
}

/** Repeats the create with the same key, which creates no second sandbox. */
async function createAgain(run: JobState, source: OwnSource): Promise<SandboxView> {
  const again = await createGeneration(run, source, run.generation);
  if (again === 'resend')
    throw new JobTermination('outcome_unknown', jobError(outcomeUnknownCode, 'Nobody knows what was made'));
  return again;
}

function take(run: JobState, created: SandboxView): SandboxView {
  run.unconfirmedName = null;
  run.make(created);
  return created;
}

function noMachine(tries: number): JobTermination {
  const message = `The service found no machine in ${tries} ${tries === 1 ? 'try' : 'tries'}`;
  return new JobTermination('sandbox_cancelled', jobError('sandbox_cancelled', message));
}

/** @returns null if the next generation must be created instead */
async function createNext(run: JobState, source: OwnSource): Promise<SandboxView | null> {
  run.enter('creating');
  const created = await createGeneration(run, source, run.generation);
  if (created === 'resend') {
    run.resends += 1;
    return null;
  }
  run.make(created);
  return created;
}

/** The current state of the sandbox. For an item, an earlier run may have created, used and left it. */
async function standingOf(run: JobState, created: SandboxView): Promise<'usable' | 'dead' | 'on_its_way'> {
  const { origin } = run.input;
  const seen = origin?.lookFirst ? await readSandbox(run, created.id) : created;
  if (seen === null) return 'on_its_way';
  if (isUsable(seen.state)) return 'usable';
  if (seen.state === 'cancelled') return 'dead';
  const isStopped = seen.state === 'archived' || seen.state === 'archiving';
  if (!origin || !isStopped) return 'on_its_way';
  return mayBeOfEarlierRun(run) ? recoverStoppedFork(run, created.id) : 'dead';
}

async function createGeneration(
  run: JobState,
  source: OwnSource,
  generation: number,
): Promise<KeyedSandbox | 'resend'> {
  const { origin, ttlSeconds } = run.input;
  const name = sandboxNameOf(run, generation);
  const call = {
    idempotencyKey: idempotencyKeyOf(run, generation),
    lookFirst: run.wasReset || origin?.lookFirst === true,
    ...(origin && { ofAnyAge: true }),
    ...(origin?.records !== undefined && { record: itemRecords(origin.records).key(generation) }),
  };
  const options = { summary: `${source.kind} ${name}` };
  const makers = origin ? forkProxies(forkTaskQueue(workflowInfo().taskQueue)) : effects;
  const make = () => {
    // The age of a key counts from the first call that may have been accepted. Refusals do not count.
    run.firstSentAtMs ??= run.wasReset ? run.startedAtMs : Date.now();
    const sent = { ...call, firstSentAtMs: run.firstSentAtMs };
    if (source.kind === 'create') {
      const body = { ...source.body, name, ttlSeconds };
      const time = timeForSending(bytesOf(source.body.setupScript ?? ''));
      return makers.createSandbox.executeWithOptions({ ...options, ...time }, [{ ...sent, body }]);
    }
    const { sandboxId, type } = source;
    return makers.forkSandbox.executeWithOptions(options, [{ ...sent, sandboxId, body: { name, ttlSeconds, type } }]);
  };
  try {
    return await retryRefusals(run, source.kind, () => finishDespiteCancel(run, name, make));
  } catch (error) {
    const failure = serviceFailureOf(error);
    if (failure?.code !== outcomeUnknownCode) throw error;
    const settled = await resolveUnknownOutcome(run, 'create', failure.message, async () => undefined);
    if ('evidence' in settled || settled.action === 'abandon') throw error;
    if (settled.action === 'resend') {
      run.unconfirmedName = null;
      run.leave({ kind: 'sandbox', sandboxId: null, sandboxName: name, why: whyMayBeThere });
      return 'resend';
    }
    const adopted = settled.sandboxId === undefined ? null : await readSandbox(run, settled.sandboxId);
    if (adopted) {
      run.unconfirmedName = null;
      return adopted;
    }
    throw new JobTermination(
      'outcome_unknown',
      jobError(outcomeUnknownCode, 'The sandbox that was named does not exist'),
    );
  }
}

/**
 * Webhooks find the job by the sandbox's name. If the service did not keep the name, renames, then falls back to a
 * watch.
 */
async function keepAddress(run: JobState, created: SandboxView, name: string): Promise<void> {
  if (created.name === name || run.watched) return;
  const read = (await rename(run, created.id, name)) ? await readSandbox(run, created.id) : null;
  if (read?.name !== name) await watchSandbox(run, created.id);
}

/** @returns false if the service refuses the rename or does not find the sandbox yet: the caller has a fallback */
async function rename(run: JobState, sandboxId: string, name: string): Promise<boolean> {
  try {
    return (await retryRefusals(run, 'rename', () => effects.updateSandbox(sandboxId, { name }))) !== null;
  } catch (error) {
    if (serviceFailureOf(error) === undefined) throw error;
    return false;
  }
}
