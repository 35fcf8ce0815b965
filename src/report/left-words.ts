/** Describes what a job left behind, in the same words for the terminal and the report. */
import type { LeftBehind } from '../protocol/job/job-result.js';

/** Describes what may still run or exist, without the reason. Names that others chose are not escaped. */
export function whatIsLeft({ kind, sandboxId, sandboxName, conversationId }: LeftBehind): string {
  if (sandboxId === null) return `a sandbox "${sandboxName ?? ''}" may exist`;
  const sandbox = `${sandboxId}${sandboxName === null ? '' : ` (${sandboxName})`}`;
  if (kind === 'sandbox') return `the sandbox ${sandbox} may still be running`;
  const where = conversationId === null ? '' : `, conversation ${conversationId}`;
  return `${kind === 'prompt' ? 'an agent may still be working' : 'a command may still be running'} in ${sandbox}${where}`;
}
