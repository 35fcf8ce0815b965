/** What machine-time costs, as the service itself counts it. */
import type { SandboxClient } from '../../../client/index.js';

const timeoutMs = 5_000;

/**
 * Dollars a machine-second at list price, from what this month has cost so far; null where nothing has, or the key may
 * not see it. Never throws: a price is worth no failure.
 */
export async function findDollarsPerSecond(service: Pick<SandboxClient, 'listSandboxes'>): Promise<number | null> {
  try {
    const { sandboxes } = await service.listSandboxes({ include: 'cost' }, { timeoutMs });
    const costs = sandboxes.flatMap(({ cost }) => (cost && cost.seconds > 0 && cost.dollars > 0 ? [cost] : []));
    const [first] = costs.sort((a, b) => b.seconds - a.seconds);
    return first ? first.dollars / first.seconds : null;
  } catch {
    return null;
  }
}
