/** Describes how a job left its sandbox, and what else it left behind. */
import type { JobResult, LeftBehind } from '../protocol/job/job-result.js';

const keptWords = { saved: 'saved', stale: 'saved in an older state', none: 'not saved' } as const;

/** @returns null if the sandbox was neither stopped nor deleted. States of the service are not escaped. */
export function endOfSandbox({ stop, deletion }: Pick<JobResult, 'stop' | 'deletion'>): string | null {
  if (deletion) return `deletion ${deletion.status}`;
  return stop && `stop ${stop.status}${stop.kept ? `, work ${keptWords[stop.kept]}` : ''}`;
}

/** Describes what may still run or exist, without the reason. Names that others chose are not escaped. */
export function whatIsLeft({ kind, sandboxId, sandboxName, conversationId }: LeftBehind): string {
  if (sandboxId === null) return `a sandbox "${sandboxName ?? ''}" may exist`;
  const sandbox = `${sandboxId}${sandboxName === null ? '' : ` (${sandboxName})`}`;
  if (kind === 'sandbox') return `the sandbox ${sandbox} may still be running`;
  const where = conversationId === null ? '' : `, conversation ${conversationId}`;
  return `${kind === 'prompt' ? 'an agent may still be working' : 'a command may still be running'} in ${sandbox}${where}`;
}

/** What may still run or exist, and why. Texts that others chose are not escaped. */
export function leftSentence(left: LeftBehind): string {
  return `${whatIsLeft(left)}: ${left.why}`;
}
