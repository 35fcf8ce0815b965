/** Prepares a usable sandbox for prompts: waits for hydration and setup, and writes the files. */
import { workflowInfo } from '@temporalio/workflow';
import { followTaskQueue } from '../../../src/contract/workflow-safe/addresses.js';
import { sandboxFailed, sandboxLost } from '../../shared/job-termination.js';
import { files, followProxies } from '../../shared/proxies.js';
import { retryRefusals } from '../../shared/retry-refusals.js';
import { until } from '../../shared/until.js';
import { callMachine } from '../call-machine.js';
import type { JobState } from '../job-state.js';
import { Lag, readSandbox, waitOptions, waitUntilUsable } from './wait-until-usable.js';

/** Skips each part that an earlier run of the job has completed. */
export async function prepareSandbox(run: JobState, sandboxId: string): Promise<void> {
  if (run.input.waitFor === 'hydrated' && !run.isHydrated) await waitHydrated(run, sandboxId);
  run.isHydrated = true;
  const { source, put } = run.input;
  if (source.kind === 'create' && source.body.setupScript && run.setup?.status !== 'done')
    await waitSetUp(run, sandboxId);
  for (const file of put.slice(run.filesPut)) {
    run.enter('putting_files');
    await callMachine(run, sandboxId, 'put file', () =>
      files.putFile.executeWithOptions({ summary: `put ${file.path}` }, [sandboxId, file]),
    );
    run.filesPut += 1;
  }
}

async function waitHydrated(run: JobState, sandboxId: string): Promise<void> {
  if (run.sandbox?.hydrated === true) return;
  run.enter('waiting_for_sandbox');
  const lag = new Lag(run.timing.readLagMs);
  await until<true>(sandboxId, {
    ...waitOptions(run),
    waitedFor: 'hydrated',
    wakeOn: ['sandbox.hydrated', 'sandbox.archived', 'sandbox.error'],
    since: 0,
    readFirst: true,
    read: async () => {
      const sandbox = await readSandbox(run, sandboxId);
      if (sandbox?.hydrated === true) return true;
      const isStopped = sandbox?.state === 'archived' || sandbox?.state === 'archiving';
      const isNew = isStopped && sandbox.stop !== null && sandbox.stop.id !== run.previousStopId;
      if (sandbox?.state === 'cancelled' || isNew || ((sandbox === null || isStopped) && lag.lasts('away')))
        throw sandboxLost(sandbox?.state ?? null, 'while it hydrated');
      if (sandbox && !isStopped) lag.over();
      if (sandbox?.state === 'error')
        await waitUntilUsable(run, sandboxId, { since: run.inbox.mark(), readFirst: true });
      return undefined;
    },
  });
}

async function waitSetUp(run: JobState, sandboxId: string): Promise<void> {
  run.enter('waiting_for_setup');
  const follow = followProxies(followTaskQueue(workflowInfo().taskQueue));
  const setup = await retryRefusals(run, 'setup', () =>
    follow.followSetup.executeWithOptions({ summary: 'setup script' }, [sandboxId, run.timing.readLagMs]),
  );
  run.setup = setup;
  if (setup.status === 'done') return;
  const isLost = setup.status === 'sandbox_lost' && setup.error !== 'error';
  if (isLost) throw sandboxLost(setup.error, 'during the setup script');
  const code = setup.status === 'failed' ? 'setup_failed' : 'sandbox_error';
  throw sandboxFailed(code, `The setup script did not finish: ${setup.error ?? 'no reason given'}`);
}
