/** Prepares a usable sandbox for prompts: waits for hydration and setup, and writes the files. */
import { workflowInfo } from '@temporalio/workflow';
import { executionOf, followTaskQueue, isSentToOwner } from '../../../src/addresses/addresses.js';
import type { FilePut } from '../../../src/protocol/job/job-input.js';
import { quotedForShell } from '../../../src/texts/shell-word.js';
import { files, followProxies } from '../../shared/activity-options.js';
import { sandboxFailed, sandboxLost } from '../../shared/job-termination.js';
import { retryRefusals } from '../../shared/retry-refusals.js';
import { until } from '../../shared/until.js';
import { callMachine } from '../call-machine.js';
import type { JobState } from '../job-state.js';
import { runCommand, withMarkers } from '../run-commands.js';
import { Lag, readSandbox, waitOptions, waitUntilUsable } from './wait-until-usable.js';
import { watchSandbox } from './watch-sandbox.js';

type SingleContent = Exclude<FilePut['content'], { tarGz: unknown }>;

/** Skips each part that an earlier run of the job has completed. */
export async function prepareSandbox(job: JobState, sandboxId: string): Promise<void> {
  if (job.input.waitFor === 'hydrated' && !job.carried.isHydrated) await waitHydrated(job, sandboxId);
  job.carried.isHydrated = true;
  const { source, put } = job.input;
  if (source.kind === 'create' && source.body.setupScript && job.carried.setup?.status !== 'done')
    await waitSetUp(job, sandboxId);
  const remaining = put.slice(job.carried.filesPut);
  const putAll = () => putFiles(job, sandboxId, remaining);
  const hasFolder = remaining.some(({ content }) => 'tarGz' in content);
  await (hasFolder ? withMarkers(job, sandboxId, putAll) : putAll());
}

async function putFiles(job: JobState, sandboxId: string, remaining: readonly FilePut[]): Promise<void> {
  for (const file of remaining) {
    job.enter('putting_files');
    if ('tarGz' in file.content) await putFolder(job, sandboxId, file.path, file.content.tarGz);
    else await putFile(job, sandboxId, file.path, file.content);
    job.carried.filesPut += 1;
  }
}

async function putFile(job: JobState, sandboxId: string, path: string, content: SingleContent): Promise<void> {
  await callMachine(job, sandboxId, 'put file', () =>
    files.putFile.executeWithOptions({ summary: `put ${path}` }, [sandboxId, { path, content }]),
  );
}

/** Writes the parts of the archive, and unpacks them with one command, which runs at most once. */
async function putFolder(job: JobState, sandboxId: string, path: string, refs: readonly string[]): Promise<void> {
  // Another job may put a folder into the same sandbox.
  const staging = `.sandflow-put-${executionOf(workflowInfo().firstExecutionRunId)}-${job.carried.filesPut}`;
  const parts = refs.map((_, index) => `${staging}/${index}`);
  // If an earlier run of this workflow has sent the command, the parts may be gone.
  const unsent = job.carried.command === null ? refs : [];
  for (const [index, ref] of unsent.entries()) await putFile(job, sandboxId, parts[index] ?? '', { ref });
  await runCommand(job, sandboxId, unpackText(parts.join(' '), staging, path), `unpack ${path}`);
}

/**
 * No time and no owner of the machine that packed it counts in the sandbox. Only success removes the folder of the parts,
 * so if it is gone when the command is sent again, there is nothing left to do.
 */
function unpackText(parts: string, staging: string, path: string): string {
  const folder = quotedForShell(path.startsWith('-') ? `./${path}` : path);
  const unpack = `mkdir -p ${folder} && cat ${parts} | tar -xzpmof - -C ${folder} && rm -rf ${staging}`;
  return `[ ! -d ${staging} ] || { ${unpack}; } || { x=$?; rm -rf ${staging}/*; exit $x; }`;
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
