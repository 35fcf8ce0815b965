import type { WorkflowExecutionDescription } from '@temporalio/client';
import { jobWorkflowId } from '../../addresses/addresses.js';
import { jobTranscripts } from '../../addresses/transcript-places.js';
import { describeJob, type JobAddress } from '../../workflow-client/jobs/job-client.js';
import type { Platform } from '../connect/platform.js';
import { createTranscript, type Transcript } from './transcript.js';

/** The transcript of the newest execution of a job. */
export function transcriptOfJob(
  platform: Pick<Platform, 'service' | 'results' | 'temporal'>,
  job: JobAddress,
): Transcript {
  return createTranscript({
    service: () => platform.service,
    results: platform.results,
    folder: async () => {
      const { deployment, jobId } = job;
      return jobTranscripts(jobWorkflowId(deployment, jobId), firstRunIdOf(await describeJob(platform.temporal, job)));
    },
  });
}

function firstRunIdOf({ raw, runId }: Pick<WorkflowExecutionDescription, 'raw' | 'runId'>): string {
  return raw.workflowExecutionInfo?.firstRunId || runId;
}
