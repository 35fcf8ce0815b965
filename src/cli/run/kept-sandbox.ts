/** Says how the sandbox ends that a job has kept. */

import { isUsable } from '../../contract/workflow-safe/states.js';
import type { Platform } from '../connect/platform.js';
import type { WatchEnd } from '../output/finish.js';
import { pasteable } from '../output/pasteable.js';
import { programName } from '../program-name.js';
import { formatDuration } from '../units.js';

const timeoutMs = 5_000;

/**
 * Reads the sandbox once.
 * @returns undefined if the job kept no sandbox, or left one that is named otherwise. Never throws
 */
export async function keptNotice({ service }: Pick<Platform, 'service'>, end: WatchEnd): Promise<string | undefined> {
  if (end.kind !== 'ended') return undefined;
  const { sandboxId, stop, deletion, left } = end.result;
  if (sandboxId === null || stop !== null || deletion !== null || left.some(({ kind }) => kind === 'sandbox')) {
    return undefined;
  }
  const stopIt = `stop it: ${programName} stop ${pasteable(sandboxId, 'SANDBOX')}`;
  try {
    const { state, archiveAfter } = (await service.getSandbox(sandboxId, { timeoutMs })).sandbox;
    if (!isUsable(state)) return undefined;
    if (archiveAfter == null) return `The sandbox has no auto-stop; ${stopIt}`;
    const leftMs = Math.max(0, Date.parse(archiveAfter) - Date.now());
    return `The sandbox stops itself in ${formatDuration(leftMs)} if no agent works in it; ${stopIt}`;
  } catch {
    return `The sandbox may still run; ${stopIt}`;
  }
}
