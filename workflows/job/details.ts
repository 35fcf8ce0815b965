/** The details of a job that Temporal shows while it runs and after its end. */
import { degradedOf, type SandboxView } from '../../src/contract/workflow-safe/sandbox-view.js';
import type { JobPhase } from '../../src/protocol/job/job-phases.js';
import type { JobProgress } from '../../src/protocol/job/job-progress.js';
import type { JobError, JobOutcome } from '../../src/protocol/job/job-result.js';

interface DetailedJob {
  readonly carried: { readonly phase: JobPhase; readonly sinceMs: number };
  readonly sandbox: SandboxView | null;
  readonly blocked: JobProgress['blocked'];
  readonly outcome: JobOutcome | null;
  readonly endError: JobError | null;
}

/** Returns Markdown. */
export function jobDetails({ carried, sandbox, blocked, outcome, endError }: DetailedJob): string {
  const { phase, sinceMs } = carried;
  const lines = [`**${phase.replaceAll('_', ' ')}** since ${new Date(sinceMs).toISOString()}`];
  if (sandbox) lines.push(`Sandbox ${sandbox.id}`);
  const degraded = sandbox && degradedOf(sandbox);
  if (degraded) lines.push(`Degraded: ${degraded.reason ?? 'the service gives no reason'}`);
  if (outcome) lines.push(`Outcome: ${outcome}`);
  if (endError) lines.push(`Error: ${endError.code}: ${endError.message}`);
  if (blocked && !outcome) lines.push(`Blocked: ${blocked.message}`);
  return lines.join('\n\n');
}
