/**
 * A sandbox as the service shows it to a caller (specification, "Sandbox"). The view is made from records and reads no
 * disk.
 */

import { machineTypes } from '../../../src/contract/workflow-safe/machine-types.js';
import { isUsable } from '../../../src/contract/workflow-safe/states.js';
import { accessToken } from '../access/access-tokens.js';
import type { Caller } from '../access/key-scope.js';
import { type Access, accessOf, holdsLogins, visibilityOf } from '../access/sandbox-access.js';
import { assume } from '../core/assume.js';
import type { Core } from '../core/context.js';
import { hasMachine } from '../core/machine-states.js';
import { hostedUrl } from '../hosting/hosted-names.js';
import { tokenName } from '../hosting/hosted-request.js';
import { supportsDesktop } from '../machine/index.js';
import type { SandboxRecord, StopRecord } from '../store/sandbox-record.js';

export type SandboxView = Readonly<Record<string, unknown>>;

type Shown = Pick<Core, 'stores' | 'servicePort' | 'host'>;

/** Records are never changed in place, so a cached view stays valid. */
const texts = new WeakMap<SandboxRecord, Partial<Record<Access, string>>>();

/** The JSON of a sandbox, for lists; created once for each record and level of access. */
export function sandboxJson(context: Shown, caller: Caller, record: SandboxRecord): string {
  assumeView(record);
  const access = accessOf(context, caller.accountId, record) ?? 'view';
  const known = texts.get(record) ?? {};
  texts.set(record, known);
  known[access] ??= JSON.stringify(sandboxView(context, caller, record));
  return known[access];
}

/** The sandbox shows `requestedAt` as null once its stop has ended. The stop itself, read by its id, keeps it. */
function stopOnSandbox(stop: StopRecord | null): SandboxView | null {
  return stop && { ...stop, requestedAt: stop.endedAt === null ? stop.requestedAt : null };
}

export function sandboxView(context: Shown, caller: Caller, record: SandboxRecord): SandboxView {
  assumeView(record);
  const access = accessOf(context, caller.accountId, record) ?? 'view';
  const machine = machineTypes[record.type];
  return {
    id: record.id,
    name: record.name,
    state: record.state,
    error: record.error,
    dataExpiredAt: record.dataExpiredAt,
    health: record.degraded === null ? 'ok' : 'degraded',
    healthReason: record.degraded?.reason ?? null,
    degradedSince: record.degraded?.since ?? null,
    hydrated: record.hydrated,
    hydratedAt: record.hydratedAt,
    hydration: null,
    type: record.type,
    vcpu: machine.vcpu,
    memoryGB: machine.memoryGB,
    billingMultiplier: machine.multiplier,
    ...machineView(context, record),
    sshEndpoint: record.sshEndpoint,
    createdAt: record.createdAt,
    updatedAt: record.updatedAt,
    archiveAfter: record.archiveAfter,
    ttlSeconds: record.ttlSeconds,
    desktopAvailable: hasDesktop(context, record),
    desktopUrl: null,
    snapshots: record.snapshots,
    monitoring: record.monitoring,
    snapshotAvailable: record.snapshotId !== null,
    snapshotCompletedAt: record.snapshotCompletedAt,
    snapshotVerifiedAt: record.snapshotVerifiedAt ?? record.snapshotCompletedAt,
    lastSnapshotAttemptAt: record.lastSnapshotAttemptAt,
    lastSnapshotStatus: record.lastSnapshotStatus,
    ...accessView(context, record, access),
    subdomain: record.subdomain,
    setupStatus: record.setupStatus,
    setupError: record.setupError,
    environment: record.environmentId === null ? null : record.environment,
    environmentVersion: record.environmentVersion,
    stop: stopOnSandbox(record.stop),
    ...(record.gone === 'deleting' || record.gone === 'deleted' ? deletedView(record) : {}),
  };
}

/** Only the answer to a repeated create or fork shows a deleted sandbox: as archived, and without its data. */
function deletedView({ updatedAt }: SandboxRecord): SandboxView {
  assume('A-deleted-key');
  const error = 'The sandbox was deleted.';
  return { state: 'archived', error, dataExpiredAt: updatedAt, archiveAfter: null, snapshotAvailable: false };
}

function assumeView({ state }: SandboxRecord): void {
  if (state === 'init') assume('A-init-state');
  assume('A-created-by');
  assume('A-machine');
}

/**
 * The machine of a sandbox is a part of the machine on which the local service runs. Assumptions: the provider, the
 * loopback address, and that only a read of the sandbox itself shows the token of the URL.
 */
function machineView({ servicePort }: Shown, sandbox: SandboxRecord): SandboxView {
  if (!hasMachine(sandbox)) return { machineProvider: null, url: null, ip: null };
  return { machineProvider: 'baremetal', url: hostedUrl(sandbox, 'machine', servicePort()), ip: '127.0.0.1' };
}

/** Fields that bear secrets. They replace those of `sandboxView` when one sandbox is read. */
export function secretView(context: Shown & Pick<Core, 'clock'>, caller: Caller, sandbox: SandboxRecord): SandboxView {
  if (!hasMachine(sandbox)) return {};
  const token = accessToken(context, caller, { sandbox, action: 'host' });
  if (token !== undefined) assume('A-hosted-url');
  const url = hostedUrl(sandbox, 'machine', context.servicePort());
  const desktopUrl = context.host.desktopOf(sandbox.id) && desktopUrlFor(context, caller, sandbox);
  return {
    ...(token === undefined ? {} : { url: `${url}?${tokenName}=${token}` }),
    ...(desktopUrl === undefined ? {} : { desktopUrl }),
  };
}

/** The page of the desktop, with its token. Undefined if the caller may not see the desktop. */
export function desktopUrlFor(
  context: Shown & Pick<Core, 'clock'>,
  caller: Caller,
  sandbox: SandboxRecord,
): string | undefined {
  const token = accessToken(context, caller, { sandbox, action: 'desktop' });
  return token && `${hostedUrl(sandbox, 'desktop', context.servicePort())}?${tokenName}=${token}`;
}

function hasDesktop({ host }: Shown, sandbox: SandboxRecord): boolean {
  return supportsDesktop(host.desktop) && isUsable(sandbox.state) && sandbox.gone === null;
}

/** Assumption: the display name of the creator is its login. */
function accessView(
  context: Pick<Core, 'stores'>,
  sandbox: SandboxRecord,
  access: Access,
): Readonly<Record<string, unknown>> {
  const { accounts, teams } = context.stores.accounts;
  const { ownerId, teamId, wipePendingUntilRestart } = sandbox;
  const team = teamId === null ? undefined : teams.get(teamId);
  return {
    team: team ? { id: team.id, name: team.name } : null,
    createdBy: accounts.get(ownerId)?.login ?? null,
    createdById: ownerId,
    access,
    holdsCreatorLogins: holdsLogins(context, sandbox),
    visibility: visibilityOf(context, sandbox),
    wipePendingUntilRestart,
  };
}
