/** Prepares a usable sandbox for prompts: waits for hydration and setup, and writes the files. */
import { workflowInfo } from '@temporalio/workflow';
import { followTaskQueue, isSentToOwner } from '../../../src/addresses/addresses.js';
import { files, followProxies } from '../../shared/activity-options.js';
import { sandboxFailed, sandboxLost } from '../../shared/job-termination.js';
import { retryRefusals } from '../../shared/retry-refusals.js';
import { until } from '../../shared/until.js';
import { callMachine } from '../call-machine.js';
import type { JobState } from '../job-state.js';
import { Lag, readSandbox, waitOptions, waitUntilUsable } from './wait-until-usable.js';
import { watchSandbox } from './watch-sandbox.js';

/** Skips each part that an earlier run of the job has completed. */
export async function prepareSandbox(job: JobState, sandboxId: string): Promise<void> {
  if (job.input.waitFor === 'hydrated' && !job.carried.isHydrated) await waitHydrated(job, sandboxId);
  job.carried.isHydrated = true;
  const { source, put } = job.input;
  if (source.kind === 'create' && source.body.setupScript && job.carried.setup?.status !== 'done')
    await waitSetUp(job, sandboxId);
  for (const file of put.slice(job.carried.filesPut)) {
    job.enter('putting_files');
    await callMachine(job, sandboxId, 'put file', () =>
      files.putFile.executeWithOptions({ summary: `put ${file.path}` }, [sandboxId, file]),
    );
    job.carried.filesPut += 1;
  }
}

async function waitHydrated(job: JobState, sandboxId: string): Promise<void> {
  if (job.sandbox?.hydrated === true) return;
  job.enter('waiting_for_sandbox');
  const isTold = job.carried.watched || isSentToOwner('sandbox.hydrated', workflowInfo().workflowId);
  if (!isTold) await watchSandbox(job, sandboxId);
  const lag = new Lag(job.timing.readLagMs);
  await until<true>(sandboxId, {
    ...waitOptions(job),
    waitedFor: 'hydrated',
    wakeOn: ['sandbox.hydrated', 'sandbox.archived', 'sandbox.error'],
    since: 0,
    readFirst: true,
    read: async () => {
      const sandbox = await readSandbox(job, sandboxId);
      if (sandbox?.hydrated === true) return true;
      const isStopped = sandbox?.state === 'archived' || sandbox?.state === 'archiving';
      const isNew = isStopped && sandbox.stop !== null && sandbox.stop.id !== job.carried.previousStopId;
      if (sandbox?.state === 'cancelled' || isNew || ((sandbox === null || isStopped) && lag.lasts('away')))
        throw sandboxLost(sandbox?.state ?? null, 'while it hydrated');
      if (sandbox && !isStopped) lag.over();
      if (sandbox?.state === 'error')
        await waitUntilUsable(job, sandboxId, { since: job.inbox.mark(), readFirst: true });
      return undefined;
    },
  });
}

async function waitSetUp(job: JobState, sandboxId: string): Promise<void> {
  job.enter('waiting_for_setup');
  const follow = followProxies(followTaskQueue(workflowInfo().taskQueue));
  const setup = await retryRefusals(job, 'setup', () =>
    follow.followSetup.executeWithOptions({ summary: 'setup script' }, [sandboxId, job.timing.readLagMs]),
  );
  job.carried.setup = setup;
  if (setup.status === 'done') return;
  const isLost = setup.status === 'sandbox_lost' && setup.error !== 'error';
  if (isLost) throw sandboxLost(setup.error, 'during the setup script');
  const code = setup.status === 'failed' ? 'setup_failed' : 'sandbox_error';
  throw sandboxFailed(code, `The setup script did not finish: ${setup.error ?? 'no reason given'}`);
}
