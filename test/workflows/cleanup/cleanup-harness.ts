/** Sandboxes of all kinds on a stand, and cleanups of them. */
import { expect } from 'vitest';
import { executionOf, jobWorkflowId, ownedSandboxName } from '../../../src/addresses/addresses.js';
import type { SandboxClient } from '../../../src/client/index.js';
import { readStoredJson } from '../../../src/result-store/stored-json.js';
import { readPolicy } from '../../../src/retention/index.js';
import { startCleanup } from '../../../src/workflow-client/cleanups/cleanup-client.js';
import type { CleanupReport, CleanupSettings, CleanupSummary, JobInput, JobResult } from '../../../workflows/index.js';
import { deployment, type Stand, shortTiming } from '../workflow-harness.js';

const timing = { ...shortTiming, readLagMs: 1_000 };
const settings = { settleMs: 0, actionDeadlineMs: 600_000, timing };

export async function ready(stand: Stand, name: string, body: { readonly snapshots?: boolean } = {}): Promise<string> {
  const { sandbox } = await stand.api.createSandbox({ name, ...body });
  await untilState(stand, sandbox.id, 'ready');
  return sandbox.id;
}

export async function archived(stand: Stand, name: string): Promise<string> {
  const id = await ready(stand, name);
  await stand.api.stopSandbox(id);
  await untilState(stand, id, 'archived');
  return id;
}

export async function untilState(stand: Stand, sandboxId: string, state: string): Promise<void> {
  await expect.poll(() => stateOf(stand, sandboxId)).toBe(state);
}

/** For the worker's client: a list in which the last stop of this sandbox ended at another time. */
export function listedAsStopped(
  stand: Stand,
  sandboxId: string,
  endedAt: string,
): Pick<SandboxClient, 'listAllSandboxes'> {
  return {
    listAllSandboxes: async (...args) => {
      const sandboxes = await stand.api.listAllSandboxes(...args);
      return sandboxes.map((sandbox) =>
        sandbox.id === sandboxId && sandbox.stop ? { ...sandbox, stop: { ...sandbox.stop, endedAt } } : sandbox,
      );
    },
  };
}

export async function stateOf(stand: Stand, sandboxId: string): Promise<string> {
  const { sandboxes } = await stand.api.listSandboxes();
  return sandboxes.find(({ id }) => id === sandboxId)?.state ?? 'gone';
}

/** The name of a sandbox that the execution `runId` of a job created. */
export const nameOf = (jobId: string, runId: string, of = deployment) =>
  ownedSandboxName({ deployment: of, jobId, execution: executionOf(runId), step: 'main', generation: 1 });

/** An execution with the workflow id of a job. No worker takes its tasks. */
export async function holdJob(stand: Stand, jobId: string) {
  const handle = await stand.client.workflow.start('createThenPrompt', {
    workflowId: jobWorkflowId(deployment, jobId),
    taskQueue: 'nobody-takes-these',
    args: [],
  });
  return { handle, runId: handle.firstExecutionRunId };
}

export interface Cleaned {
  readonly summary: CleanupSummary;
  readonly report: CleanupReport;
  /** The result for a sandbox: its reason, or the outcomes of its actions. */
  of(sandboxId: string): string;
}

export interface CleanOptions extends Partial<CleanupSettings> {
  readonly mode?: 'plan' | 'apply';
}

export async function begin(stand: Stand, policy: string, { mode = 'apply', ...over }: CleanOptions = {}) {
  const { client, taskQueue } = stand;
  const read = readPolicy(policy, 'test');
  return startCleanup(client, { deployment, taskQueue, policy: read, mode, settings: { ...settings, ...over } });
}

export async function clean(stand: Stand, policy: string, options: CleanOptions = {}): Promise<Cleaned> {
  const handle = await begin(stand, policy, options);
  return cleaned(stand, await handle.result());
}

export async function cleaned(stand: Stand, summary: CleanupSummary): Promise<Cleaned> {
  return { summary, ...(await readReport(stand, summary)) };
}

/** A policy with one rule for all names of a prefix, without effective limits. */
export const policyFor = (prefix: string, action: string, more = '', rule = '') =>
  `name: ${prefix}\nlimits: {maxActions: 1000, maxPercent: 100}\n${more}
rules:
  - rule: all of ${prefix}
    match: {name: ["${prefix}-*", "sf-*-${prefix}-*"]}
    action: ${action}
${rule}`;

async function readReport(stand: Stand, { reportRef }: CleanupSummary): Promise<Omit<Cleaned, 'summary'>> {
  const report = await readStoredJson<CleanupReport>(stand.results, reportRef ?? '');
  return {
    report,
    of(sandboxId) {
      const entry = report.plan?.entries.find((known) => known.sandboxId === sandboxId);
      if (!entry) return 'not in the plan';
      if (entry.results.length === 0) return entry.reason ?? entry.action ?? 'nothing';
      return entry.results.map(({ outcome, guard }) => (guard === null ? outcome : `${outcome}: ${guard}`)).join(', ');
    },
  };
}

/** Runs a job. Temporal lists its end with a delay. */
export async function runJob(
  stand: Stand,
  over: Partial<JobInput> = {},
): Promise<JobResult & { readonly sandboxId: string }> {
  const handle = await stand.start({ prompts: [], commands: ['true'], ...over });
  const result = await handle.result();
  expect(result).toMatchObject({ outcome: 'completed', sandboxId: expect.any(String) });
  const query = `WorkflowId = '${handle.workflowId}' AND ExecutionStatus = 'Completed'`;
  await expect.poll(async () => (await stand.client.workflow.count(query)).count).toBe(1);
  return { ...result, sandboxId: result.sandboxId ?? '' };
}

/** Runs a job in an existing sandbox. */
export const runIn = (stand: Stand, sandboxId: string, end: JobInput['end']) =>
  runJob(stand, { source: { kind: 'existing', sandboxId }, end });

/** Forks by hand, without a name. */
export async function forkByHand(stand: Stand, sandboxId: string): Promise<string> {
  const { sandbox } = await stand.api.forkSandbox(sandboxId, {});
  await untilState(stand, sandbox.id, 'ready');
  return sandbox.id;
}

let policies = 0;
/** Two rules, for orphans and by name. Each policy has a night of its own. */
export const orphanPolicy = (action: 'stop' | 'delete-sandbox') => `name: orphans-${++policies}
limits: {maxActions: 1000, maxPercent: 100}
rules:
  - {rule: orphans, match: {owned: closed, state: [ready, idle, archived]}, action: ${action}}
  - {rule: snapshots, match: {name: no-such}, action: delete-snapshot}
  - {rule: by name, match: {name: ["by-hand*", "sf-*"], state: [ready, idle, archived]}, action: ${action}}`;
