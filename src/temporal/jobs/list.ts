/** Lists the jobs of a deployment from Temporal's visibility. */
import type { Client } from '@temporalio/client';
import { workflowTypes } from '../../../workflows/messages.js';
import { deploymentProblem, jobIdOfWorkflow, jobWorkflowId } from '../../contract/addresses.js';
import { SandflowError } from '../../contract/sandflow-error.js';
import { lenientClient, memoOf, type UnreadableMemo } from '../readable-memos.js';

/** A job in a list. */
export interface JobSummary {
  /** Id of the job. */
  readonly jobId: string;
  /** `running`, or how the workflow ended. A job that has a named outcome is `completed`, whatever the outcome. */
  readonly status: string;
  /** ISO 8601 time. */
  readonly startedAt: string;
  /** ISO 8601 time; null while the job runs. */
  readonly endedAt: string | null;
  /** First line of the first prompt. */
  readonly prompt: string | null;
  /** Why the memo cannot be read, such as a missing key; null if it can. */
  readonly unreadable: UnreadableMemo | null;
}

/** Options of `listJobs`. */
export interface ListJobsOptions {
  /** Name of the deployment. */
  readonly deployment: string;
  /** Lists only running ones. Default: false. */
  readonly open?: boolean;
  /** Maximum number of entries, newest first. Default: 50. */
  readonly limit?: number;
}

/** The newest jobs first. Visibility lags: a job that was started a moment ago may be missing. */
export async function listJobs(client: Client, options: ListJobsOptions): Promise<JobSummary[]> {
  const { deployment, limit = 50 } = options;
  const problem = deploymentProblem(deployment);
  if (problem) throw new SandflowError('bad_configuration', `SANDFLOW_DEPLOYMENT: ${problem}.`);
  const conditions = [
    `WorkflowType = '${workflowTypes.createThenPrompt}'`,
    `WorkflowId STARTS_WITH '${jobWorkflowId(deployment, '')}'`,
  ];
  if (options.open) conditions.push(`ExecutionStatus = 'Running'`);
  const jobs: JobSummary[] = [];
  for await (const execution of lenientClient(client).workflow.list({
    query: conditions.join(' AND '),
    pageSize: Math.min(limit, 1000),
  })) {
    const jobId = jobIdOfWorkflow(deployment, execution.workflowId);
    if (jobId === undefined) continue;
    const { memo, unreadable } = memoOf(execution.memo);
    const { prompt } = memo;
    jobs.push({
      jobId,
      status: execution.status.name.toLowerCase(),
      startedAt: execution.startTime.toISOString(),
      endedAt: execution.closeTime?.toISOString() ?? null,
      prompt: typeof prompt === 'string' ? prompt : null,
      unreadable,
    });
    if (jobs.length >= limit) break;
  }
  return jobs;
}
