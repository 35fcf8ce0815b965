/** A bounded list of sandboxes and prompts that may still run. It names the first entries and counts the rest. Pure. */
import type { LeftBehind } from '../../src/protocol/job/job-result.js';

const namedAtMost = 20;

/** Adds entries to `left` while there is room, and counts the others in `leftMore`. */
export function addLeft(list: { readonly left: LeftBehind[]; leftMore: number }, added: readonly LeftBehind[]): void {
  for (const one of added) {
    if (list.left.length < namedAtMost) list.left.push(one);
    else list.leftMore += 1;
  }
}
