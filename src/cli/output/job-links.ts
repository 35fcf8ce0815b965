/** Where a job can be looked at: its workflow id, its page in Temporal's UI, and the commands to go on with. */
import { jobWorkflowId } from '../../contract/addresses.js';
import type { JobAddress } from '../../temporal/jobs/client.js';

/** Temporal's UI: its address and the namespace of the jobs. */
export interface TemporalUi {
  readonly url: string;
  readonly namespace: string;
}

export interface JobLinks {
  readonly workflowId: string;
  /** The page of the workflow in Temporal's UI; null if no UI is known. */
  readonly uiUrl: string | null;
}

export function linksOf({ deployment, jobId }: JobAddress, ui: TemporalUi | undefined): JobLinks {
  const workflowId = jobWorkflowId(deployment, jobId);
  if (!ui) return { workflowId, uiUrl: null };
  return { workflowId, uiUrl: `${workflowsUrl(ui)}/${encodeURIComponent(workflowId)}` };
}

/** The list of workflows in Temporal's UI. */
export function workflowsUrl({ url, namespace }: TemporalUi): string {
  return `${url.replace(/\/$/, '')}/namespaces/${encodeURIComponent(namespace)}/workflows`;
}

/** Both on one line: what a summary says about where to look. */
export function linksText({ workflowId, uiUrl }: JobLinks): string {
  return `workflow ${workflowId}${uiUrl === null ? '' : ` · ${uiUrl}`}`;
}

/** What to do next about a job that is running. */
export function nextWhileRunning(jobId: string): string {
  return `next: sandflow jobs logs ${jobId} -f · sandflow jobs watch ${jobId} · sandflow jobs cancel ${jobId}`;
}

/** What to do next about a job that has ended. */
export function nextAfterEnd(jobId: string): string {
  return `next: sandflow jobs logs ${jobId}`;
}
