/** Queries the stop workflows of many sandboxes at once. */
import type { Client } from '@temporalio/client';
import { sandboxStopId } from '../../addresses/addresses.js';
import { SandflowError } from '../../errors/sandflow-error.js';
import { workflowTypes } from '../../protocol/messages.js';
import type { StopReport } from '../../protocol/stop.js';
import { lenientClient } from '../../temporal/readable-memos.js';
import { stopReport } from './read-stops.js';

const atOnce = 8;

/**
 * Queries the reports of the stop workflows that run for these sandboxes. Visibility lags: a workflow that was started
 * a moment ago may be missing.
 * @returns the reports by sandbox id, without sandboxes for which no workflow runs; a report is null if no worker
 *   answers
 */
export async function openStopReports(
  client: Client,
  sandboxIds: readonly string[],
): Promise<ReadonlyMap<string, StopReport | null>> {
  const wanted = new Map(sandboxIds.map((id) => [sandboxStopId(id), id]));
  const running: string[] = [];
  const query = `WorkflowType = '${workflowTypes.stopAndAwaitArchive}' AND ExecutionStatus = 'Running'`;
  for await (const { workflowId } of lenientClient(client).workflow.list({ query })) {
    const sandboxId = wanted.get(workflowId);
    if (sandboxId !== undefined) running.push(sandboxId);
  }
  const reports = new Map<string, StopReport | null>();
  let isAnswering = true;
  const rest = running.values();
  const askOn = async () => {
    for (const sandboxId of rest) {
      const report = isAnswering ? await answerFor(client, sandboxId) : 'no_worker';
      // The other queries would get no answer either, and each would wait for its timeout.
      if (report === 'no_worker') isAnswering = false;
      if (report !== null) reports.set(sandboxId, report === 'no_worker' ? null : report);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, askOn));
  return reports;
}

async function answerFor(client: Client, sandboxId: string): Promise<StopReport | null | 'no_worker'> {
  try {
    return await stopReport(client, sandboxId);
  } catch (error) {
    if (error instanceof SandflowError && error.code === 'no_worker') return 'no_worker';
    throw error;
  }
}
