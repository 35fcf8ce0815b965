/** A person who types `sandflow run` in a terminal. */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { jobWorkflowId } from '../../../src/addresses/addresses.js';
import type { JobReport } from '../../../src/cli/output/job-report.js';
import type { JobResult } from '../../../workflows/index.js';
import type { CommandLinePlan } from '../plan/plan.js';
import type { Account } from './account.js';
import { promptText } from './run.js';
import { type Told, tellingOf } from './told.js';

const main = fileURLToPath(new URL('../../../src/cli/main.js', import.meta.url));
export const commandLineDeadlineMs = 60_000;
/** How long a command repeats its calls to the service before it gives up. */
export const commandLinePatienceMs = 30_000;
/** How long it waits for a Temporal that cannot be reached. */
export const temporalPatienceMs = 10_000;
/** The time for its clean-up is a quarter of an hour, as the command line has no shorter one. */
const patienceMs = 75_000;
/** Settings of the person who plays the world, which must not reach the program. */
const foreign = /^(?:SANDBOX_|SANDFLOW_|TEMPORAL_)/;

export async function playCommandLine(account: Account, { key, workSeconds }: CommandLinePlan): Promise<Told> {
  const { client, deployment, watch, signal, terminal } = account;
  const workflowId = jobWorkflowId(deployment, key);
  watch(key, (tag) => tag.workflowId === workflowId);
  const inherited = Object.fromEntries(Object.entries(process.env).filter(([name]) => !foreign.test(name)));
  const args = [
    'run',
    '--json',
    '--quiet',
    '--id',
    key,
    '--end',
    'delete',
    '--deadline',
    `${commandLineDeadlineMs / 1_000}s`,
    '--on-unknown',
  ];
  const child = spawn(process.execPath, [main, ...args, 'abandon', '--prompt', promptText(key, 0, workSeconds)], {
    env: { ...inherited, ...terminal(key) },
    stdio: ['ignore', 'pipe', 'pipe'],
    signal,
  });
  const said = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk: Buffer) => {
    said.stdout += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    said.stderr += chunk.toString();
  });
  const handle = client.workflow.getHandle(workflowId);
  const timer = setTimeout(
    () => void handle.terminate('its person has no more patience').catch(() => child.kill()),
    patienceMs,
  );
  await new Promise((resolve) => child.once('close', resolve));
  clearTimeout(timer);
  // Another person may have terminated it, too. A job that never started has no status.
  const status = await handle.describe().then(
    (described) => described.status.name,
    () => null,
  );
  const isTerminated = status === 'TERMINATED';
  const report = JSON.parse(said.stdout || '{}') as Partial<JobReport>;
  const base = { job: key, workflowId, given: [], othersPromptIds: [], isTerminated };
  if (report.outcome == null) {
    const outcome = `not_started: ${report.error?.message ?? said.stderr}`;
    return { ...base, jobs: [], left: [], saysArchived: [], saysDeleted: [], outcome };
  }
  return { ...base, ...tellingOf(report as JobResult), outcome: report.outcome };
}
