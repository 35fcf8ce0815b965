/** What a job left behind, for the person who has to look after it. */
import type { LeftBehind } from '../../../workflows/job/types.js';
import { whatIsLeft } from '../../report/left-words.js';
import { oneLine } from './terminal-safe.js';

/** One line each: what may still run or exist, why that is so, and how to look after it. */
export function leftText(left: LeftBehind): string {
  const said = `left: ${oneLine(whatIsLeft(left))}. ${oneLine(left.why).replace(/\.?$/, '.')}`;
  if (left.sandboxId === null) return `${said} Look: sandflow sandboxes --name "${oneLine(left.sandboxName ?? '')}"`;
  const id = oneLine(left.sandboxId);
  return left.kind === 'sandbox'
    ? `${said} End it: sandflow stop ${id} --wait`
    : `${said} Look: sandflow sandboxes show ${id}`;
}
