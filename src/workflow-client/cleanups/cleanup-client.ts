import { randomBytes } from 'node:crypto';
import { type Client, WorkflowExecutionAlreadyStartedError, type WorkflowHandle } from '@temporalio/client';
import { cleanupId, cleanupPrefix } from '../../addresses/addresses.js';
import { SandflowError } from '../../errors/sandflow-error.js';
import type {
  CleanupInput,
  CleanupMemo,
  CleanupProgress,
  CleanupSettings,
  CleanupSummary,
} from '../../protocol/cleanup.js';
import { cleanupProgressQuery, workflowTypes } from '../../protocol/messages.js';
import type { CleanupPolicy } from '../../retention/index.js';
import { requireOptions } from '../../settings/required-options.js';
import { chainStart } from '../../temporal/chain-start.js';
import { requireClient } from '../../temporal/own-copy.js';
import { queryOnce } from '../../temporal/query-once.js';
import { lenientClient, memoOf, type UnreadableMemo } from '../../temporal/readable-memos.js';
import { checkCleanup, checkDeployment } from './cleanup-input.js';

/** Temporal's handle of a cleanup. */
export type CleanupHandle = WorkflowHandle<(input: CleanupInput) => Promise<CleanupSummary>>;

/** Options of `startCleanup`. */
export interface StartCleanupOptions {
  /** Name of the deployment. */
  readonly deployment: string;
  /** Task queue of the workers that run jobs. */
  readonly taskQueue: string;
  /** The validated policy; see `readPolicy`. */
  readonly policy: CleanupPolicy;
  /** `plan` changes nothing. */
  readonly mode: CleanupInput['mode'];
  /**
   * Id of the run, unique for this policy: 1 to 60 characters of `a-zA-Z0-9._:-`. A repeat with the same id returns the
   * first run. Default: a new id.
   */
  readonly runId?: string;
  /** Overrides of the default settings. Default: none. */
  readonly settings?: Partial<CleanupSettings>;
}

/**
 * Starts one cleanup. Safe to repeat with the same `runId`, as long as Temporal keeps the workflow. Without it, a
 * repetition is harmless: if two cleanups run at once, the later one does nothing.
 * @throws SandflowError `bad_policy` before anything is started
 * @example
 * const handle = await startCleanup(client, { deployment, taskQueue, policy, mode: 'apply' });
 * const { counts } = await handle.result();
 */
export async function startCleanup(client: Client, options: StartCleanupOptions): Promise<CleanupHandle> {
  requireClient(client);
  requireOptions(options, { taskQueue: 'a text', policy: 'an object' });
  const { deployment, taskQueue, policy, mode, settings } = options;
  checkCleanup(options);
  const runId = options.runId ?? `${new Date().toISOString()}-${randomBytes(2).toString('hex')}`;
  if (!runIdPattern.test(runId)) {
    const message = `The run id "${runId.slice(0, 80)}" must have 1 to 60 characters of a-z, A-Z, 0-9, ".", "_", ":" and "-".`;
    throw new SandflowError('bad_argument', message);
  }
  const workflowId = `${cleanupId(deployment, policy.name)}-${runId}`;
  const memo: CleanupMemo = { policy: policy.name, mode, acted: 0, fleet: null };
  try {
    return await client.workflow.start<(input: CleanupInput) => Promise<CleanupSummary>>(
      workflowTypes.retentionCleanup,
      {
        workflowId,
        taskQueue,
        args: [{ deployment, policy, mode, settings }],
        workflowIdConflictPolicy: 'FAIL',
        workflowIdReusePolicy: 'REJECT_DUPLICATE',
        memo: { ...memo },
        staticSummary: `${mode === 'plan' ? 'plan' : 'cleanup'} ${policy.name}`,
      },
    );
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return client.workflow.getHandle(workflowId);
    throw error;
  }
}

const runIdPattern = /^[a-zA-Z0-9._:-]{1,60}$/;

/** A run of a cleanup as lists show it. */
export interface CleanupListed {
  /** Id for `cleanupHandle`: the workflow id without the prefix of the deployment. */
  readonly id: string;
  /** `plan` or `apply`; null if it cannot be read. */
  readonly mode: CleanupInput['mode'] | null;
  /** `running`, or how the workflow ended. */
  readonly status: string;
  /** ISO 8601 time. */
  readonly startedAt: string;
  /** Number of actions done or about to be done; null if it cannot be read. */
  readonly acted: number | null;
  /** Why `mode` and `acted` cannot be read, such as a missing key; null if they can. */
  readonly unreadable: UnreadableMemo | null;
}

/**
 * Lists the running cleanups first, and then those that ended last. Visibility lags: a cleanup that was started a moment
 * ago may be missing.
 * @example
 * const [newest] = await listCleanups(client, { deployment, limit: 1 });
 */
export async function listCleanups(
  client: Client,
  { deployment, limit = 20 }: { readonly deployment: string; readonly limit?: number },
): Promise<CleanupListed[]> {
  checkDeployment(deployment);
  const prefix = cleanupPrefix(deployment);
  const query = `WorkflowType = '${workflowTypes.retentionCleanup}' AND WorkflowId STARTS_WITH '${prefix}'`;
  const found: CleanupListed[] = [];
  for await (const { workflowId, status, startTime, memo } of lenientClient(client).workflow.list({ query })) {
    if (status.name === 'CONTINUED_AS_NEW') continue;
    const { memo: readable, unreadable } = memoOf(memo);
    const { mode = null, acted = null } = readable as Partial<CleanupMemo>;
    const id = workflowId.slice(prefix.length);
    const startedAt = chainStart({ startTime, memo: readable }).toISOString();
    found.push({ id, mode, status: status.name.toLowerCase(), startedAt, acted, unreadable });
    if (found.length >= limit) break;
  }
  return found;
}

/**
 * A handle on a run. Sends no request.
 * @example
 * const { outcome } = await cleanupHandle(client, 'default', id).result();
 */
export function cleanupHandle(client: Client, deployment: string, id: string): CleanupHandle {
  checkDeployment(deployment);
  return client.workflow.getHandle(`${cleanupPrefix(deployment)}${id}`);
}

/**
 * Queries the progress of a cleanup. Needs a worker.
 * @example
 * const { phase, due } = await cleanupProgress(cleanupHandle(client, 'default', id));
 */
export function cleanupProgress(handle: CleanupHandle): Promise<CleanupProgress> {
  return queryOnce(handle, cleanupProgressQuery);
}
