/**
 * Fork: a new sandbox that begins with the files of another one (specification, POST /sandboxes/{sandboxId}/fork).
 *
 * The disk of a usable source is copied before the call is answered. So the fork begins with the state that its caller
 * saw. Data that is written after the answer belongs only to the source. A separate program makes the copy. Meanwhile
 * calls to the source continue, and only its archival and the next copy wait.
 */

import type { ForkBody } from '../../../src/contract/requests/sandbox-requests.js';
import { isUsable } from '../../../src/contract/workflow-safe/states.js';
import { type Caller, requireSandboxOnKey } from '../access/key-scope.js';
import { sandboxFor } from '../access/sandbox-access.js';
import { requireStandingToCreate } from '../accounts/billing-status.js';
import { refuseOverLimit } from '../accounts/limits.js';
import { assume } from '../core/assume.js';
import { changeSandbox } from '../core/change-sandbox.js';
import type { Context } from '../core/context.js';
import { acceptOnce, bodyHash } from '../core/idempotency.js';
import { newSnapshotId } from '../core/ids.js';
import { reasonOf } from '../log.js';
import { ServiceError } from '../service-error.js';
import { recordSnapshot } from '../snapshots/snapshots.js';
import type { SandboxRecord } from '../store/sandbox-record.js';
import { scheduleBoot } from './boot.js';
import { beginAcceptance, newSandbox } from './new-record.js';

/** How long a copy is kept if the service ends before it records the fork, in ms. */
const orphanMs = 3_600_000;

interface Copy {
  readonly snapshotId: string;
  /** Records the snapshot for the source; part of the current transaction. */
  readonly record: (source: SandboxRecord) => void;
}

/**
 * Forks a sandbox, or returns the fork of an earlier call with the same key. Fields that the body leaves out are those
 * of the source.
 * @param options.sentBody the unchanged body of the request, which is compared with the body of the first call with the
 * key
 * @throws ServiceError `fork_failed` if the source is neither usable nor archived, if it is archived without a
 *   snapshot, or if its disk cannot be copied; `snapshot_data_expired`; 403 `api_key_sandbox_forbidden` for a repeated
 *   call of a key that does not reach the source
 */
export async function forkSandbox(
  context: Context,
  sourceId: string,
  options: {
    readonly body: ForkBody;
    readonly caller: Caller;
    readonly idempotencyKey: string | undefined;
    readonly sentBody: unknown;
  },
): Promise<SandboxRecord> {
  const { caller, idempotencyKey, sentBody } = options;
  const call = { caller, idempotencyKey, fingerprint: `fork ${sourceId} ${bodyHash(sentBody)}` };
  // The key is checked first, so that a repeated call finds its fork even if the source no longer exists.
  const accepted = await acceptOnce(context, call, async (complete) => {
    const source = () => {
      const found = sandboxFor(context, caller, sourceId, 'owner');
      refuseUnforkable(found);
      return found;
    };
    const { type, ttlSeconds } = source();
    const wanted = options.body;
    requireStandingToCreate(context, caller.accountId, {
      type: wanted.type ?? type,
      ttlSeconds: wanted.ttlSeconds === undefined ? ttlSeconds : wanted.ttlSeconds,
    });
    refuseOverLimit(context, caller);
    await beginAcceptance(context);
    return context.locks.run(sourceId, async () => {
      const copy = await copyOf(context, source());
      return context.database.transaction(() => {
        refuseOverLimit(context, caller);
        const now = source();
        copy.record(now);
        const sandbox = newFork(context, now, { ...options, restoreFrom: copy.snapshotId });
        context.stores.sandboxes.put(sandbox);
        complete(sandbox.id);
        scheduleBoot(context, sandbox);
        return sandbox;
      });
    });
  });
  // The caller that repeats an idempotency key need not be the caller that first sent it. A key that reaches the source
  // gets the fork, as with the first call, even if it does not reach the fork.
  requireSandboxOnKey(caller, context.stores.sandboxes.find(sourceId) ?? accepted);
  return accepted;
}

function refuseUnforkable(source: SandboxRecord): void {
  if (source.dataExpiredAt !== null) {
    const message = `The data of the sandbox ${source.id} was deleted on ${source.dataExpiredAt}.`;
    throw new ServiceError(409, 'snapshot_data_expired', message);
  }
  if (isUsable(source.state)) return;
  assume('A-fork');
  if (source.state !== 'archived') {
    const message = `The sandbox is ${source.state}. It can be forked only while it is ready, idle, running or archived.`;
    throw new ServiceError(409, 'fork_failed', message);
  }
  if (source.snapshotId === null) {
    throw new ServiceError(409, 'fork_failed', 'The sandbox has no snapshot, so it cannot be forked.');
  }
}

async function copyOf(context: Context, source: SandboxRecord): Promise<Copy> {
  const { stores, host, clock } = context;
  if (source.state === 'archived' && source.snapshotId !== null) {
    return { snapshotId: source.snapshotId, record: () => undefined };
  }
  assume('A-fork-moment');
  const snapshotId = newSnapshotId();
  const createdAt = clock.iso();
  context.schedule('drop_snapshot', snapshotId, '', clock.now() + orphanMs);
  try {
    const { sizeBytes } = await host.takeSnapshot(source.id, snapshotId);
    return {
      snapshotId,
      record(now) {
        stores.work.cancel('drop_snapshot', snapshotId);
        // If the source has snapshots off, the copy is removed once the fork's disk has been restored from it.
        if (!now.snapshots) return;
        const kept = recordSnapshot(context, now, { snapshotId, sizeBytes, createdAt });
        changeSandbox(context, now, { ...kept, forkCopyIds: [...(now.forkCopyIds ?? []), snapshotId] });
      },
    };
  } catch (cause) {
    const now = stores.sandboxes.get(source.id);
    if (now?.snapshots && !context.closing.aborted) {
      changeSandbox(context, now, { lastSnapshotStatus: 'failed', lastSnapshotAttemptAt: clock.iso() });
    }
    throw new ServiceError(409, 'fork_failed', `The disk could not be copied: ${reasonOf(cause)}`, { cause });
  }
}

function newFork(
  context: Context,
  source: SandboxRecord,
  options: { readonly body: ForkBody; readonly caller: Caller; readonly restoreFrom: string },
): SandboxRecord {
  const { body, caller, restoreFrom } = options;
  return newSandbox(
    context,
    {
      name: body.name ?? source.name,
      type: body.type ?? source.type,
      ttlSeconds: body.ttlSeconds === undefined ? source.ttlSeconds : body.ttlSeconds,
      snapshots: body.snapshots ?? source.snapshots,
      monitoring: body.monitoring ?? source.monitoring,
    },
    {
      caller,
      restoreFrom,
      inherited: whatItsDiskHolds(context, source),
    },
  );
}

/**
 * The fields that a fork inherits together with the disk: the environment whose files and logins are on the disk, the
 * conversations that agents keep there, and the visibility.
 */
function whatItsDiskHolds({ stores }: Context, source: SandboxRecord): Partial<SandboxRecord> {
  const conversations = [...(source.inheritedConversations ?? []), ...stores.prompts.conversationsOf(source.id)];
  return {
    inheritedConversations: [...new Set(conversations)],
    environment: source.environment,
    environmentId: source.environmentId,
    environmentVersionId: source.environmentVersionId,
    environmentVersion: source.environmentVersion,
    secretFilePaths: source.secretFilePaths,
    loginsWiped: source.loginsWiped,
    teamId: source.teamId,
    madePrivate: source.madePrivate,
    wipePendingUntilRestart: source.wipePendingUntilRestart,
  };
}
