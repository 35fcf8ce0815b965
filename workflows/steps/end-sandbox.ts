/** The end that was chosen for the sandbox: stopped, deleted or kept; confirmed by a read. */
import { sleep } from '@temporalio/workflow';
import type { StopView } from '../../src/contract/sandbox-view.js';
import type { StopResult } from '../job.js';
import { effects, reads } from '../proxies.js';
import { safetyPollMs } from '../timing.js';
import { until } from '../until.js';
import { serviceFailureOf } from './job-ended.js';
import type { JobRun } from './job-run.js';
import { keptOf } from './kept.js';
import { patiently } from './patiently.js';
import { readSandbox } from './wait-usable.js';

/** Interrupts what the job has running. In a sandbox of others only its own conversations. */
export async function interruptPrompts(run: JobRun, sandboxId: string): Promise<void> {
  const running = run.prompts.filter(({ status }) => ['sending', 'queued', 'running', 'unknown'].includes(status));
  if (running.length === 0) return;
  run.enter('interrupting');
  const isOwn = run.input.source.kind !== 'existing';
  const conversations = isOwn ? [null] : [...new Set(running.flatMap(({ conversationId }) => conversationId ?? []))];
  for (const conversation of conversations) {
    try {
      run.apiCalls += (await effects.interruptSandbox(sandboxId, conversation)).calls;
    } catch (error) {
      // A machine that runs no more has nothing to interrupt, and is refused for good.
      if (serviceFailureOf(error) === undefined) throw error;
    }
  }
  for (const prompt of running) if (prompt.status !== 'unknown') prompt.status = 'interrupted';
}

/** Stops the sandbox and waits until it is archived. The result tells what the service kept. */
export async function stopSandbox(run: JobRun, sandboxId: string): Promise<void> {
  run.enter('stopping');
  const since = run.inbox.mark();
  const { previousStopId } = run;
  const answer = await patiently(run, 'stop', () =>
    effects.stopSandbox.executeWithOptions({ summary: `stop ${sandboxId}` }, [{ sandboxId, previousStopId }]),
  );
  if (answer === 'gone') {
    run.stop = { stopId: null, status: 'gone', kept: null, error: null };
    return;
  }
  const { stop } = answer;
  run.stop = { stopId: stop.id, status: stop.status, kept: null, error: stop.error };
  run.enter('waiting_for_archive');
  const ended = await until<StopResult>(sandboxId, {
    inbox: run.inbox,
    timing: run.timing,
    onWake: run.onWake,
    waitedFor: 'archived',
    wakeOn: ['sandbox.archived'],
    since,
    // An event carries no stop id, and a late one of an earlier stop looks the same (trap S6).
    read: () => readStop(run, sandboxId, stop),
    readFirst: stop.status === 'completed',
  });
  if (ended) run.stop = ended;
}

/**
 * One read of the sandbox confirms its last stop by id and says what was kept. Where the last stop is another one by
 * now, ours is read by its own id.
 */
async function readStop(run: JobRun, sandboxId: string, asked: StopView): Promise<StopResult | undefined> {
  const sandbox = await readSandbox(run, sandboxId);
  const isLast = sandbox?.stop?.id === asked.id;
  const stop = isLast ? sandbox.stop : await patiently(run, 'read', () => reads.getStop(sandboxId, asked.id));
  if (!stop) return { stopId: asked.id, status: 'gone', kept: null, error: null };
  run.stop = { stopId: stop.id, status: stop.status, kept: null, error: stop.error };
  if (stop.status === 'superseded') return run.stop;
  if (stop.status !== 'completed') return undefined;
  return { ...run.stop, kept: sandbox ? keptOf(sandbox, asked) : null };
}

/** Deletes the sandbox and waits until the deletion has completed. One that somebody leases is left alone. */
export async function deleteSandbox(run: JobRun, sandboxId: string): Promise<void> {
  run.enter('deleting');
  const claim = await effects.claimDelete(sandboxId);
  if (!claim.granted) {
    const error = `The sandbox is leased by ${claim.leasedBy.join(', ')}`;
    run.deletion = { operationId: null, status: 'leased', error };
    return stopSandbox(run, sandboxId);
  }
  const { operationId } = await patiently(run, 'delete', () => effects.deleteSandbox(sandboxId));
  run.deletion = { operationId, status: operationId === null ? 'gone' : 'pending', error: null };
  for (let polls = 0; operationId !== null; polls += 1) {
    const operation = await patiently(run, 'read', () => reads.getDeletionOperation(operationId));
    if (!operation) return;
    run.deletion = { operationId, status: operation.status, error: operation.error ?? null };
    if (operation.status === 'completed' || operation.status === 'failed') return;
    await sleep(Math.min(safetyPollMs(run.timing, polls), 1_000 * 2 ** polls), { summary: 'until deleted' });
  }
}
