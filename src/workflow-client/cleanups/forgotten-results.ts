/**
 * Removes from the result store the folders of jobs and batches that Temporal has forgotten. Two removals at once do no
 * harm: each removes only what both may, and an object that is gone is no error.
 */
import type { Client } from '@temporalio/client';
import type { ResultRemoval } from '../../protocol/cleanup.js';
import type { ResultStore } from '../../result-store/index.js';
import { foldersOf, type ResultFolder, refused, requireKnown, requireProof } from '../../retention/forgotten.js';
import { isNotFound, isPermissionDenied } from '../../temporal/errors.js';
import { putByDigest } from '../store-texts.js';

interface RemovalOptions {
  readonly deployment: string;
  readonly olderThanMs: number | undefined;
  readonly maxFolders: number;
  readonly maxPercent: number;
  readonly dryRun: boolean | undefined;
  readonly signal: AbortSignal;
  /** Called before something is removed. If it throws, nothing is. */
  readonly onDue?: (due: readonly ResultFolder[]) => Promise<void>;
}

/** @throws SandflowError `refused`; errors of Temporal's client and of the store while nothing is removed yet */
export async function removeForgotten(
  client: Client,
  results: ResultStore,
  { deployment, olderThanMs, maxFolders, maxPercent, dryRun, signal, onDue }: RemovalOptions,
): Promise<ResultRemoval> {
  const [list, remove] = [results.listEach?.bind(results), results.remove?.bind(results)];
  if (!list || !remove) throw refused('this store has no `listEach` and `remove`');
  const asked = await readNamespace(client);
  const marks = (await results.list(`namespaces/${deployment}`)).map(({ key }) => key);
  const nowMs = Date.now();
  const beforeMs = nowMs - requireProof(asked, marks, olderThanMs);
  const done = { folders: 0, removed: 0, objects: 0, bytes: 0 };
  const found: ResultFolder[] = [];
  let newest: ResultFolder[] = [];
  for (const start of [`sf-${deployment}-`, `fanout/sf-${deployment}-`]) {
    for await (const folder of foldersOf(list(start), deployment)) {
      signal.throwIfAborted();
      done.folders += 1;
      // A time in the future is none at which a job ran.
      if (folder.newestMs > nowMs - asked.retentionMs && folder.newestMs <= nowMs)
        newest = [...newest, folder].sort((a, b) => b.newestMs - a.newestMs).slice(0, 10);
      if (!(folder.newestMs < beforeMs) || found.length >= maxFolders) continue;
      if (await isForgotten(client, folder.workflowId)) found.push(folder);
    }
  }
  if (found.length === 0) return { ...done, problem: null };
  const unknown = await Promise.all(newest.map(({ workflowId }) => isForgotten(client, workflowId)));
  requireKnown(newest.length, unknown.filter((isUnknown) => !isUnknown).length);
  const due = found.slice(0, Math.floor((done.folders * maxPercent) / 100));
  if (due.length === 0) throw refused(`${maxPercent} percent of ${done.folders} folders is less than one`);
  await onDue?.(due);

  let problem: string | null = null;
  const removeFolder = async ({ folder, workflowId }: ResultFolder) => {
    signal.throwIfAborted();
    if (!(await isForgotten(client, workflowId))) return;
    let stayed = 0;
    const before = done.objects;
    for await (const object of list(folder)) {
      signal.throwIfAborted();
      // A job of the same id may have started since.
      if (!(object.writtenMs < beforeMs && object.key.startsWith(folder))) continue;
      if (dryRun || (await remove(object))) {
        done.objects += 1;
        done.bytes += object.size;
      } else if ((await results.find(object.key)) !== null) stayed += 1;
    }
    if (stayed > 0) problem ??= `${folder}: the store did not remove ${stayed} of its objects`;
    else if (done.objects > before) done.removed += 1;
  };
  for (const folder of due)
    await removeFolder(folder).catch((error) => {
      problem ??= error instanceof Error ? error.message : String(error);
    });
  return { ...done, problem };
}

/** True if Temporal has neither the workflow nor a part of it. Such an id has only letters, digits and dashes. */
function isForgotten(client: Client, workflowId: string): Promise<boolean> {
  const { namespace } = client.options;
  return client.withDeadline(Date.now() + 10_000, async () => {
    try {
      await client.workflowService.describeWorkflowExecution({ namespace, execution: { workflowId } });
      return false;
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
    // An earlier run may still be there, if somebody has deleted the newest one.
    const query = `WorkflowId = '${workflowId}' OR WorkflowId STARTS_WITH '${workflowId}/'`;
    return Number((await client.workflowService.countWorkflowExecutions({ namespace, query })).count) === 0;
  });
}

async function readNamespace({ options: { namespace }, workflowService }: Client) {
  const { namespaceInfo, config } = await workflowService.describeNamespace({ namespace });
  const retentionMs = Number(config?.workflowExecutionRetentionTtl?.seconds ?? Number.NaN) * 1_000;
  return { id: namespaceInfo?.id ?? '', retentionMs };
}

/** Tells the store, by an object, that workers of this namespace use it: another one, or a new one, knows none of their jobs. */
export async function markNamespace(client: Client, results: ResultStore, deployment: string): Promise<void> {
  const { id } = await readNamespace(client).catch((error: unknown) => {
    if (!isPermissionDenied(error)) throw error;
    // No namespace has this id, so nothing is removed then.
    return { id: 'unknown' };
  });
  const key = `namespaces/${deployment}/${id}`;
  if ((await results.find(key)) === null) await putByDigest(results, key, Buffer.from(client.options.namespace));
}
