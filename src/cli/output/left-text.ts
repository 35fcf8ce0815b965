/** What a job left behind, for the person who has to look after it. */
import type { LeftBehind } from '../../../workflows/job.js';
import { oneLine } from './terminal-safe.js';

/** One line each: what may still run or exist, why that is so, and how to look after it. */
export function leftText({ kind, sandboxId, sandboxName, conversationId, why }: LeftBehind): string {
  const name = sandboxName === null ? '' : oneLine(sandboxName);
  const reason = oneLine(why).replace(/\.?$/, '.');
  if (sandboxId === null) {
    return `left: a sandbox "${name}" may exist. ${reason} Look: sandflow sandboxes --name "${name}"`;
  }
  const sandbox = `${oneLine(sandboxId)}${name === '' ? '' : ` (${name})`}`;
  if (kind === 'sandbox') {
    return `left: the sandbox ${sandbox} may still run. ${reason} End it: sandflow stop ${oneLine(sandboxId)} --wait`;
  }
  const where = conversationId === null ? '' : `, conversation ${oneLine(conversationId)}`;
  const worker = kind === 'prompt' ? 'an agent may still work' : 'a command may still run';
  return `left: ${worker} in ${sandbox}${where}. ${reason} Look: sandflow sandboxes show ${oneLine(sandboxId)}`;
}
