/** Promises about workflows: each ends by itself, no task fails, history stays within its bounds, and holds no secret. */
import { readFileSync } from 'node:fs';
import type { Client } from '@temporalio/client';
import { brokenWorkflows } from '../../matrix/ended-workflows.js';
import type { Told } from '../players/told.js';
import type { Broken } from './record.js';

/** One run of a job of these sizes has some hundred events. */
const maxEvents = 2_500;

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
    for await (const { workflowId: id, runId } of client.workflow.list({
      query: `WorkflowId STARTS_WITH "${workflowId}"`,
    })) {
      const { events } = await client.workflow.getHandle(id, runId).fetchHistory();
      const count = events?.length ?? 0;
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
    return held(secrets, text, file.split('/').at(-1) ?? file, null);
  });
}

function held(secrets: readonly string[], text: string, where: string, job: string | null): Broken[] {
  const isHeld = secrets.some((secret) => text.includes(secret));
  return isHeld ? [{ promise: 'no secret is printed', job, what: `a secret is in ${where}` }] : [];
}
