/** The links of a job: its workflow id, its page in Temporal's UI, and the next commands. */
import { jobWorkflowId } from '../../addresses/addresses.js';
import type { JobAddress } from '../../workflow-client/jobs/job-client.js';
import { programName } from '../program-name.js';
import type { JobReport } from './job-report.js';
import { pasteable } from './pasteable.js';

/** Files that a next command names. */
const mostNamed = 3;

/** Temporal's UI: its address and the namespace of the jobs. */
export interface TemporalUi {
  readonly url: string;
  readonly namespace: string;
}

export type JobLinks = Readonly<ReturnType<typeof linksOf>>;

/** @returns `uiUrl`: the page of the workflow in Temporal's UI; null if no UI is known */
export function linksOf({ deployment, jobId }: JobAddress, ui: TemporalUi | undefined) {
  const workflowId = jobWorkflowId(deployment, jobId);
  if (!ui) return { workflowId, uiUrl: null };
  const workflows = `${ui.url.replace(/\/$/, '')}/namespaces/${encodeURIComponent(ui.namespace)}/workflows`;
  return { workflowId, uiUrl: `${workflows}/${encodeURIComponent(workflowId)}` };
}

/** Both links on one line, for a summary. */
export function linksText({ workflowId, uiUrl }: JobLinks): string {
  return `workflow ${workflowId}${uiUrl === null ? '' : ` · ${uiUrl}`}`;
}

/** @param commands those that make sense now. Default: those for a job that has just started */
export function nextWhileRunning(
  jobId: string,
  commands: readonly string[] = [
    `${programName} jobs logs ${jobId} -f`,
    `${programName} jobs watch ${jobId}`,
    `${programName} jobs cancel ${jobId}`,
  ],
): string {
  return `next: ${commands.join(' · ')}`;
}

/** A file that may exist, but was not collected, is one that a follow-up can still get. */
export function nextAfterEnd(report: Pick<JobReport, 'jobId' | 'prompts' | 'deletion' | 'files'>): string {
  const { jobId, prompts, deletion, files } = report;
  const conversations = new Set(prompts.flatMap(({ conversationId }) => conversationId ?? []));
  const goesOn = conversations.size === 1 && deletion === null;
  const lost = files.filter(({ ref, missing, diff }) => ref === null && !missing && !diff);
  const get = lost.map(({ path }) => ` --get ${pasteable(path, 'PATH')}`).slice(0, mostNamed);
  return `next: ${programName} jobs logs ${jobId}${goesOn ? ` · ${programName} continue ${jobId} "…"${get.join('')}` : ''}`;
}
