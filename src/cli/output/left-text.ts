/** Describes what a job left behind. */
import type { LeftBehind } from '../../../workflows/job/types.js';
import { whatIsLeft } from '../../report/left-words.js';
import { oneLine } from './terminal-safe.js';

/** One line: what may still run or exist, why, and how to check or end it. */
export function leftText(left: LeftBehind): string {
  const said = `left: ${oneLine(whatIsLeft(left))}. ${oneLine(left.why).replace(/\.?$/, '.')}`;
  if (left.sandboxId === null) return `${said} Check: sandflow sandboxes --name "${oneLine(left.sandboxName ?? '')}"`;
  const id = oneLine(left.sandboxId);
  return left.kind === 'sandbox'
    ? `${said} End it: sandflow stop ${id} --wait`
    : `${said} Check: sandflow sandboxes show ${id}`;
}
