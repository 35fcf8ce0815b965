/** Promises about workflows: each ends by itself, no task fails, history stays within its bounds, and holds no secret. */
import { readFileSync } from 'node:fs';
import type { Client, WorkflowHandle } from '@temporalio/client';
import { brokenWorkflows, workflowsOf } from '../../slow/matrix/ended-workflows.js';
import type { Told } from '../players/told.js';
import type { Broken } from './record.js';

/** One run of a job of these sizes has some hundred events. */
const maxEvents = 2_500;

/** The SDK's code of a workflow whose history does not replay. */
const nondeterminismCode = 'TMPRL1100';

/** An item reports refusals number 1, 2, 4, 8 and so on: a world has no time for more than 31. */
const maxReports = 5;

/** The most reports of throttling that one item has sent to this workflow. */
function reportsOf(events: readonly Event[]): number {
  const counts = new Map<string, number>();
  for (const { workflowExecutionSignaledEventAttributes: signal } of events) {
    if (signal?.signalName !== 'fanoutThrottled') continue;
    const [item] = signal.input?.payloads ?? [];
    const { index = '' } = JSON.parse(Buffer.from(item?.data ?? []).toString('utf8') || '{}') as { index?: number };
    counts.set(String(index), (counts.get(String(index)) ?? 0) + 1);
  }
  return Math.max(0, ...counts.values());
}

type Event = NonNullable<Awaited<ReturnType<WorkflowHandle['fetchHistory']>>['events']>[number];

export interface PlayedRuns {
  readonly told: readonly Told[];
  /** Ids of workflows that somebody terminated. */
  readonly terminated: ReadonlySet<string>;
}

export async function brokenRuns(
  client: Client,
  { told, terminated }: PlayedRuns,
  secrets: readonly string[],
): Promise<Broken[]> {
  const found: Broken[] = [];
  for (const { job, workflowId, isTerminated } of told) {
    const ends = await brokenWorkflows({ stand: { client } }, { workflowId, isReset: isTerminated });
    const isMeant = (what: string) => [...terminated].some((id) => what === `the workflow ${id} is TERMINATED`);
    const broken = ends.filter((what) => !isMeant(what));
    found.push(...broken.map((what) => ({ promise: 'every job ends in a named outcome', job, what })));
    for (const { workflowId: id, runId } of await workflowsOf({ stand: { client } }, workflowId)) {
      const { events } = await client.workflow.getHandle(id, runId).fetchHistory();
      const count = events?.length ?? 0;
      const reports = reportsOf(events ?? []);
      if (reports > maxReports) {
        found.push({ promise: 'history stays bounded', job, what: `${id} got ${reports} reports of one item` });
      }
      if (count > maxEvents) found.push({ promise: 'history stays bounded', job, what: `${id} has ${count} events` });
      const text = JSON.stringify(events, (_, value) =>
        value instanceof Uint8Array ? Buffer.from(value).toString('utf8') : value,
      );
      found.push(...held(secrets, text, `the history of ${id}`, job));
    }
  }
  return found;
}

export function brokenLogs(files: readonly string[], secrets: readonly string[]): Broken[] {
  return files.flatMap((file) => {
    let text = '';
    try {
      text = readFileSync(file, 'utf8');
    } catch {
      // A process that printed nothing has no log.
    }
    const name = file.split('/').at(-1) ?? file;
    return [...held(secrets, text, name, null), ...stuckIn(text, name)];
  });
}

/** Also finds workflows of no job, such as the stop of a shared sandbox. */
function stuckIn(log: string, name: string): Broken[] {
  const line = log.split('\n').find((one) => one.includes(nondeterminismCode));
  return line ? [{ promise: 'no workflow task fails', job: null, what: `${name}: ${line.slice(0, 500)}` }] : [];
}

function held(secrets: readonly string[], text: string, where: string, job: string | null): Broken[] {
  const isHeld = secrets.some((secret) => text.includes(secret));
  return isHeld ? [{ promise: 'no secret is printed', job, what: `a secret is in ${where}` }] : [];
}
