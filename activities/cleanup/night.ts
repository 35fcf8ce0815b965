/** Finds what other runs of the same policy have done this night, and whether another run has not finished. */
import type { Client } from '@temporalio/client';
import { cleanupPrefix } from '../../src/addresses/addresses.js';
import { SandflowError } from '../../src/errors/sandflow-error.js';
import type { CleanupMemo } from '../../src/protocol/cleanup.js';
import { workflowTypes } from '../../src/protocol/messages.js';
import { type CleanupPolicy, nightBeganAtMs } from '../../src/retention/index.js';
import { lenientClient, memoOf } from '../../src/temporal/readable-memos.js';

export interface NightQuery {
  readonly deployment: string;
  readonly policy: CleanupPolicy;
  /** The current run. */
  readonly workflowId: string;
  readonly nowMs: number;
}

/** A run that started before the night may still act during the night. */
const lookBackMs = 86_400_000;

/**
 * Reads what other runs of the night did: the actions that they took from its limit, how many sandboxes the first one
 * counted, and the id of one that started earlier and has not ended.
 *
 * Before a run acts, it writes its next actions into its memo. So the actions of a killed run count too.
 * @throws SandflowError if the memo of a run is unreadable: its actions are unknown, and must not count as zero
 */
export async function readNight(client: Client, night: NightQuery) {
  const { deployment, policy, nowMs } = night;
  const beganAtMs = nightBeganAtMs(policy, nowMs);
  const since = new Date(Math.min(beganAtMs, nowMs - lookBackMs)).toISOString();
  const query = [
    `WorkflowType = '${workflowTypes.retentionCleanup}'`,
    `WorkflowId STARTS_WITH '${cleanupPrefix(deployment)}'`,
    `StartTime >= '${since}'`,
  ].join(' AND ');
  // How many actions other runs have taken from the limit of this night, and those of them that have ended.
  let taken = 0;
  let ended = 0;
  let first: { readonly startedMs: number; readonly fleet: number } | undefined;
  let own: { readonly startedMs: number } | undefined;
  const others: { readonly workflowId: string; readonly startedMs: number }[] = [];
  for await (const run of lenientClient(client).workflow.list({ query })) {
    const { memo: readable, unreadable } = memoOf(run.memo);
    const memo = readable as Partial<CleanupMemo>;
    const startedMs = run.startTime.getTime();
    if (run.workflowId === night.workflowId) {
      own = { startedMs };
      continue;
    }
    if (unreadable) {
      const what = `The memo of the cleanup ${run.workflowId} cannot be read, so this cleanup does nothing.`;
      throw new SandflowError({ foreign: unreadable.code }, `${what} ${unreadable.message}`);
    }
    if (memo.policy !== policy.name || memo.mode !== 'apply' || run.status.name === 'CONTINUED_AS_NEW') continue;
    const isOpen = run.status.name === 'RUNNING';
    if (isOpen) others.push({ workflowId: run.workflowId, startedMs });
    if (!isOpen && startedMs < beganAtMs && (run.closeTime?.getTime() ?? 0) < beganAtMs) continue;
    taken += memo.acted ?? 0;
    if (!isOpen) ended += memo.acted ?? 0;
    const { fleet } = memo;
    if (fleet != null && startedMs < (first?.startedMs ?? Number.POSITIVE_INFINITY)) first = { startedMs, fleet };
  }
  const ownMs = own?.startedMs ?? nowMs;
  const isEarlier = (run: { readonly workflowId: string; readonly startedMs: number }) =>
    run.startedMs < ownMs || (run.startedMs === ownMs && run.workflowId < night.workflowId);
  return { taken, ended, fleet: first?.fleet ?? null, otherRun: others.find(isEarlier)?.workflowId ?? null };
}
