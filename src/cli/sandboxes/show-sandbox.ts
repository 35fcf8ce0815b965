import type { Sandbox } from '../../contract/records/sandbox-records.js';
import { isUsable } from '../../contract/workflow-safe/states.js';
import type { CommandContext, JsonOption } from '../command.js';
import { withService } from '../connect/with-service.js';
import { printJson } from '../output/json.js';
import { setIn } from '../output/terminal-safe.js';
import { ageText, formatAge } from '../units.js';

/** Fields that `--json` prints. They are known to contain no secret. */
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

export async function showSandbox(sandboxId: string, options: JsonOption, context: CommandContext): Promise<void> {
  const { io } = context;
  const signal = io.interrupted;
  const { sandbox } = await withService(context, ({ reads }) => reads.getSandbox(sandboxId, { signal }));
  if (options.json) return printJson(io.stdout, { sandbox: sandboxReport(sandbox), error: null });
  for (const [label, text] of linesOf(sandbox, Date.now())) {
    io.stdout.write(`${label.padEnd(13)}${setIn(text, ' '.repeat(13))}\n`);
  }
}

/** Time until auto-stop: `off` if disabled, empty if the sandbox does not run. */
export function ttlLeftText(sandbox: Pick<Sandbox, 'state' | 'archiveAfter'>, nowMs: number): string {
  if (!isUsable(sandbox.state)) return '';
  return sandbox.archiveAfter == null ? 'off' : formatAge(Date.parse(sandbox.archiveAfter) - nowMs);
}

type Line = readonly [label: string, text: string];

/** One line per fact. Normal values are omitted. */
export function linesOf(sandbox: Sandbox, nowMs: number): Line[] {
  const { error, health, healthReason, setupStatus, setupError, access, visibility, team } = sandbox;
  const lines: readonly (readonly [string, string | null])[] = [
    ['id', sandbox.id],
    ['name', sandbox.name ?? null],
    ['state', sentence(sandbox.state, error)],
    ['health', health === undefined || health === 'ok' ? null : sentence(health, healthReason)],
    ['files', filesText(sandbox)],
    ['created', timeText(sandbox.createdAt, nowMs, sandbox.createdBy)],
    ['stops', ttlLeftText(sandbox, nowMs) && stopsText(sandbox, nowMs)],
    ['machine', machineText(sandbox)],
    ['ssh', sandbox.sshEndpoint ?? null],
    ['environment', environmentText(sandbox)],
    ['setup', setupStatus == null ? null : sentence(setupStatus, setupError)],
    ['access', [access, visibility, team?.name].filter(Boolean).join(', ')],
    ['snapshot', snapshotText(sandbox, nowMs)],
    ['last stop', lastStopText(sandbox, nowMs)],
  ];
  return lines.filter((line): line is Line => Boolean(line[1]));
}

const sentence = (what: string, why: string | null | undefined) => (why ? `${what}: ${why}` : what);

function timeText(at: string | null | undefined, nowMs: number, by?: string | null): string | null {
  return at == null ? null : `${ageText(at, nowMs)} ago (${at})${by ? ` by ${by}` : ''}`;
}

function stopsText(sandbox: Sandbox, nowMs: number): string {
  const { archiveAfter } = sandbox;
  return archiveAfter == null ? 'never automatically' : `in ${ttlLeftText(sandbox, nowMs)} (${archiveAfter})`;
}

function filesText({ hydrated, hydration }: Sandbox): string | null {
  if (hydrated !== false) return null;
  const percent = hydration?.percent == null ? '' : `, ${hydration.percent} %`;
  return `still being restored${hydration ? ` (${hydration.phase}${percent})` : ''}`;
}

function machineText({ type, vcpu, memoryGB, machineProvider, ip }: Sandbox): string {
  const size = [vcpu === undefined ? '' : `${vcpu} vCPU`, memoryGB === undefined ? '' : `${memoryGB} GB`];
  return [type, ...size, machineProvider, ip].filter(Boolean).join(', ');
}

function environmentText({ environment, environmentVersion }: Sandbox): string | null {
  if (environment == null) return null;
  return environmentVersion == null ? environment : `${environment}, version ${environmentVersion}`;
}

function snapshotText(sandbox: Sandbox, nowMs: number): string {
  const { snapshots, snapshotAvailable, snapshotCompletedAt, snapshotVerifiedAt, lastSnapshotStatus } = sandbox;
  const expired = sandbox.dataExpiredAt == null ? '' : `, data deleted ${sandbox.dataExpiredAt}`;
  if (snapshots === false) return 'off: a stop saves nothing';
  const verified = snapshotVerifiedAt ?? snapshotCompletedAt;
  const kept = snapshotAvailable
    ? `kept${verified == null ? '' : `, verified ${ageText(verified, nowMs)} ago`}`
    : 'none';
  const last =
    lastSnapshotStatus == null || lastSnapshotStatus === 'completed' ? '' : `; last attempt ${lastSnapshotStatus}`;
  return `${kept}${expired}${last}`;
}

function lastStopText({ stop }: Sandbox, nowMs: number): string | null {
  if (stop == null) return null;
  const asked = stop.requestedAt == null ? '' : `, requested ${ageText(stop.requestedAt, nowMs)} ago`;
  const ended = stop.endedAt == null ? '' : `, ended ${ageText(stop.endedAt, nowMs)} ago`;
  return sentence(`${stop.id} ${stop.status}${asked}${ended}`, stop.error);
}
