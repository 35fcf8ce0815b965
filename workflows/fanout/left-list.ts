/** A bounded list of sandboxes and prompts that may still run. It names the first entries and counts the rest. Pure. */
import type { LeftBehind } from '../../src/protocol/job/job-result.js';

export class LeftList {
  private readonly named: LeftBehind[];

  /** @param atMost how many entries are named. Default 20 */
  constructor(
    named: readonly LeftBehind[] = [],
    private more = 0,
    private readonly atMost = 20,
  ) {
    this.named = named.slice(0, atMost);
    this.more += named.length - this.named.length;
  }

  add(left: readonly LeftBehind[], more = 0): void {
    this.more += more;
    for (const one of left) {
      if (this.named.length < this.atMost) this.named.push(one);
      else this.more += 1;
    }
  }

  get all(): { readonly left: readonly LeftBehind[]; readonly leftMore: number } {
    return { left: this.named, leftMore: this.more };
  }
}
