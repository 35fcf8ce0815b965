/** The end that was chosen for the sandbox: stopped, deleted or kept; confirmed by a read. */
import { sleep } from '@temporalio/workflow';
import { effects, reads } from '../proxies.js';
import { safetyPollMs } from '../timing.js';
import { serviceFailureOf } from './job-ended.js';
import type { JobRun } from './job-run.js';
import { patiently } from './patiently.js';
import { stopSandbox } from './stop-own-sandbox.js';

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
