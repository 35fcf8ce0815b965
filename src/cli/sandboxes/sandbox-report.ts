/** The fields that `--json` prints of a sandbox: those known to contain no secret. */
import type { Sandbox } from '../../contract/records.js';

const shown = [
  ...(['id', 'name', 'state', 'error', 'health', 'healthReason', 'degradedSince'] as const),
  ...(['hydrated', 'hydratedAt', 'hydration', 'type', 'vcpu', 'memoryGB', 'machineProvider', 'ip'] as const),
  ...(['sshEndpoint', 'subdomain', 'createdAt', 'updatedAt', 'archiveAfter', 'ttlSeconds'] as const),
  ...(['dataExpiredAt', 'snapshots', 'snapshotAvailable', 'snapshotCompletedAt', 'snapshotVerifiedAt'] as const),
  ...(['lastSnapshotAttemptAt', 'lastSnapshotStatus', 'monitoring', 'team', 'createdBy', 'createdById'] as const),
  ...(['access', 'visibility', 'holdsCreatorLogins', 'wipePendingUntilRestart', 'cost'] as const),
  ...(['setupStatus', 'setupError', 'environment', 'environmentVersion', 'stop', 'desktopAvailable'] as const),
] satisfies readonly (keyof Sandbox)[];

export type SandboxReport = Pick<Sandbox, (typeof shown)[number]>;

export function sandboxReport(sandbox: Sandbox): SandboxReport {
  const known: Readonly<Record<string, unknown>> = sandbox;
  return Object.fromEntries(shown.filter((name) => name in known).map((name) => [name, known[name]])) as SandboxReport;
}
