/** Times of a sandbox as text. */
import type { Sandbox } from '../../contract/records.js';
import { isUsable } from '../../contract/states.js';
import { formatDuration } from '../duration.js';

/** How long ago; empty if the time is unknown. */
export function ageText(at: string | null | undefined, nowMs: number): string {
  if (at == null) return '';
  return durationText(nowMs - Date.parse(at));
}

/** Time until auto-stop: `off` if disabled, empty if the sandbox does not run. */
export function ttlLeftText(sandbox: Pick<Sandbox, 'state' | 'archiveAfter'>, nowMs: number): string {
  if (!isUsable(sandbox.state)) return '';
  return sandbox.archiveAfter == null ? 'off' : durationText(Date.parse(sandbox.archiveAfter) - nowMs);
}

const dayMs = 86_400_000;

function durationText(ms: number): string {
  if (Number.isNaN(ms)) return '?';
  const past = Math.max(0, ms);
  return past < 2 * dayMs ? formatDuration(Math.floor(past / 1_000) * 1_000) : `${Math.floor(past / dayMs)} d`;
}
