/** Creates the record of a sandbox once a create or a fork is accepted. */
import type { CreateSandboxBody } from '../../../src/contract/requests/sandbox-requests.js';
import type { Caller } from '../access/key-scope.js';
import { freshArchiveAfter } from '../core/change-sandbox.js';
import type { Context } from '../core/context.js';
import { newMeter } from '../core/cost.js';
import { newSandboxId, subdomainOf } from '../core/ids.js';
import { attachment } from '../environments/pin.js';
import { ServiceError } from '../service-error.js';
import type { SandboxRecord } from '../store/sandbox-record.js';

/** Waits for the time that acceptance takes. Then throws if a fault makes the create fail before the sandbox exists. */
export async function beginAcceptance({ timings, clock, closing, faults }: Context): Promise<void> {
  if (timings.acceptMs > 0) await clock.delay(timings.acceptMs, closing);
  if (faults.take('create_fails')) throw new ServiceError(500, 'http_500', 'The sandbox could not be created.');
}

/**
 * @param options.restoreFrom the snapshot that its disk is restored from; null for an empty disk
 * @param options.inherited what a fork inherits from its source
 */
export function newSandbox(
  context: Context,
  body: CreateSandboxBody,
  options: {
    readonly caller: Caller;
    readonly restoreFrom: string | null;
    readonly inherited?: Partial<SandboxRecord>;
  },
): SandboxRecord {
  let id = newSandboxId();
  while (context.stores.sandboxes.find(id)) id = newSandboxId();
  const now = context.clock.iso();
  const subdomain = subdomainOf(id);
  const ttlSeconds = body.ttlSeconds ?? null;
  const { accountId, keyId } = options.caller;
  const team = context.stores.accounts.teamOf(accountId);
  return {
    id,
    ownerId: accountId,
    teamId: team?.id ?? null,
    madePrivate: team?.newSandboxesPrivate ?? false,
    createdByKeyId: keyId,
    name: context.deviations.has('A-create-fields') ? subdomain : (body.name ?? subdomain),
    state: 'init',
    error: null,
    type: body.type ?? 'default',
    ttlSeconds,
    archiveAfter: freshArchiveAfter(context.clock, ttlSeconds),
    snapshots: body.snapshots ?? true,
    monitoring: body.monitoring ?? true,
    environment: null,
    environmentId: null,
    environmentVersionId: null,
    environmentVersion: null,
    secretFilePaths: [],
    loginsWiped: false,
    wipePendingUntilRestart: false,
    createdAt: now,
    updatedAt: now,
    dataExpiredAt: null,
    hydrated: options.restoreFrom === null,
    hydratedAt: null,
    hydrationStartedAt: null,
    hydrationEntries: null,
    hydrationSetback: null,
    degraded: null,
    sshKeys: [],
    sshEndpoint: null,
    snapshotId: null,
    pendingSnapshotId: null,
    snapshotCompletedAt: null,
    snapshotVerifiedAt: null,
    lastSnapshotAttemptAt: null,
    lastSnapshotStatus: null,
    nextSnapshotName: null,
    setupScript: body.setupScript ?? null,
    setupStatus: body.setupScript === undefined ? null : 'pending',
    setupError: null,
    subdomain,
    stop: null,
    restoreFrom: options.restoreFrom,
    copyingFrom: null,
    epoch: 1,
    meter: newMeter(new Date(now)),
    fate: fateOfNext(context),
    gone: null,
    ...(options.inherited ?? attachment(context, body, options)),
  };
}

function fateOfNext({ faults }: Context): SandboxRecord['fate'] {
  if (faults.take('create_cancelled')) return { end: 'cancelled' };
  const error = faults.take('boot_error');
  return error ? { end: 'error', recoverMs: error.recoverMs ?? null } : null;
}
