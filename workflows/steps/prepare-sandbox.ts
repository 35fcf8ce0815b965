/** From a usable sandbox to one that can be prompted: hydrated where asked for, set up, its files in place. */
import { workflowInfo } from '@temporalio/workflow';
import { followTaskQueue } from '../../src/contract/addresses.js';
import { effects, files, followProxies } from '../proxies.js';
import { until } from '../until.js';
import { JobEnded, jobError } from './job-ended.js';
import type { JobRun } from './job-run.js';
import { patiently } from './patiently.js';
import { readSandbox, waitUsable } from './wait-usable.js';

export async function prepareSandbox(run: JobRun, sandboxId: string): Promise<void> {
  if (run.input.waitFor === 'hydrated') await waitHydrated(run, sandboxId);
  if (run.input.source.kind === 'create' && run.input.source.body.setupScript) await waitSetUp(run, sandboxId);
  for (const file of run.input.put) {
    run.enter('putting_files');
    await patiently(run, 'put file', () =>
      files.putFile.executeWithOptions({ summary: `put ${file.path}` }, [sandboxId, file]),
    );
  }
}

async function waitHydrated(run: JobRun, sandboxId: string): Promise<void> {
  if (run.sandbox?.hydrated === true) return;
  run.enter('waiting_for_sandbox');
  await until<true>(sandboxId, {
    inbox: run.inbox,
    timing: run.timing,
    onWake: run.onWake,
    waitedFor: 'hydrated',
    wakeOn: ['sandbox.hydrated', 'sandbox.archived', 'sandbox.error'],
    since: 0,
    readFirst: true,
    read: async () => {
      const sandbox = await readSandbox(run, sandboxId);
      if (sandbox?.hydrated === true) return true;
      const lost = sandbox === null || sandbox.state === 'archived' || sandbox.state === 'archiving';
      if (lost)
        throw new JobEnded('sandbox_failed', jobError('sandbox_stopped', 'The sandbox went away while it hydrated'));
      if (sandbox.state === 'error') await waitUsable(run, sandboxId, { since: run.inbox.mark(), readFirst: true });
      return undefined;
    },
  });
}

async function waitSetUp(run: JobRun, sandboxId: string): Promise<void> {
  run.enter('waiting_for_setup');
  const follow = followProxies(followTaskQueue(workflowInfo().taskQueue));
  const setup = await patiently(run, 'setup', () =>
    follow.followSetup.executeWithOptions({ summary: 'setup script' }, [sandboxId]),
  );
  run.setup = setup;
  if (setup.status === 'done') return;
  const reason = setup.error ?? 'no reason given';
  const code = setup.status === 'failed' ? 'setup_failed' : 'sandbox_stopped';
  throw new JobEnded('sandbox_failed', jobError(code, `The setup script did not finish: ${reason}`));
}

/** Keeps the sandbox from stopping by itself. Best effort: the next renewal is not far. */
export async function renewTtl(run: JobRun): Promise<void> {
  const { sandbox, input } = run;
  if (!sandbox) return;
  // A sandbox of somebody else keeps the auto-stop that they gave it, also when that is none.
  const ttlSeconds = input.source.kind === 'existing' ? sandbox.ttlSeconds : input.ttlSeconds;
  if (ttlSeconds === null) return;
  const options = { scheduleToCloseTimeout: '1 minute', summary: 'renew auto-stop' } as const;
  const { calls } = await effects.updateSandbox.executeWithOptions(options, [sandbox.id, { ttlSeconds }]);
  run.apiCalls += calls;
}
