/** What a job left behind, in words that the terminal and the report share. */
import type { LeftBehind } from '../../workflows/job/types.js';

/** Says what may still run or exist, without the reason. The names of others are in it as they are. */
export function whatIsLeft({ kind, sandboxId, sandboxName, conversationId }: LeftBehind): string {
  if (sandboxId === null) return `a sandbox "${sandboxName ?? ''}" may exist`;
  const sandbox = `${sandboxId}${sandboxName === null ? '' : ` (${sandboxName})`}`;
  if (kind === 'sandbox') return `the sandbox ${sandbox} may still run`;
  const where = conversationId === null ? '' : `, conversation ${conversationId}`;
  return `${kind === 'prompt' ? 'an agent may still work' : 'a command may still run'} in ${sandbox}${where}`;
}
